package actor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// withinSeconds is a context for what must not hang.
func withinSeconds(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// noContext is allowed, and one without end.
var noContext context.Context

func receive(t *testing.T, b *Inbox) any {
	t.Helper()
	m, err := b.Receive(withinSeconds(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// empty fails if there is anything in the inbox.
func empty(t *testing.T, b *Inbox) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if m, err := b.Receive(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", m, err)
	}
}

// waiting is how many calls wait for a message.
func (b *Inbox) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiters)
}

func TestInboxTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute} {
		s, _, clock := observed(t, Config{InboxTimeout: timeout})
		if timeout == 0 {
			timeout = 5 * time.Second
		}
		b := s.NewInbox()
		done := make(chan error)
		go func() { _, err := b.Receive(noContext); done <- err }()
		eventually(t, "it waits", clock.armed)
		clock.advance(timeout - time.Millisecond)
		select {
		case err := <-done:
			t.Fatalf("too early: %v", err)
		default:
		}
		clock.advance(time.Second)
		if err := <-done; !errors.Is(err, ErrInboxTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if n := b.waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	}
}

func TestInboxContext(t *testing.T) {
	s, _, _ := observed(t, Config{})
	b := s.NewInbox()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error)
	go func() { _, err := b.ReceiveWhere(ctx, func(any) bool { return false }); done <- err }()
	eventually(t, "it waits", func() bool { return b.waiting() == 1 })
	b.Ref().Tell(1)
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	// What is there is returned whatever the context says.
	if m, err := b.Receive(ctx); m != 1 || err != nil {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestInboxPredicatePanics(t *testing.T) {
	s, _, _ := observed(t, Config{})
	b := s.NewInbox()
	b.Ref().Tell(1)
	panics(t, "a predicate", func() { b.ReceiveWhere(withinSeconds(t), func(any) bool { panic("odd") }) })
	if n := b.waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
	if m := receive(t, b); m != 1 {
		t.Errorf("got %v", m)
	}
}

func TestInboxClosed(t *testing.T) {
	s, _, _ := observed(t, Config{})
	for name, end := range map[string]func(b *Inbox){
		"Close":      func(b *Inbox) { b.Close() },
		"Stop":       func(b *Inbox) { s.Stop(b.Ref()) },
		"PoisonPill": func(b *Inbox) { b.Ref().Tell(PoisonPill{}) },
		"Kill":       func(b *Inbox) { b.Ref().Tell(Kill{}) },
	} {
		t.Run(name, func(t *testing.T) {
			b, watcher := s.NewInbox(), s.NewInbox()
			watcher.Watch(b.Ref())
			was := s.Stats().DeadLetters
			done := make(chan error)
			go func() { _, err := b.ReceiveWhere(noContext, func(m any) bool { return m != 1 }); done <- err }()
			eventually(t, "it waits", func() bool { return b.waiting() == 1 })
			b.Ref().Tell(1)
			end(b)
			b.Close()
			if err := <-done; !errors.Is(err, ErrInboxClosed) {
				t.Errorf("error %v", err)
			}
			if m := receive(t, watcher).(Terminated); m.Ref != b.Ref() || !m.ExistenceConfirmed {
				t.Errorf("got %+v", m)
			}
			b.Ref().Tell(2)
			b.Watch(watcher.Ref())
			if n := s.Stats().DeadLetters - was; n != 2 {
				t.Errorf("%d dead letters", n)
			}
			if _, err := b.Receive(noContext); !errors.Is(err, ErrInboxClosed) {
				t.Errorf("error %v", err)
			}
			late := s.NewInbox()
			late.Watch(b.Ref())
			if m := receive(t, late).(Terminated); m.ExistenceConfirmed {
				t.Errorf("got %+v", m)
			}
			if s.temp(b.Ref().Name()) != nil || s.temp(late.Ref().Name()) != late.Ref() {
				t.Error("the name is not given back")
			}
		})
	}
}

func TestInboxOfTerminatedSystem(t *testing.T) {
	s, _, _ := observed(t, Config{})
	b := s.NewInbox()
	r, _ := forwarder(s)
	b.Watch(r)
	done := make(chan error)
	go func() { _, err := b.ReceiveWhere(noContext, func(m any) bool { return m == 1 }); done <- err }()
	endSystem(t, s)
	if err := <-done; !errors.Is(err, ErrInboxClosed) {
		t.Errorf("error %v", err)
	}
	if m, ok := receive(t, b).(Terminated); !ok || m.Ref != r {
		t.Errorf("got %v", m)
	}
	if _, err := b.Receive(noContext); !errors.Is(err, ErrInboxClosed) {
		t.Errorf("error %v", err)
	}
}

// The newest is dropped, with one warning until there was room again; a Terminated never.
func TestInboxFull(t *testing.T) {
	s, book, _ := observed(t, Config{InboxSize: 3})
	b := s.NewInbox()
	r, _ := forwarder(s)
	b.Watch(r)
	var lost []any
	SubscribeFunc(s, func(d Dropped) { lost = append(lost, d.Message) })
	for i := range 5 {
		b.Ref().Tell(i)
	}
	endActor(t, r)
	eventually(t, "the end is told", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.queue) == 4 })
	if n := len(book.of("WARN", "an inbox is full", "size=3", b.Ref().Name())); n != 1 {
		t.Errorf("%d warnings", n)
	}
	if fmt.Sprint(lost) != "[3 4]" {
		t.Errorf("lost %v", lost)
	}
	for i := range 3 {
		if m := receive(t, b); m != i {
			t.Errorf("got %v, not %d", m, i)
		}
	}
	if m, ok := receive(t, b).(Terminated); !ok || m.Ref != r {
		t.Errorf("got %v", m)
	}
	for i := range 4 {
		b.Ref().Tell(i)
	}
	if n := len(book.of("WARN", "an inbox is full")); n != 2 {
		t.Errorf("%d warnings", n)
	}
}

func TestInboxDefaultSize(t *testing.T) {
	s, _, _ := observed(t, Config{})
	b := s.NewInbox()
	for i := range 1500 {
		b.Ref().Tell(i)
	}
	for i := range 1000 {
		if m := receive(t, b); m != i {
			t.Fatalf("got %v, not %d", m, i)
		}
	}
	empty(t, b)
	if n := s.Stats().Dropped; n != 500 {
		t.Errorf("%d dropped", n)
	}
}

// Who waits for a certain message gets it even if the inbox is full of others.
func TestInboxFullOfOthers(t *testing.T) {
	s, _, _ := observed(t, Config{InboxSize: 3})
	b := s.NewInbox()
	for i := range 3 {
		b.Ref().Tell(i)
	}
	seen := make(chan any, 100)
	found := make(chan any)
	go func() {
		m, err := b.ReceiveWhere(withinSeconds(t), func(m any) bool { seen <- m; return m == "this" })
		if err != nil {
			m = err
		}
		found <- m
	}()
	for i := range 3 {
		if m := <-seen; m != i {
			t.Errorf("looked at %v", m)
		}
	}
	for i := range 100 {
		b.Ref().Tell("other")
		select {
		case m := <-seen:
			if m != "other" {
				t.Errorf("%d: looked at %v", i, m)
			}
		case m := <-found:
			t.Fatalf("%d: ReceiveWhere has ended with %v", i, m)
		}
	}
	b.Ref().Tell("this")
	if m := <-found; m != "this" {
		t.Errorf("found %v", m)
	}
	for i := range 3 {
		if m := receive(t, b); m != i {
			t.Errorf("got %v, not %d", m, i)
		}
	}
	empty(t, b)
	if n := s.Stats().Dropped; n != 100 {
		t.Errorf("%d dropped", n)
	}
}

func TestInbox(t *testing.T) {
	s, _, _ := observed(t, Config{})
	b := s.NewInbox()
	echo := s.MustSpawn(FromFunc(func(ctx *Context, m any) { ctx.Reply(m) }), "")
	for i := range 10 {
		b.Tell(echo, i)
	}
	if m, err := b.ReceiveWhere(withinSeconds(t), func(m any) bool { return m == 7 }); m != 7 || err != nil {
		t.Errorf("got %v, %v", m, err)
	}
	for i := range 10 {
		if i != 7 {
			if m := receive(t, b); m != i {
				t.Errorf("got %v, not %d", m, i)
			}
		}
	}
	q := s.NewInbox()
	q.Tell(b.Ref(), Identify{1})
	if m := receive(t, q).(ActorIdentity); m.Subject != b.Ref() || m.MessageID != 1 {
		t.Errorf("got %+v", m)
	}
	if q.Ref().Equal(b.Ref()) || q.Ref().path == b.Ref().path {
		t.Error("two inboxes have the same path")
	}
	Subscribe[apple](s, b.Ref())
	s.EventStream().Publish(apple{5})
	if m := receive(t, b); m != (apple{5}) {
		t.Errorf("got %v", m)
	}
	b.Close()
	eventually(t, "its subscription ends", s.EventStream().quiet)
}

func TestInboxWatch(t *testing.T) {
	s, _, _ := observed(t, Config{})
	b := s.NewInbox()
	r, _ := forwarder(s)
	q, _ := forwarder(s)
	b.Watch(r)
	b.Watch(r)
	b.Watch(q)
	b.Watch(b.Ref())
	endActor(t, r)
	if m := receive(t, b).(Terminated); m.Ref != r || !m.ExistenceConfirmed {
		t.Errorf("got %+v", m)
	}
	b.Watch(r) // gone already
	if m := receive(t, b).(Terminated); m.Ref != r || m.ExistenceConfirmed {
		t.Errorf("got %+v", m)
	}
	b.Unwatch(q)
	endActor(t, q)
	b.Watch(q)
	b.Unwatch(q) // takes the Terminated back that is in the inbox
	b.Unwatch(q)
	empty(t, b)
}

// Many who send and many who wait: each message is received once, by somebody who wants it.
func TestInboxRandom(t *testing.T) {
	s, _, _ := observed(t, Config{InboxSize: 5000})
	b := s.NewInbox()
	const senders, each, receivers = 4, 500, 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	times := make(map[int]int)
	for w := range receivers {
		wg.Go(func() {
			for range senders * each / receivers {
				m, err := b.ReceiveWhere(withinSeconds(t), func(m any) bool { return m.(int)%receivers == w })
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				times[m.(int)]++
				mu.Unlock()
			}
		})
	}
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				b.Ref().Tell(i*each + j)
				if rand.IntN(10) == 0 {
					b.Watch(b.Ref())
				}
			}
		})
	}
	wg.Wait()
	if len(times) != senders*each || s.Stats().Dropped != 0 {
		t.Errorf("%d messages received, %+v", len(times), s.Stats())
	}
	empty(t, b)
}

// While who waits looks at one message, no more than twice the size gathers.
func TestInboxFullWhileLooking(t *testing.T) {
	s, _, _ := observed(t, Config{InboxSize: 3})
	b := s.NewInbox()
	looking, on := make(chan struct{}), make(chan struct{})
	found := make(chan any)
	go func() {
		m, _ := b.ReceiveWhere(withinSeconds(t), func(m any) bool {
			if m == 0 {
				close(looking)
				<-on
			}
			return m == 5
		})
		found <- m
	}()
	b.Ref().Tell(0)
	<-looking
	for i := range 99 {
		b.Ref().Tell(i + 1)
	}
	if n := s.Stats().Dropped; n != 94 {
		t.Errorf("%d of 100 dropped", n)
	}
	close(on)
	if m := <-found; m != 5 {
		t.Errorf("found %v", m)
	}
	for i := range 3 {
		if m := receive(t, b); m != i {
			t.Errorf("got %v, not %d", m, i)
		}
	}
	empty(t, b)
}
