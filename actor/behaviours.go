package actor

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Receive makes actors that handle messages of one type with f. T may be an interface, for all messages that
// have its methods. Other messages are passed to [Context.Unhandled]. As with [FromFunc], what f closes over is shared
// by all actors of these Props. The class of the actors is "func(T)".
func Receive[T any](f func(*Context, T)) *Props {
	if f == nil {
		panic("actor: Receive needs a function")
	}
	return FromFunc(func(ctx *Context, msg any) {
		if m, ok := msg.(T); ok {
			f(ctx, m)
			return
		}
		ctx.Unhandled()
	}).WithClass("func(" + reflect.TypeFor[T]().String() + ")")
}

// A Handler is a part of a [Behavior]: it handles some messages, or leaves them to those after it.
type Handler struct {
	handle func(*Context, any) bool
	only   uintptr // the one type of messages that it may take, see typeOf; 0 where it has to be asked
	all    bool    // leaves none
}

// onlyType is what a handler of messages of type T needs to be asked about: an interface takes several types.
func onlyType[T any]() uintptr {
	var zero T
	return typeOf(zero) // of an interface it is nil, whose type is 0
}

// On handles messages of type T with f. T may be an interface (Akka.NET: ReceiveActor.Receive<T>).
func On[T any](f func(*Context, T)) Handler {
	if f == nil {
		panic("actor: On needs a function")
	}
	return Handler{only: onlyType[T](), handle: func(ctx *Context, msg any) bool {
		m, ok := msg.(T)
		if ok {
			f(ctx, m)
		}
		return ok
	}}
}

// OnIf is On for messages for which pred is true.
func OnIf[T any](pred func(T) bool, f func(*Context, T)) Handler {
	if pred == nil || f == nil {
		panic("actor: OnIf needs two functions")
	}
	return Handler{only: onlyType[T](), handle: func(ctx *Context, msg any) bool {
		m, ok := msg.(T)
		if !ok || !pred(m) {
			return false
		}
		f(ctx, m)
		return true
	}}
}

// OnAny handles all messages (Akka.NET: ReceiveActor.ReceiveAny). It can only be the last of a behaviour.
func OnAny(f func(*Context, any)) Handler {
	if f == nil {
		panic("actor: OnAny needs a function")
	}
	return Handler{all: true, handle: func(ctx *Context, msg any) bool {
		f(ctx, msg)
		return true
	}}
}

// Behavior makes a function of handlers, for [FromFunc], [Context.Become], or to be called in an actor's Receive. The
// first handler that takes a message gets it; what none takes is passed to [Context.Unhandled]. It panics where
// a handler is not made by one of the On functions, or comes after OnAny and so would never be called.
func Behavior(handlers ...Handler) ReceiveFunc {
	list := slices.Clone(handlers)
	for i, h := range list {
		switch {
		case h.handle == nil:
			panic(fmt.Sprintf("actor: Behavior: handler %d is empty", i+1))
		case h.all && i < len(list)-1:
			panic(fmt.Sprintf("actor: Behavior: handler %d takes all messages, those after it would get none", i+1))
		}
	}
	return func(ctx *Context, msg any) {
		is := typeOf(msg)
		for i := range list {
			h := &list[i]
			if (h.only == 0 || h.only == is) && h.handle(ctx, msg) {
				return
			}
		}
		ctx.Unhandled()
	}
}

// A TypedRef is a [Ref] that takes messages of one type only, which the compiler checks. T may be an interface that
// the messages of a protocol have in common. The zero TypedRef is nobody's, and cannot be told anything.
type TypedRef[T any] struct{ ref *Ref }

// Typed makes a TypedRef of a Ref. Whether the actor takes messages of that type is not checked.
func Typed[T any](ref *Ref) TypedRef[T] { return TypedRef[T]{ref} }

// Ref is the Ref without a type; nil for the zero TypedRef.
func (r TypedRef[T]) Ref() *Ref { return r.ref }

// Tell is [Ref.Tell].
func (r TypedRef[T]) Tell(msg T) { r.ref.TellFrom(msg, nil) }

// TellFrom is [Ref.TellFrom]. Inside an actor that is ctx, say r.TellFrom(msg, ctx.Self()).
func (r TypedRef[T]) TellFrom(msg T, sender *Ref) { r.ref.TellFrom(msg, sender) }

// A Spawner makes actors: a *System below /user, a *Context below its actor.
type Spawner interface {
	Spawn(p *Props, name string) (*Ref, error)
}

// SpawnTyped makes an actor, as [Context.Spawn] does, and returns a typed Ref to it:
//
//	meter, err := actor.SpawnTyped[Reading](system, actor.Receive(store), "meter")
func SpawnTyped[T any](in Spawner, p *Props, name string) (TypedRef[T], error) {
	ref, err := in.Spawn(p, name)
	return TypedRef[T]{ref}, err
}

// TypedAsk is [Ask] where the question has to be of the type that the actor takes:
//
//	status, err := actor.TypedAsk[Status](ctx, meter, Reading{})
func TypedAsk[R, T any](ctx context.Context, to TypedRef[T], msg T) (R, error) {
	return Ask[R](ctx, to.ref, msg)
}

// TypedAskFor is [AskFor] in the same way.
func TypedAskFor[R, T any](to TypedRef[T], msg T, timeout time.Duration) (R, error) {
	return AskFor[R](to.ref, msg, timeout)
}

// TypedAskThen is [AskThen] in the same way.
func TypedAskThen[R, T any](ctx *Context, to TypedRef[T], msg T, timeout time.Duration, then func(*Context, R, error)) {
	AskThen(ctx, to.ref, msg, timeout, then)
}
