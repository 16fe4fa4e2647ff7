package remote

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote/remotetest"
)

// AkkaProtocolStressTest: what is lost is lost, and the rest comes once and in order, over drops and cuts.
func TestRow38AtMostOnceInOrder(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	got := make(chan int, 10_000)
	b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		got <- int(msg.(int32))
		ctx.Reply(msg)
	}), "list")
	var answers []int
	last := make(chan []int, 1)
	from := a.sys.MustSpawn(actor.FromFunc(func(_ *actor.Context, msg any) {
		if n := int(msg.(int32)); n < 0 {
			last <- answers
		} else {
			answers = append(answers, n)
		}
	}), "from")
	to := a.to(b, "/user/list")
	const many = 3000
	for i := range many {
		switch i % 1000 {
		case 100:
			w.net.SetBoth("a", "b", remotetest.Mode{Drop: 0.2, Delay: 10 * time.Millisecond, Jitter: 20 * time.Millisecond})
		case 700:
			w.net.Cut("a", "b")
			w.pass(6 * time.Second) // the gate
		case 800:
			w.net.SetBoth("a", "b", remotetest.Mode{})
			w.pass(25 * time.Second) // the handshake whose answer was lost, and another gate
		}
		to.TellFrom(int32(i), from)
		if i%20 == 0 {
			w.pass(100 * time.Millisecond)
		}
	}
	w.pass(30 * time.Second)
	from.Tell(int32(-1))
	inOrder := func(what string, list []int) {
		for i := 1; i < len(list); i++ {
			if list[i] <= list[i-1] {
				t.Fatalf("%s: %d came after %d", what, list[i], list[i-1])
			}
		}
		if len(list) < many/3 || len(list) == many {
			t.Errorf("%s: %d of %d came", what, len(list), many)
		}
	}
	var there []int
	for len(got) > 0 {
		there = append(there, <-got)
	}
	inOrder("there", there)
	inOrder("back", wait(t, last))
	a.never("quarantined")
}

// ThrottlerTransportAdapterSpec: a throttled way takes the time that it has to, and a blackhole ends with its message lost.
func TestRow38Throttled(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	b.observer("x")
	to := a.to(b, "/user/x")
	says(t, to, "who")
	w.net.Set("a", "b", remotetest.Mode{Rate: 10_000})
	for i := range 10 {
		to.Tell(fmt.Sprintf("slow %d %s", i, strings.Repeat("x", 5000)))
	}
	if d := b.passUntil("x: slow 9"); d < 4*time.Second || d > 8*time.Second {
		t.Errorf("50 kB at 10 kB/s took %v", d)
	}
	w.net.Set("a", "b", blackhole)
	to.Tell("into the hole")
	w.pass(time.Second)
	w.net.Set("a", "b", remotetest.Mode{})
	says(t, to, "who")
	b.never("into the hole")
	a.never("disassociated")
}
