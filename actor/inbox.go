package actor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"
)

// ErrInboxTimeout is why [Inbox.Receive] ended without a message, where its context has no deadline. It is a
// context.DeadlineExceeded.
var ErrInboxTimeout = fmt.Errorf("actor: no message in the inbox in time: %w", context.DeadlineExceeded)

// ErrInboxClosed is why an [Inbox] has no messages any more: it was closed, or its system has terminated.
var ErrInboxClosed = errors.New("actor: the inbox is closed")

// An Inbox is a mailbox for code outside of actors: a Ref to give away, messages to wait for, actors to watch
// (Akka.NET: Inbox). It holds Config.InboxSize messages. When it is full, the newest is dropped, with one
// warning until there is room again; a [Terminated] is never dropped. Its methods may be called from any goroutine, but inside an actor Receive would
// hold up the actor.
type Inbox struct {
	ref     Ref
	size    int
	timeout time.Duration

	mu       sync.Mutex
	queue    []letter // in order of number
	numbers  uint64
	waiters  []*inboxWaiter
	warned   bool
	closed   bool
	done     chan struct{} // closed with the inbox
	watching map[any]*Ref
	watchers map[any]*Ref
}

// letter is a message in an inbox.
type letter struct {
	number uint64
	msg    any
	sender *Ref
}

// inboxWaiter is a call that waits. It looks at the messages itself, on its own goroutine, so that a predicate of the
// user's runs nowhere else.
type inboxWaiter struct {
	wake chan struct{}
	seen uint64 // number of the last message that it did not want
}

// NewInbox makes an inbox. Close it when it is not needed any more.
func (s *System) NewInbox() *Inbox {
	n := strconv.FormatUint(s.tempNames.Add(1), 10)
	b := &Inbox{size: s.cfg.InboxSize, timeout: s.cfg.InboxTimeout, done: make(chan struct{})}
	if b.size == 0 {
		b.size = 1000
	}
	if b.timeout == 0 {
		b.timeout = 5 * time.Second
	}
	b.ref = Ref{t: b, sys: s, path: "/temp/inbox-" + n, uid: newUID()}
	s.temps.Store(b.ref.Name(), &b.ref)
	return b
}

// Ref is where to send messages for the inbox. It is the same each time.
func (b *Inbox) Ref() *Ref { return &b.ref }

// Tell sends msg with the inbox as the sender.
func (b *Inbox) Tell(to *Ref, msg any) { to.TellFrom(msg, &b.ref) }

// Receive takes the oldest message, and waits for one if there is none. Errors: the context's; where it has no
// deadline ErrInboxTimeout after Config.InboxTimeout of the system's clock; ErrInboxClosed. A message
// that is there already is returned whatever the context says. A nil context is one without end.
func (b *Inbox) Receive(ctx context.Context) (any, error) { return b.receive(ctx, nil) }

// ReceiveWhere takes the oldest message that want agrees to, and leaves the others where they are. want runs on the
// calling goroutine, at most once for each message. A nil want takes any. Errors are those of Receive.
func (b *Inbox) ReceiveWhere(ctx context.Context, want func(msg any) bool) (any, error) {
	return b.receive(ctx, want)
}

func (b *Inbox) receive(ctx context.Context, want func(any) bool) (any, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	w := &inboxWaiter{wake: make(chan struct{}, 1)}
	b.mu.Lock()
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()
	defer b.leave(w)
	if msg, ok := b.take(w, want); ok {
		return msg, nil
	}
	var late chan struct{}
	if _, ok := ctx.Deadline(); !ok {
		late = make(chan struct{})
		defer b.ref.sys.scheduler.ScheduleOnce(b.timeout, func() { close(late) }).Cancel()
	}
	for {
		var err error
		select {
		case <-w.wake:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-late:
			err = ErrInboxTimeout
		case <-b.done:
			err = ErrInboxClosed
		case <-b.ref.sys.terminated:
			err = ErrInboxClosed
		}
		if msg, ok := b.take(w, want); ok {
			return msg, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// take looks through the messages that w has not seen.
func (b *Inbox) take(w *inboxWaiter, want func(any) bool) (any, bool) {
	for {
		b.mu.Lock()
		i := b.after(w.seen)
		if i == len(b.queue) {
			b.trim()
			b.mu.Unlock()
			return nil, false
		}
		l := b.queue[i]
		b.mu.Unlock()
		agreed := want == nil || want(l.msg)
		b.mu.Lock()
		w.seen = l.number
		if agreed {
			if i := b.after(l.number - 1); i < len(b.queue) && b.queue[i].number == l.number {
				b.queue = slices.Delete(b.queue, i, i+1)
				b.warned = b.warned && len(b.queue) >= b.size
				b.mu.Unlock()
				return l.msg, true
			}
		} else if len(b.queue) > b.size {
			b.trim() // at once: what comes meanwhile needs the room
		}
		b.mu.Unlock()
	}
}

// after is the index of the first message with a greater number.
func (b *Inbox) after(number uint64) int {
	i, _ := slices.BinarySearchFunc(b.queue, number+1, func(l letter, n uint64) int {
		switch {
		case l.number < n:
			return -1
		case l.number > n:
			return 1
		}
		return 0
	})
	return i
}

// leave ends the waiting of w.
func (b *Inbox) leave(w *inboxWaiter) {
	b.mu.Lock()
	b.waiters = slices.DeleteFunc(b.waiters, func(x *inboxWaiter) bool { return x == w })
	b.trim()
	b.mu.Unlock()
}

// trim drops what is there above the size because somebody who waits might have wanted it, when all who wait have
// seen it. Under mu, which it gives back for the while that somebody is told.
func (b *Inbox) trim() {
	var drop []letter
	for i := len(b.queue) - 1; i >= b.size; i-- {
		l := b.queue[i]
		if slices.ContainsFunc(b.waiters, func(w *inboxWaiter) bool { return w.seen < l.number }) {
			break
		}
		if _, ok := l.msg.(Terminated); !ok {
			drop = append(drop, l)
			b.queue = slices.Delete(b.queue, i, i+1)
		}
	}
	if len(drop) > 0 {
		warn := !b.warned
		b.warned = true
		b.mu.Unlock()
		for _, l := range drop {
			b.drop(l.msg, l.sender, warn)
			warn = false
		}
		b.mu.Lock()
	}
}

// drop deals with a message for which there is no room.
func (b *Inbox) drop(msg any, sender *Ref, warn bool) {
	s := b.ref.sys
	if warn {
		s.logLimited(slog.LevelWarn, "an inbox is full and drops messages: see Config.InboxSize",
			slog.String("inbox", b.ref.path), slog.Int("size", b.size))
	}
	lost(&b.ref, sender, ErrMailboxFull)
	s.drop(&b.ref, msg, sender, "the inbox is full")
}

// Watch has a [Terminated] put into the inbox when ref ends, at once if it has ended already.
func (b *Inbox) Watch(ref *Ref) {
	if ref == &b.ref {
		return
	}
	k := ref.key()
	b.mu.Lock()
	_, known := b.watching[k]
	known = known || b.closed
	if !known {
		if b.watching == nil {
			b.watching = make(map[any]*Ref)
		}
		b.watching[k] = ref
	}
	b.mu.Unlock()
	if !known {
		ref.tellSystem(&sysMsg{kind: sysWatch, ref: ref, other: &b.ref})
	}
}

// Unwatch takes Watch back: no Terminated of ref is received after it.
func (b *Inbox) Unwatch(ref *Ref) {
	k := ref.key()
	b.mu.Lock()
	_, known := b.watching[k]
	delete(b.watching, k)
	b.queue = slices.DeleteFunc(b.queue, func(l letter) bool {
		t, ok := l.msg.(Terminated)
		return ok && l.sender == t.Ref && t.Ref.key() == k
	})
	b.mu.Unlock()
	if known {
		ref.tellSystem(&sysMsg{kind: sysUnwatch, ref: ref, other: &b.ref})
	}
}

// Close ends the inbox, for those who watch it too. What it still holds, and what is sent to it from now on, are
// dead letters. To close again is harmless.
func (b *Inbox) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	left, watching, watchers := b.queue, b.watching, b.watchers
	b.queue, b.watching, b.watchers = nil, nil, nil
	close(b.done)
	b.mu.Unlock()
	s := b.ref.sys
	s.temps.Delete(b.ref.Name())
	for _, l := range left {
		s.deadLetter(&b.ref, l.msg, l.sender)
	}
	for _, r := range watching {
		r.tellSystem(&sysMsg{kind: sysUnwatch, ref: r, other: &b.ref})
	}
	for _, w := range watchers {
		w.tellSystem(&sysMsg{kind: sysDeathNotice, ref: &b.ref, existed: true})
	}
}

// tell is how messages come in.
func (b *Inbox) tell(to *Ref, msg any, sender *Ref) {
	switch m := msg.(type) {
	case Identify:
		if sender != nil {
			sender.Tell(ActorIdentity{MessageID: m.MessageID, Subject: &b.ref})
		}
		return
	case PoisonPill, Kill:
		b.Close()
		return
	}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		to.sys.deadLetter(to, msg, sender)
		return
	}
	if n := len(b.queue); n >= b.size && (len(b.waiters) == 0 || n >= 2*b.size) {
		warn := !b.warned
		b.warned = true
		b.mu.Unlock()
		b.drop(msg, sender, warn)
		return
	}
	b.put(msg, sender)
	b.mu.Unlock()
}

// put adds a message, under mu.
func (b *Inbox) put(msg any, sender *Ref) {
	b.numbers++
	b.queue = append(b.queue, letter{b.numbers, msg, sender})
	for _, w := range b.waiters {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (b *Inbox) tellSystem(to *Ref, m *sysMsg) {
	switch m.kind {
	case sysWatch:
		b.mu.Lock()
		if !b.closed {
			if b.watchers == nil {
				b.watchers = make(map[any]*Ref)
			}
			b.watchers[m.other.key()] = m.other
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		to.sys.deadSystemMessage(to, m)
	case sysUnwatch:
		b.mu.Lock()
		delete(b.watchers, m.other.key())
		b.mu.Unlock()
	case sysDeathNotice:
		k := m.ref.key()
		b.mu.Lock()
		if r, ok := b.watching[k]; ok {
			delete(b.watching, k)
			b.put(Terminated{Ref: r, ExistenceConfirmed: m.existed, AddressTerminated: m.addressEnd}, r)
		}
		b.mu.Unlock()
	case sysTerminate:
		b.Close()
	}
}
