package akkanode

import (
	"fmt"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote"
)

// stop ends an echo actor, as the string does.
type stop struct{}

// echo answers with the very message.
type echo struct{}

// Receive implements actor.Actor.
func (echo) Receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case stop:
		ctx.Stop(ctx.Self())
		return
	case string:
		switch m {
		case "stop":
			ctx.Stop(ctx.Self())
			return
		case "fail":
			ctx.Fail(invalidOperation("asked to fail"))
			return
		}
	case Reading:
		if m.ReplyTo != nil {
			ctx.Tell(m.ReplyTo, m)
			return
		}
	}
	ctx.Reply(msg)
}

// collector reports each message.
type collector struct{ emit func(Event) }

// Receive implements actor.Actor.
func (c collector) Receive(ctx *actor.Context, msg any) {
	c.emit(Event{"received", []Field{
		{"to", ctx.Self().Path().String()}, {"type", typeName(msg)}, {"value", show(msg)}, {"sender", ctx.Sender().Path().String()},
	}})
}

// sink counts integers that must come in order, from 0 on.
type sink struct{ count, wrong int64 }

// Receive implements actor.Actor.
func (s *sink) Receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case string:
		switch m {
		case "report":
			ctx.Reply(fmt.Sprintf("%d,%d", s.count, s.wrong))
		case "reset":
			*s = sink{}
		}
	case int32:
		s.take(int64(m))
	case int64:
		s.take(m)
	}
}

func (s *sink) take(n int64) {
	if n != s.count {
		s.wrong++
	}
	s.count++
}

// What a controller is told to do.
type (
	watchThat   struct{ ref *actor.Ref }
	unwatchThat struct{ ref *actor.Ref }
	deployThere struct {
		node actor.Address
		name string
	}
)

// controller watches, and deploys on other nodes.
type controller struct{ emit func(Event) }

// Receive implements actor.Actor.
func (c controller) Receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case watchThat:
		ctx.Watch(m.ref)
		c.emit(Event{"watching", []Field{{"path", pathOf(m.ref)}}})
	case unwatchThat:
		ctx.Unwatch(m.ref)
		c.emit(Event{"unwatched", []Field{{"path", pathOf(m.ref)}}})
	case actor.Terminated:
		c.emit(Event{"terminated", []Field{
			{"path", pathOf(m.Ref)}, {"existence", m.ExistenceConfirmed}, {"addressTerminated", m.AddressTerminated},
		}})
	case deployThere:
		child, err := ctx.Spawn(echoProps().WithScope(m.node), m.name)
		if err != nil {
			c.emit(failed(err))
			return
		}
		ctx.Watch(child)
		c.emit(Event{"deployed", []Field{{"path", pathOf(child)}}})
		ctx.Tell(child, "hello-deployed")
	default:
		c.emit(Event{"controller-received", []Field{{"type", typeName(msg)}, {"value", show(msg)}, {"sender", ctx.Sender().Path().String()}}})
	}
}

func echoProps() *actor.Props {
	return actor.NewProps(func() actor.Actor { return echo{} }).WithClass(echoClass)
}

func sinkProps() *actor.Props {
	return actor.NewProps(func() actor.Actor { return &sink{} }).WithClass(sinkClass)
}

func collectorProps(emit func(Event)) *actor.Props {
	return actor.NewProps(func() actor.Actor { return collector{emit} }).WithClass(collectorClass)
}

func controllerProps(emit func(Event)) *actor.Props {
	return actor.NewProps(func() actor.Actor { return controller{emit} }).WithClass("AkkaPeer.Controller, akka-peer")
}

// followLifecycle reports what happens to connections.
func (n *Node) followLifecycle() error {
	ref, err := n.sys.Spawn(actor.FromFunc(func(_ *actor.Context, msg any) {
		if kind, text := lifecycle(msg); kind != "" {
			n.emit(Event{"lifecycle", []Field{{"kind", kind}, {"text", text}}})
		}
	}).WithClass("AkkaPeer.LifeCycle, akka-peer"), "")
	if err != nil {
		return err
	}
	actor.Subscribe[remote.AssociatedEvent](n.sys, ref)
	actor.Subscribe[remote.DisassociatedEvent](n.sys, ref)
	actor.Subscribe[remote.AssociationErrorEvent](n.sys, ref)
	actor.Subscribe[remote.QuarantinedEvent](n.sys, ref)
	actor.Subscribe[remote.ThisActorSystemQuarantinedEvent](n.sys, ref)
	actor.Subscribe[remote.RemotingShutdownEvent](n.sys, ref)
	return nil
}

// lifecycle is an event in Akka.NET's words.
func lifecycle(event any) (kind, text string) {
	arrow := func(inbound bool) string {
		if inbound {
			return "<-"
		}
		return "->"
	}
	switch e := event.(type) {
	case remote.AssociatedEvent:
		return "AssociatedEvent", fmt.Sprintf("Associated [%s] %s %s", e.Local, arrow(e.Inbound), e.Remote)
	case remote.DisassociatedEvent:
		return "DisassociatedEvent", fmt.Sprintf("Disassociated [%s] %s %s", e.Local, arrow(e.Inbound), e.Remote)
	case remote.AssociationErrorEvent:
		return "AssociationErrorEvent", fmt.Sprintf("AssociationError [%s] %s %s: Error [%s] []", e.Local, arrow(e.Inbound), e.Remote, e.Cause)
	case remote.QuarantinedEvent:
		return "QuarantinedEvent", fmt.Sprintf("Association to [%s] having UID [%d] is irrecoverably failed. UID is now quarantined and all messages to this UID will be delivered to dead letters. "+
			"Remote actorsystem must be restarted to recover from this situation.", e.Remote, e.UID)
	case remote.ThisActorSystemQuarantinedEvent:
		return "ThisActorSystemQuarantinedEvent", fmt.Sprintf("The remote system %s has quarantined this system %s.", e.Remote, e.Local)
	case remote.RemotingShutdownEvent:
		return "RemotingShutdownEvent", "Remoting shut down"
	}
	return "", ""
}
