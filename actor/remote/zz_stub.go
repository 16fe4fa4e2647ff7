package remote

import (
	"context"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

type watcher struct{}

func newWatcher(*Remoting) *watcher                { return nil }
func (*watcher) start() error                      { return nil }
func (*watcher) watch(a, b *actor.Ref) bool        { return false }
func (*watcher) unwatch(a, b *actor.Ref) bool      { return false }
func (*watcher) addressTerminated(a actor.Address) {}

type daemon struct{}

func newDaemon(*Remoting) *daemon                 { return nil }
func (*daemon) addressTerminated(a actor.Address) {}
func (*daemon) local(string, int32) *actor.Ref    { return nil }
func (*daemon) stop(context.Context)              {}
func (*daemon) deploy(p *actor.Props, parent *actor.Ref, path string, uid int32) (*actor.Ref, error) {
	return nil, nil
}
func (*daemon) create(to *actor.Ref, m *serial.DaemonMsgCreate, sender *actor.Ref) {}

func (r *Remoting) deliverSystem(in systemIn)             {}
func (r *Remoting) wireSystem(m *actor.SystemMessage) any { return nil }
func (r *Remoting) fromWire(body any) (actor.SystemMessage, bool) {
	return actor.SystemMessage{}, false
}
