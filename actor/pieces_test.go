package actor

import (
	"fmt"
	"sync"
	"testing"
)

// A burst of several pieces arrives once and in order, whoever sends it, is counted, and leaves what a small one leaves.
func TestBurstOfPieces(t *testing.T) {
	const senders, each = 4, 5*piece + 17
	s := plainSystem(t)
	waits, gate, done := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	next, all := [senders]int{}, 0
	r := s.MustSpawn(FromFunc(func(_ *Context, msg any) {
		m, ok := msg.([2]int)
		if !ok {
			waits <- struct{}{}
			<-gate
			return
		}
		if m[1] != next[m[0]] {
			done <- fmt.Sprintf("%v instead of %d", m, next[m[0]])
		}
		next[m[0]]++
		if all++; all%(senders*each) == 0 {
			next = [senders]int{}
			done <- ""
		}
	}), "sink")
	for round := range 3 {
		r.Tell("wait")
		<-waits
		var tells sync.WaitGroup
		for from := range senders {
			tells.Go(func() {
				for i := range each {
					r.Tell([2]int{from, i})
				}
			})
		}
		tells.Wait()
		if n := r.c.depth(); n < senders*each || n > senders*each+1 {
			t.Errorf("round %d: depth %d with %d messages", round, n, senders*each)
		}
		gate <- struct{}{}
		if wrong := <-done; wrong != "" {
			t.Fatalf("round %d: %s", round, wrong)
		}
	}
	if r.c.mu.Lock(); r.c.over != nil || cap(r.c.in) > 2*piece || cap(r.c.out) > 2*piece {
		t.Errorf("kept: %v, %d and %d", r.c.over, cap(r.c.in), cap(r.c.out))
	}
	r.c.mu.Unlock()
}

// What waits in pieces when an actor stops becomes dead letters, in order.
func TestPiecesAreLeft(t *testing.T) {
	s := plainSystem(t)
	c := handCell(s, &handRunner{t: t}, 30, func(*Context, any) {})
	for i := range 3*piece + 5 {
		c.enqueue(i, nil)
	}
	c.mu.Lock()
	c.refillLocked()
	c.pos = 3
	c.mu.Unlock()
	left, _ := c.close()
	if len(left) != 3*piece+2 || c.depth() != 0 {
		t.Fatalf("%d left, depth %d", len(left), c.depth())
	}
	for i, e := range left {
		if e.msg != i+3 {
			t.Fatalf("%v at %d", e.msg, i)
		}
	}
}

// A piece that is lent holds on to no message.
func TestLentPiecesAreEmpty(t *testing.T) {
	s := plainSystem(t)
	r := &handRunner{t: t}
	c := handCell(s, r, 1<<20, func(*Context, any) {})
	c.state = alive
	c.actor = FromFunc(func(*Context, any) {}).produce()
	c.sysWaiting.Store(false)
	c.status = 0
	for range 3 {
		for range 4 * piece {
			c.enqueue(new(int), nil)
		}
		c.turn(nil)
	}
	for range 3 {
		for _, e := range pieces.Get().(*[piece]envelope) {
			if e.msg != nil || e.sender != nil {
				t.Fatal("a message is still there")
			}
		}
	}
}
