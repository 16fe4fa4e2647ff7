package actor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// watcher writes down each Terminated.
func watcher(j *journal, d string) *Props {
	return bareProps(func(ctx *Context, msg any) {
		if m, ok := msg.(Terminated); ok {
			j.add("%s ended, existed %v", m.Ref.Name(), m.ExistenceConfirmed)
			return
		}
		j.add("%v from %s", msg, ctx.Sender().Name())
	}).WithDispatcher(d)
}

// settled waits until w has handled all that has been sent to it so far, system messages included.
func settled(t *testing.T, w *Ref) {
	t.Helper()
	within(t, w, func(*Context) {})
}

func TestWatch(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		w := s.MustSpawn(watcher(j, d), "w")
		a := s.MustSpawn(bareProps(func(ctx *Context, msg any) { ctx.Tell(w, msg) }).WithDispatcher(d), "a")
		within(t, w, func(ctx *Context) {
			ctx.Watch(a)
			ctx.Watch(a) // twice is once
			ctx.Watch(w) // oneself is nothing
		})
		a.Tell("last words")
		a.Tell(PoisonPill{})
		ended(t, a)
		j.is(t, "last words from a", "a ended, existed true")
		// One that has ended.
		within(t, w, func(ctx *Context) { ctx.Watch(a) })
		j.is(t, "last words from a", "a ended, existed true", "a ended, existed false")
		// One that never was, but has a Ref.
		within(t, w, func(ctx *Context) { ctx.Watch(s.DeadLetters()) })
		j.is(t, "last words from a", "a ended, existed true", "a ended, existed false", "deadLetters ended, existed false")
		settled(t, w)
		if n := len(j.all()); n != 4 {
			t.Errorf("more: %v", j.all())
		}
	})
}

func TestWatchWith(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		w := s.MustSpawn(watcher(j, d), "w")
		a := s.MustSpawn(bareProps(nil).WithDispatcher(d), "a")
		within(t, w, func(ctx *Context) {
			ctx.WatchWith(a, "first")
			ctx.WatchWith(a, "a has gone")
		})
		s.Stop(a)
		j.is(t, "a has gone from a")
		within(t, w, func(ctx *Context) { ctx.WatchWith(a, "a had gone") })
		j.is(t, "a has gone from a", "a had gone from a")
	})
}

func TestUnwatch(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		w := s.MustSpawn(watcher(j, d), "w")
		a := s.MustSpawn(bareProps(nil).WithDispatcher(d), "a")
		within(t, w, func(ctx *Context) { ctx.Watch(a); ctx.Unwatch(a); ctx.Unwatch(a) })
		s.Stop(a)
		ended(t, a)
		settled(t, w)

		// The Terminated is in the mailbox already, behind the function that takes the watch back.
		b := s.MustSpawn(bareProps(nil), "b")
		gate, in := make(chan struct{}), make(chan struct{})
		x := s.MustSpawn(watcher(j, BlockingDispatcher), "x")
		within(t, x, func(ctx *Context) { ctx.Watch(b) })
		x.Tell(func(*Context) { close(in); <-gate })
		wait(t, in, "x")
		x.Tell(func(ctx *Context) {
			if ctx.ext.watch.queued == nil {
				t.Error("the Terminated is not there yet")
			}
			ctx.Unwatch(b)
			ctx.Watch(b) // and again: then it is one Terminated, not two
		})
		x.Tell("y")
		s.Stop(b)
		for !x.c.sysWaiting.Load() { // until x has been told
			runtime.Gosched()
		}
		close(gate)
		j.until(t, "Terminated", func(ls []string) bool {
			return strings.Contains(strings.Join(ls, "\n"), "b ended") && strings.Contains(strings.Join(ls, "\n"), "y from")
		})
		settled(t, x)
		settled(t, x)
		if n := strings.Count(strings.Join(j.all(), "\n"), "b ended"); n != 1 {
			t.Errorf("%d Terminated of b", n)
		}
		if strings.Contains(strings.Join(j.all(), "\n"), "a ended") {
			t.Error("a Terminated after Unwatch")
		}
	})
}

func TestDeathPact(t *testing.T) {
	s := newTestSystem(t, Config{})
	causes := make(chan error, 1)
	top := s.MustSpawn(bareProps(nil).WithSupervisor(Strategy{Decide: func(err error) Directive { causes <- err; return DefaultDecider(err) }}), "top")
	a := child(t, top, bareProps(func(ctx *Context, _ any) { ctx.Unhandled() }), "a")
	b := s.MustSpawn(bareProps(nil), "b")
	within(t, a, func(ctx *Context) { ctx.Watch(b) })
	s.Stop(b)
	ended(t, a)
	var pact *DeathPactError
	if err := <-causes; !errors.As(err, &pact) || pact.Dead != b || !strings.Contains(err.Error(), "/user/b") {
		t.Errorf("%v", err)
	}
}

// A watcher that ends is forgotten by those it watched, and a restart keeps the watches.
func TestWatcherEndsOrRestarts(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	a := s.MustSpawn(bareProps(nil), "a")
	for range 100 {
		w := s.MustSpawn(watcher(j, DefaultDispatcher), "")
		within(t, w, func(ctx *Context) { ctx.Watch(a) })
		s.Stop(w)
		ended(t, w)
	}
	within(t, a, func(ctx *Context) {
		if n := len(ctx.ext.watch.watchers); n != 0 {
			t.Errorf("%d watchers that have ended are kept", n)
		}
	})
	w := s.MustSpawn(watcher(j, DefaultDispatcher), "w")
	within(t, w, func(ctx *Context) {
		ctx.Watch(a)
		ctx.Tell(w, errTest)
	})
	settled(t, w)
	s.Stop(a)
	j.is(t, "a ended, existed true")
}

// Many goroutines watch, unwatch, stop, kill, make and tell at once. Each watcher gets exactly one Terminated of each actor
// that it watches, and none of one that it does not; at the end everything has ended.
func TestRandomWatch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	onEach(t, func(t *testing.T, d string) {
		for round := range 3 {
			randomWatch(t, d, rand.New(rand.NewPCG(seed, uint64(round))))
		}
	})
}

func randomWatch(t *testing.T, d string, r *rand.Rand) {
	const victims, watchers, each = 30, 12, 60
	s := newTestSystem(t, Config{})
	top := s.MustSpawn(bareProps(nil).WithSupervisor(Strategy{Quiet: true, MaxRetries: 3}).WithDispatcher(d), "top")
	targets := make([]*Ref, victims)
	for i := range targets {
		within(t, top, func(ctx *Context) {
			targets[i] = ctx.MustSpawn(bareProps(nil).WithDispatcher(d), fmt.Sprintf("v%d", i))
			if i%3 == 0 { // with something below, so that stopping takes its time
				targets[i].Tell(func(ctx *Context) { ctx.MustSpawn(bareProps(nil), "") })
			}
		})
	}
	type state struct {
		wanted map[*Ref]bool // watched, and no Terminated yet
		got    map[*Ref]int
	}
	states := make([]state, watchers)
	ws := make([]*Ref, watchers)
	for i := range ws {
		st := &states[i]
		st.wanted, st.got = map[*Ref]bool{}, map[*Ref]int{}
		ws[i] = s.MustSpawn(bareProps(func(ctx *Context, msg any) {
			m := msg.(Terminated)
			if !st.wanted[m.Ref] {
				t.Errorf("a Terminated of %s that was not expected", m.Ref.path)
			}
			delete(st.wanted, m.Ref)
			st.got[m.Ref]++
		}).WithDispatcher(d), fmt.Sprintf("w%d", i))
	}
	var busyNow sync.WaitGroup
	for i := range 4 {
		q := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		busyNow.Go(func() {
			for range each * watchers / 4 {
				w, v := q.IntN(watchers), targets[q.IntN(victims)]
				st := &states[w]
				switch k := q.IntN(20); {
				case k < 10:
					ws[w].Tell(func(ctx *Context) { ctx.Watch(v); st.wanted[v] = true })
				case k < 14:
					ws[w].Tell(func(ctx *Context) { ctx.Unwatch(v); delete(st.wanted, v) })
				case k < 16:
					v.Tell(func(*Context) {})
				case k == 16:
					v.Tell(errTest)
				case k == 17:
					v.Tell(Kill{})
				case k == 18:
					v.Tell(PoisonPill{})
				default:
					s.Stop(v)
				}
			}
		})
	}
	busyNow.Wait()
	for _, v := range targets {
		s.Stop(v)
	}
	for _, v := range targets {
		ended(t, v)
	}
	for i, w := range ws {
		left := -1
		for start := time.Now(); left != 0 && time.Since(start) < patienceOfTests; {
			within(t, w, func(*Context) { left = len(states[i].wanted) })
		}
		if left != 0 {
			t.Errorf("watcher %d still waits for %d Terminated", i, left)
		}
		within(t, w, func(ctx *Context) {
			if x := ctx.ext; x != nil && (len(x.watch.watching) != 0 || len(x.watch.queued) != 0) {
				t.Errorf("watcher %d keeps %d watches and %d queued ends", i, len(x.watch.watching), len(x.watch.queued))
			}
		})
	}
}

// Children end before their parents, whoever stops what, and each hook runs once in a life.
func TestRandomStopOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	onEach(t, func(t *testing.T, d string) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newTestSystem(t, Config{})
		type node struct {
			parent         int
			alive, started atomic.Int32
			under          atomic.Int32 // that live
		}
		const n = 120
		nodes := make([]node, n)
		refs := make([]*Ref, n)
		for i := range nodes {
			me := &nodes[i]
			me.parent = -1
			if i > 0 {
				me.parent = r.IntN(i)
			}
			p := probe{j: newJournal(), preStart: func(*Context) {
				me.started.Add(1)
				if me.alive.Add(1) != 1 {
					t.Errorf("seed %d: two of one actor live", seed)
				}
				if me.parent >= 0 {
					nodes[me.parent].under.Add(1)
				}
			}, postStop: func(*Context) {
				if me.alive.Add(-1) != 0 {
					t.Errorf("seed %d: PostStop without PreStart", seed)
				}
				if me.under.Load() != 0 {
					t.Errorf("seed %d: an actor has stopped before its children", seed)
				}
				if me.parent >= 0 {
					nodes[me.parent].under.Add(-1)
				}
			}}.props().WithDispatcher(d)
			if me.parent < 0 {
				refs[i] = s.MustSpawn(p, "root")
				continue
			}
			refs[i] = child(t, refs[me.parent], p, fmt.Sprintf("n%d", i))
		}
		var stops sync.WaitGroup
		for range 3 {
			i, how := r.IntN(n), r.IntN(3)
			stops.Go(func() {
				switch how {
				case 0:
					s.Stop(refs[i])
				case 1:
					refs[i].Tell(PoisonPill{})
				case 2:
					refs[i].Tell(Kill{})
				}
			})
		}
		stops.Wait()
		s.Stop(refs[0])
		ended(t, refs[0])
		for i := range nodes {
			if nodes[i].alive.Load() != 0 || nodes[i].started.Load() != 1 {
				t.Errorf("seed %d: node %d was started %d times, and %d live", seed, i, nodes[i].started.Load(), nodes[i].alive.Load())
			}
		}
	})
}

// Restarts at random in a tree: the order of hooks of each actor is that of one life after the other, mailboxes are kept,
// and the messages of a sender arrive in order, those that failed left out.
func TestRandomRestartOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	onEach(t, func(t *testing.T, d string) {
		r := rand.New(rand.NewPCG(seed, 0))
		for range 4 {
			s := newTestSystem(t, Config{})
			st := Strategy{Quiet: true, AllForOne: r.IntN(2) == 0}
			top := s.MustSpawn(bareProps(nil).WithSupervisor(st).WithDispatcher(d), "")
			const kids, n = 4, 300
			var refs [kids]*Ref
			var done sync.WaitGroup
			for i := range kids {
				done.Add(1)
				state, last := "", 0 // the actor's goroutine's, across its lives
				step := func(from, to string) {
					if state != from {
						t.Errorf("seed %d: %q after %q, not %q", seed, to, state, from)
					}
					state = to
				}
				props := NewProps(func() Actor {
					if state == "" {
						state = "new"
					}
					return &probe{j: newJournal(),
						preStart:   func(*Context) { step("new", "running") },
						preRestart: func(ctx *Context, _ error, _ any) { step("running", "preRestart"); ctx.DefaultPreRestart() },
						postStop: func(*Context) {
							if state == "preRestart" {
								state = "stopped"
							} else {
								step("running", "ended")
							}
						},
						postRestart: func(*Context, error) { step("stopped", "running") },
						receive: func(ctx *Context, msg any) {
							m := msg.(int)
							if state != "running" || m != last+1 {
								t.Errorf("seed %d: message %d after %d while %s", seed, m, last, state)
							}
							if last = m; m == n {
								done.Done()
							}
							if m%37 == 5 {
								ctx.Fail(errTest)
							}
						}}
				})
				within(t, top, func(ctx *Context) { refs[i] = ctx.MustSpawn(props.WithDispatcher(d), "") })
			}
			for _, a := range refs {
				go func() {
					for m := range n {
						a.Tell(m + 1)
					}
				}()
			}
			all := make(chan struct{})
			go func() { done.Wait(); close(all) }()
			wait(t, all, "the messages")
		}
	})
}
