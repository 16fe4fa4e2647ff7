package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/serial"
)

// Remoting connects one actor system to others. Make it with New, and the system with it:
//
//	r := remote.New(remote.Config{Settings: settings})
//	system, err := actor.NewSystem("Plant", actor.Config{Provider: r})
type Remoting struct {
	cfg       Config
	set       Settings
	low       assoc.Settings // the same, for what decides
	port      *actor.Port
	sys       *actor.System
	log       *slog.Logger
	registry  *serial.Registry
	transport transport
	framing   akkapb.Framing
	address   actor.Address // what others are told
	origin    akkapb.AddressData
	uid       assoc.UID
	start     time.Time
	ctx       context.Context
	cancel    context.CancelFunc
	watcher   *watcher
	daemon    *daemon

	deadLetters *actor.Ref

	bodies sync.Pool // of *encoded

	mu           sync.Mutex
	associations map[actor.Address]*association
	conns        map[*conn]struct{}
	stopping     bool
}

// New makes remoting for one system, for actor.Config.Provider.
func New(cfg Config) *Remoting {
	return &Remoting{cfg: cfg, associations: make(map[actor.Address]*association), conns: make(map[*conn]struct{})}
}

// Start is for the system.
func (r *Remoting) Start(p *actor.Port) error {
	if r.port != nil {
		return errors.New("remote: a Remoting is for one system")
	}
	r.port, r.sys = p, p.System()
	if r.set = DefaultSettings(); r.cfg.Settings != nil {
		r.set = *r.cfg.Settings
	}
	if err := r.cfg.Check(); err != nil {
		return fmt.Errorf("remote: %w", err)
	}
	r.low = r.set.assoc()
	if r.cfg.SendLimit <= 0 {
		r.cfg.SendLimit = defaultSendLimit
	}
	if r.log = r.cfg.Logger; r.log == nil {
		r.log = r.sys.Log()
	}
	if r.registry = r.cfg.Registry; r.registry == nil {
		r.registry = serial.NewRegistry(serial.Options{})
	}
	r.framing = akkapb.Framing{BigEndian: r.set.BigEndian, Max: r.set.MaximumFrameSize}
	r.start = p.Now()
	r.uid = newUID()
	r.deadLetters = r.sys.DeadLetters()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if r.transport = r.cfg.transport; r.transport == nil {
		var err error
		if r.transport, err = newTransportOver(&r.set, r.cfg.Dial, r.cfg.Listen); err != nil {
			return fmt.Errorf("remote: %w", err)
		}
	}
	addr, err := r.transport.listen(&r.set, r.sys.Name())
	if err != nil {
		return fmt.Errorf("remote: %w", err)
	}
	r.address = addr
	r.origin = akkapb.AddressData{
		System: []byte(addr.System()), Hostname: []byte(addr.Host()), Port: uint32(addr.Port()),
		Protocol: []byte(addr.Protocol()[len("akka."):]),
	}
	p.SetAddress(addr)
	p.SetFields(func(path []byte) (sender, recipient []byte) {
		return akkapb.SenderField(path), akkapb.RecipientField(path)
	})
	r.watcher = newWatcher(r)
	r.daemon = newDaemon(r)
	go r.accept()
	return nil
}

// Started is for the system: its guardians are there.
func (r *Remoting) Started() error {
	if err := r.watcher.start(); err != nil {
		return fmt.Errorf("remote: %w", err)
	}
	r.sys.EventStream().Publish(RemotingListenEvent{Address: r.address})
	return nil
}

// Address is by which others reach the system.
func (r *Remoting) Address() actor.Address { return r.address }

// UID tells this start of the system from others at the same address.
func (r *Remoting) UID() int32 { return int32(r.uid) }

// now is the time since the start.
func (r *Remoting) now() time.Duration { return r.port.Now().Sub(r.start) }

// exchange is for serializers of one connection.
func (r *Remoting) exchange() serial.Exchange {
	return serial.Exchange{Registry: r.registry, Resolve: func(path []byte) *actor.Ref {
		ref, err := r.anyRef(string(path))
		if err != nil {
			return nil
		}
		return ref
	}}
}

// accept takes connections until the end.
func (r *Remoting) accept() {
	for {
		nc, err := r.transport.accept()
		if err != nil {
			if r.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			r.log.Warn("a connection could not be accepted", slog.Any("error", err))
			if failed := (*handshakeError)(nil); errors.As(err, &failed) {
				continue // that one only
			}
			select {
			case <-r.ctx.Done():
				return
			case <-time.After(r.set.BackoffInterval):
			}
			continue
		}
		r.run(r.newConn(nc, assoc.Listener, assoc.NewListener(&r.low)))
	}
}

// run starts a connection.
func (r *Remoting) run(c *conn) {
	r.mu.Lock()
	stopping := r.stopping
	if !stopping {
		r.conns[c] = struct{}{}
	}
	r.mu.Unlock()
	if stopping {
		c.nc.Close()
		return
	}
	now := r.now()
	c.event(func(acts []assoc.ConnAction) []assoc.ConnAction { return c.proto.Opened(now, acts) })
	r.port.Read(c)
}

func (r *Remoting) forget(c *conn) {
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
}

// controlMessage is a message of the protocol.
func (r *Remoting) controlMessage(cmd assoc.Command) *akkapb.AkkaControlMessage {
	m := &akkapb.AkkaControlMessage{Command: akkapb.CommandType(cmd)}
	if cmd == assoc.Associate {
		m.HasHandshake = true
		m.Handshake = akkapb.AkkaHandshakeInfo{Origin: r.origin, HasOrigin: true, UID: r.uid.Wire()}
	}
	return m
}

// association is what there is with that address, made on first use.
func (r *Remoting) association(addr actor.Address) *association {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.associations[addr]
	if a == nil {
		a = newAssociation(r, addr)
		r.associations[addr] = a
	}
	return a
}

// all are the associations.
func (r *Remoting) all() []*association {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*association, 0, len(r.associations))
	for _, a := range r.associations {
		out = append(out, a)
	}
	return out
}

// Ref is for the system.
func (r *Remoting) Ref(addr actor.Address, elements string, uid int32) (*actor.Ref, error) {
	if addr == r.address || addr == r.sys.Address() {
		return r.port.Local(elements, uid), nil
	}
	if addr.Protocol() != r.address.Protocol() {
		return nil, fmt.Errorf("%s: this system speaks %s", addr, r.address.Protocol())
	}
	if !addr.HasGlobalScope() || addr.Port() <= 0 {
		return nil, fmt.Errorf("%s: an address without host and port", addr)
	}
	r.mu.Lock()
	a := r.associations[addr]
	r.mu.Unlock()
	if a == nil {
		return r.port.NewRef(&unmet{r: r, addr: addr}, elements, uid), nil
	}
	return r.port.NewRef(a, elements, uid), nil
}

// Resolve makes the Ref of a path: "akka.tcp://System@host:port/user/a". Nobody is asked.
func (r *Remoting) Resolve(path string) (*actor.Ref, error) { return r.anyRef(path) }

var errLocalPath = errors.New("a path without a host")

// anyRef is who is at a full path, here or elsewhere.
func (r *Remoting) anyRef(path string) (*actor.Ref, error) {
	p, err := actor.ParsePath(path)
	if err != nil {
		return nil, err
	}
	if p.Address().HasLocalScope() {
		return nil, errLocalPath
	}
	return r.Ref(p.Address(), p.StringWithoutAddress(), p.UID())
}

// localRef is the actor of this system at a path. The path has to have the address that others are told, or none.
func (r *Remoting) localRef(path string) (*actor.Ref, error) {
	p, err := actor.ParsePath(path)
	if err != nil {
		return nil, err
	}
	if a := p.Address(); a != r.address && (a.HasGlobalScope() || a.System() != r.sys.Name()) {
		return nil, fmt.Errorf("%s is not %s", a, r.address)
	}
	return r.port.Local(p.StringWithoutAddress(), p.UID()), nil
}

// Quarantine cuts off the incarnation of a node: nothing goes there and nothing from there is taken until its system
// has been started anew.
func (r *Remoting) Quarantine(addr actor.Address, uid int32) {
	r.association(addr).quarantine(assoc.UID(uid))
}

// Local is for the system.
func (r *Remoting) Local(elements string, uid int32) *actor.Ref { return r.daemon.local(elements, uid) }

// Deploy is for the system.
func (r *Remoting) Deploy(p *actor.Props, parent *actor.Ref, path string, uid int32) (*actor.Ref, error) {
	return r.daemon.deploy(p, parent, path, uid)
}

// Stop ends the associations in order.
func (r *Remoting) Stop(ctx context.Context) {
	r.daemon.stop(ctx)
	r.watcher.stop()
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	for _, a := range r.all() {
		a.shutdown()
	}
	for _, c := range r.open() {
		if c.assoc.Load() == nil { // in its handshake
			c.disassociate(assoc.Shutdown)
		}
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(r.set.FlushWaitOnShutdown)
	for !r.done() {
		select {
		case <-ctx.Done():
			return
		case <-limit:
			return
		case <-tick.C:
		}
	}
}

// open are the connections whose sockets are.
func (r *Remoting) open() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.conns))
}

// done reports whether all associations have ended, and all that was sent is with the peers.
func (r *Remoting) done() bool {
	for _, a := range r.all() {
		if !a.done() {
			return false
		}
	}
	return len(r.open()) == 0
}

// Close ends the rest.
func (r *Remoting) Close() {
	r.cancel()
	r.transport.close()
	r.mu.Lock()
	conns := r.conns
	r.conns = make(map[*conn]struct{})
	r.mu.Unlock()
	for c := range conns {
		c.nc.Close()
	}
	r.sys.EventStream().Publish(RemotingShutdownEvent{})
}

// deliver hands an ordinary message to whom it is for.
func (r *Remoting) deliver(to *actor.Ref, msg any, sender *actor.Ref, b *actor.Batch) {
	switch m := msg.(type) {
	case nil:
		return // a null message: Akka.NET drops it
	case serial.DaemonMsgCreate:
		r.daemon.create(to, &m, sender)
		return
	case serial.Selection:
		r.selection(to, &m, sender)
		return
	}
	if r.set.UntrustedMode && harmful(msg) {
		r.log.Warn("a harmful message was dropped: untrusted mode", slog.String("to", to.String()), slog.String("type", fmt.Sprintf("%T", msg)))
		return
	}
	if b != nil {
		b.Tell(to, msg, sender)
		return
	}
	to.TellFrom(msg, sender)
}

// selection lets a message go on from an actor of this system.
func (r *Remoting) selection(to *actor.Ref, m *serial.Selection, sender *actor.Ref) {
	if r.set.UntrustedMode && (harmful(m.Message) || !isRoot(to) || !r.trusts(m.Elements)) {
		r.log.Warn("a message to a selection was dropped: untrusted mode", slog.String("to", pathOf(m.Elements)))
		return
	}
	steps := make([]actor.SelectionElement, len(m.Elements))
	for i, e := range m.Elements {
		steps[i] = actor.SelectionElement{Kind: actor.SelectionKind(e.Kind), Matcher: e.Matcher}
	}
	if m.Message == nil {
		return
	}
	if err := r.port.TellSelection(to, m.Message, steps, sender); err != nil {
		r.log.Warn("a message to a selection was dropped", slog.Any("error", err))
	}
}

// trusts reports whether a selection from the root leads to where others may send.
func (r *Remoting) trusts(elements []serial.SelectionElement) bool {
	for _, e := range elements {
		if e.Kind != serial.SelectChildName {
			return false
		}
	}
	return slices.Contains(r.set.TrustedSelectionPaths, pathOf(elements))
}

func isRoot(r *actor.Ref) bool { return r.Path().StringWithoutAddress() == "/" }

// pathOf is a selection as a path.
func pathOf(elements []serial.SelectionElement) string {
	var b strings.Builder
	for _, e := range elements {
		b.WriteByte('/')
		if e.Kind == serial.SelectParent {
			b.WriteString("..")
		} else {
			b.WriteString(e.Matcher)
		}
	}
	return b.String()
}

// selectionOf is a message on its way along a path on another node.
func selectionOf(inner any, steps []actor.SelectionElement) serial.Selection {
	m := serial.Selection{Message: inner, Elements: make([]serial.SelectionElement, len(steps))}
	for i, s := range steps {
		m.Elements[i] = serial.SelectionElement{Kind: serial.SelectionKind(s.Kind), Matcher: s.Matcher}
	}
	return m
}

// harmful reports whether a message may stop an actor (Akka.NET: IPossiblyHarmful).
func harmful(msg any) bool {
	switch msg.(type) {
	case actor.PoisonPill, actor.Kill, actor.Terminated, actor.ReceiveTimeout:
		return true
	}
	return false
}

// undeliverable deals with a message that could not be written.
func (r *Remoting) undeliverable(to *actor.Ref, msg any, sender *actor.Ref, err error) {
	if err == errFull { // there are many of that kind, and what is logged of dead letters is limited
		r.port.DeadLetter(to, msg, sender, assoc.WhyOverflow.String())
		return
	}
	r.log.Error("a message was not sent", slog.String("to", to.String()), slog.String("type", fmt.Sprintf("%T", msg)), slog.Any("error", err))
	r.port.DeadLetter(to, msg, sender, err.Error())
}

func (r *Remoting) logLost(a *association, m *message, err error) {
	if err == errClosed || err == errFull && m.body != nil {
		return // the end of the connection is told elsewhere, and dead letters are
	}
	r.log.Error("a message was not sent", slog.String("to", m.to.String()), slog.String("node", a.name), slog.Any("error", err))
}

// deadLetter gives up a message.
func (r *Remoting) deadLetter(m *message, reason string) {
	if m.body == nil {
		r.deadSystem(m.to, m.system)
		return
	}
	if !isHeartbeat(m.body) { // the next one comes
		r.port.DeadLetter(m.to, m.body, m.sender, reason)
	}
}
