package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// Remote deployment. An actor that is made for a parent elsewhere lives below /remote, at /remote/akka.tcp/System@host:port
// and the path that it would have there; in all else it is the child of its parent, which supervises it from afar.

// daemon is /remote: it makes actors for other nodes, and stops them when their parents end or the parents' nodes go.
type daemon struct {
	r   *Remoting
	ref *actor.Ref

	mu       sync.Mutex
	hosted   map[string][]*hosted // by path; more than one where the next has come before the last has ended
	parents  map[string]*hostParent
	count    int
	stopping bool
	empty    chan struct{} // closed when it is stopping and none is left
}

// hosted is one actor that was made for another node.
type hosted struct {
	path   string
	uid    int32
	ref    *actor.Ref // nil while it is being made
	parent *hostParent
	doomed bool // to be stopped as soon as it is there
}

// hostParent is a parent elsewhere.
type hostParent struct {
	ref      *actor.Ref
	children map[*hosted]struct{}
}

const (
	daemonPath = "/remote"
	// maxHosted bounds the actors that other nodes may have here at a time.
	maxHosted = 100_000
	// maxDepth bounds the names in their paths, and how far below them others are looked for.
	maxDepth = 128
)

func newDaemon(r *Remoting) *daemon {
	d := &daemon{r: r, hosted: make(map[string][]*hosted), parents: make(map[string]*hostParent), empty: make(chan struct{})}
	d.ref = r.port.NewRef(daemonTarget{d}, daemonPath, 0)
	return d
}

// daemonTarget is what is behind the Ref of /remote.
type daemonTarget struct{ d *daemon }

func (t daemonTarget) Address() actor.Address { return t.d.r.address }

func (t daemonTarget) Tell(to *actor.Ref, msg any, sender *actor.Ref, _ actor.Turn) {
	if m, ok := msg.(serial.DaemonMsgCreate); ok {
		t.d.create(to, &m, sender)
		return
	}
	t.d.r.port.DeadLetter(to, msg, sender, "")
}

// TellSystem tells of the ends of the actors here and of their parents elsewhere: the daemon watches both.
func (t daemonTarget) TellSystem(_ *actor.Ref, m actor.SystemMessage) {
	switch {
	case m.Kind != actor.SystemDeathWatchNotification || m.Ref == nil:
	case t.d.r.port.Target(m.Ref) == nil:
		t.d.childEnded(m.Ref)
	default:
		t.d.parentEnded(m.Ref)
	}
}

// create makes an actor for another node. Where that cannot be, the parent is told of the child's end.
func (d *daemon) create(to *actor.Ref, m *serial.DaemonMsgCreate, _ *actor.Ref) {
	r := d.r
	if to != d.ref || m.Supervisor == nil || r.port.Target(m.Supervisor) == nil {
		r.log.Error("an actor was not made: it is for /remote to make it, for a parent on another node", d.about(m)...)
		return
	}
	if r.set.UntrustedMode {
		r.log.Warn("untrusted mode: an actor was not made for another node", d.about(m)...)
		return
	}
	path, err := d.pathOf(m.Path)
	if err != nil {
		r.log.Error("an actor was not made for another node", append(d.about(m), slog.Any("error", err))...)
		return
	}
	if err := d.adopt(m, path); err != nil {
		r.log.Error("an actor was not made for another node", append(d.about(m), slog.Any("error", err))...)
		if err != errHosted {
			name := r.port.NewRef(nowhere{r.address}, path.StringWithoutAddress(), path.UID())
			r.port.TellSystem(m.Supervisor, actor.SystemMessage{Kind: actor.SystemDeathWatchNotification, Ref: name})
		}
	}
}

func (d *daemon) about(m *serial.DaemonMsgCreate) []any {
	return []any{slog.String("path", clipText(m.Path, causeInner)), slog.String("class", clipText(m.Props.Class, causeName)), slog.String("parent", m.Supervisor.String())}
}

// pathOf checks the path of an actor that is to be made.
func (d *daemon) pathOf(text string) (actor.Path, error) {
	p, err := actor.ParsePath(text)
	switch {
	case err != nil:
		return p, err
	case p.Address() != d.r.address:
		return p, fmt.Errorf("the path is one of %s, and this is %s", p.Address(), d.r.address)
	case p.Depth() < 4 || !strings.HasPrefix(p.StringWithoutAddress(), daemonPath+"/"):
		return p, errors.New("the path does not begin with /remote, the protocol and the node of the parent")
	case p.Depth() > maxDepth:
		return p, fmt.Errorf("the path has more than %d names", maxDepth)
	}
	return p, nil
}

var (
	errHosted  = errors.New("it is there already")
	errTooMany = fmt.Errorf("other nodes have %d actors here already, and may have no more", maxHosted)
	errEnding  = errors.New("the system ends")
)

// adopt makes the actor.
func (d *daemon) adopt(m *serial.DaemonMsgCreate, path actor.Path) error {
	r := d.r
	props, err := d.props(m)
	if err != nil {
		return err
	}
	h, err := d.reserve(path, m.Supervisor)
	if err != nil {
		return err
	}
	ref, err := r.port.Adopt(props, m.Supervisor, h.path, h.uid)
	if err != nil {
		d.release(h)
		return err
	}
	d.mu.Lock()
	h.ref = ref
	doomed := h.doomed
	d.mu.Unlock()
	r.port.TellSystem(ref, actor.SystemMessage{Kind: actor.SystemWatch, Ref: ref, Watcher: d.ref})
	r.port.Target(m.Supervisor).TellSystem(m.Supervisor, actor.SystemMessage{Kind: actor.SystemSupervise, Ref: ref})
	d.watchParent(h.parent.ref)
	if doomed {
		r.sys.Stop(ref)
	}
	return nil
}

// props makes the recipe of the actor by the user's function for its class.
func (d *daemon) props(m *serial.DaemonMsgCreate) (p *actor.Props, err error) {
	f := d.r.cfg.Deployable[m.Props.Class]
	if f == nil {
		return nil, fmt.Errorf("%q is not among the classes that other nodes may have made here (Config.Deployable)", clipText(m.Props.Class, causeName))
	}
	for _, deploy := range []*serial.Deploy{&m.Deploy, &m.Props.Deploy} {
		if deploy.RouterConfig != nil {
			return nil, errors.New("it is a router, and this node makes none for others")
		}
	}
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fmt.Errorf("the function of class %s panicked: %v", m.Props.Class, v)
		}
	}()
	if p, err = f(m.Props.Args); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("the function of class %s returned neither Props nor an error", m.Props.Class)
	}
	for _, deploy := range []*serial.Deploy{&m.Props.Deploy, &m.Deploy} {
		if deploy.Dispatcher != "" {
			p = p.WithDispatcher(deploy.Dispatcher)
		}
		if deploy.StashCapacity > 0 {
			p = p.WithStashCapacity(int(deploy.StashCapacity))
		}
	}
	if p.Class() == "" {
		p = p.WithClass(m.Props.Class)
	}
	return p, nil
}

// reserve takes the place of an actor that is about to be made.
func (d *daemon) reserve(path actor.Path, parent *actor.Ref) (*hosted, error) {
	key := string(d.r.port.Wire(parent).Path)
	h := &hosted{path: path.StringWithoutAddress(), uid: path.UID()}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stopping || d.r.port.Terminating():
		return nil, errEnding
	case d.count >= maxHosted:
		return nil, errTooMany
	}
	for _, o := range d.hosted[h.path] {
		if o.uid == h.uid {
			return nil, errHosted
		}
	}
	if h.parent = d.parents[key]; h.parent == nil {
		h.parent = &hostParent{ref: parent, children: make(map[*hosted]struct{})}
		d.parents[key] = h.parent
	}
	h.parent.children[h] = struct{}{}
	d.hosted[h.path] = append(d.hosted[h.path], h)
	d.count++
	return h, nil
}

// release gives it back. A parent without children here is not watched any more.
func (d *daemon) release(h *hosted) {
	d.mu.Lock()
	left := d.hosted[h.path]
	for i := range left {
		if left[i] == h {
			d.hosted[h.path] = append(left[:i:i], left[i+1:]...)
			d.count--
			break
		}
	}
	if len(d.hosted[h.path]) == 0 {
		delete(d.hosted, h.path)
	}
	p := h.parent
	delete(p.children, h)
	alone := len(p.children) == 0
	if alone {
		delete(d.parents, string(d.r.port.Wire(p.ref).Path))
	}
	d.checkEmpty()
	d.mu.Unlock()
	if alone {
		d.watchParent(p.ref)
	}
}

// watchParent watches a parent with children here, and no other. Whatever else happens at the same time, the last call
// leaves it right.
func (d *daemon) watchParent(ref *actor.Ref) {
	for has := d.hasChildren(ref); ; {
		if has {
			d.r.watcher.watch(ref, d.ref)
		} else {
			d.r.watcher.unwatch(ref, d.ref)
		}
		was := has
		if has = d.hasChildren(ref); has == was {
			return
		}
	}
}

func (d *daemon) hasChildren(parent *actor.Ref) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.parents[string(d.r.port.Wire(parent).Path)] != nil
}

// checkEmpty tells stop; the lock is held.
func (d *daemon) checkEmpty() {
	if !d.stopping || d.count > 0 {
		return
	}
	select {
	case <-d.empty:
	default:
		close(d.empty)
	}
}

// childEnded is the end of an actor here.
func (d *daemon) childEnded(ref *actor.Ref) {
	d.mu.Lock()
	var ended *hosted
	for _, h := range d.hosted[ref.Path().StringWithoutAddress()] {
		if h.ref == ref {
			ended = h
		}
	}
	d.mu.Unlock()
	if ended != nil {
		d.release(ended)
	}
}

// parentEnded is the end of a parent elsewhere.
func (d *daemon) parentEnded(ref *actor.Ref) {
	key := string(d.r.port.Wire(ref).Path)
	d.stopThose(func(k string, _ *hostParent) bool { return k == key })
}

// addressTerminated is the end of a node.
func (d *daemon) addressTerminated(node actor.Address) {
	d.stopThose(func(_ string, p *hostParent) bool { return d.r.port.Target(p.ref).Address() == node })
}

// stopThose stops the children of some parents.
func (d *daemon) stopThose(of func(key string, p *hostParent) bool) {
	var refs []*actor.Ref
	d.mu.Lock()
	for key, p := range d.parents {
		if !of(key, p) {
			continue
		}
		for h := range p.children {
			h.doomed = true
			if h.ref != nil {
				refs = append(refs, h.ref)
			}
		}
	}
	d.mu.Unlock()
	for _, ref := range refs {
		d.r.sys.Stop(ref)
	}
}

// stop stops all, and waits for their ends.
func (d *daemon) stop(ctx context.Context) {
	d.mu.Lock()
	d.stopping = true
	d.checkEmpty()
	d.mu.Unlock()
	d.stopThose(func(string, *hostParent) bool { return true })
	select {
	case <-d.empty:
	case <-ctx.Done():
	}
}

// local finds /remote and the actors below it; nil for all others.
func (d *daemon) local(elements string, uid int32) *actor.Ref {
	rest, ok := strings.CutPrefix(elements, daemonPath)
	switch {
	case !ok:
		return nil
	case rest == "" || rest == "/":
		return d.ref
	case rest[0] != '/':
		return nil
	}
	d.mu.Lock()
	at, below := d.find(elements, uid)
	d.mu.Unlock()
	if at == nil || below == "" {
		return at
	}
	return d.r.port.Descendant(at, below, uid)
}

// find is the hosted actor at a path, or the nearest above it; the lock is held.
func (d *daemon) find(elements string, uid int32) (at *actor.Ref, below string) {
	end := len(elements)
	for range maxDepth {
		hs := d.hosted[elements[:end]]
		for i := len(hs) - 1; i >= 0; i-- { // the latest first
			if h := hs[i]; h.ref != nil && (end < len(elements) || uid == 0 || h.uid == uid) {
				return h.ref, strings.TrimPrefix(elements[end:], "/")
			}
		}
		if end = strings.LastIndexByte(elements[:end], '/'); end <= len(daemonPath) {
			break
		}
	}
	return nil, ""
}

// deploy asks the node of the Props' scope for an actor, for a parent here. path is where it would be here. It is
// called with a lock of the parent's held.
func (d *daemon) deploy(p *actor.Props, parent *actor.Ref, path string, uid int32) (*actor.Ref, error) {
	r := d.r
	class := p.Class()
	if class == "" {
		return nil, errors.New("the class is needed by which the other node knows it (Props.WithClass)")
	}
	node := p.Scope()
	protocol, here, _ := strings.Cut(r.address.String(), "://")
	child, err := r.Ref(node, daemonPath+"/"+protocol+"/"+here+path, uid)
	if err != nil {
		return nil, err
	}
	to, err := r.Ref(node, daemonPath, 0)
	if err != nil {
		return nil, err
	}
	m := serial.DaemonMsgCreate{
		Props:      serial.Props{Class: class, Args: p.Args(), Deploy: serial.Deploy{Scope: serial.RemoteScope{Node: node}}},
		Path:       string(r.port.Wire(child).Path),
		Supervisor: parent,
	}
	x := r.exchange()
	b, _, _, err := r.registry.Append(nil, m, &x)
	if err != nil {
		return nil, err
	}
	if most := r.framing.MaxContainer() - 2*len(m.Path) - 512; len(b) > most {
		return nil, &tooLargeError{size: len(b), limit: most}
	}
	r.association(node).Tell(to, m, parent, actor.Turn{})
	r.watcher.supervise(child, parent)
	return child, nil
}
