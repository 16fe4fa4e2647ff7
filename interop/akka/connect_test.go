package akka

import (
	"os"
	"sync"
	"testing"
	"time"
)

// TestSimultaneousDial lets both nodes speak first at the same time. Whatever connections come of it, everything arrives.
func TestSimultaneousDial(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		for round := range 6 {
			if round > 0 {
				// A new node of ours is quickly there; one of the other kind has had its one chance.
				switch {
				case p.a == golang:
					a = start(t, p.a, systemName("A"))
				case p.b == golang:
					b = start(t, p.b, systemName("B"))
				default:
					return
				}
			}
			var both sync.WaitGroup
			errs := make([]error, 2)
			both.Go(func() { errs[0] = a.tryAsk(t, b.path("/user/echo"), patience) })
			both.Go(func() { errs[1] = b.tryAsk(t, a.path("/user/echo"), patience) })
			both.Wait()
			for _, err := range errs {
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			for range 3 {
				a.ask(t, b.path("/user/echo"), 0)
				b.ask(t, a.path("/user/echo"), 0)
			}
			whole := a.watch(t, b.spawn(t, "round"+itoa(round)))
			b.do("stop", "name", "round"+itoa(round))
			a.terminated(t, 0, whole, false)
		}
	})
}

// cabled starts two nodes with a cable each: what others dial is the cable.
func cabled(t *testing.T, p pair) (a, b *node, pull, plug, cut func()) {
	t.Helper()
	portA, portB := freePort(t), freePort(t)
	cableA, cableB := startProxy(t, portA), startProxy(t, portB)
	a = launch(t, p.a, systemName("A"), "--port", itoa(portA), "--public-port", itoa(cableA.port))
	b = launch(t, p.b, systemName("B"), "--port", itoa(portB), "--public-port", itoa(cableB.port))
	a.ready(t)
	b.ready(t)
	if a.port(t) != cableA.port || b.port(t) != cableB.port {
		t.Fatalf("the nodes are %s and %s, want ports %d and %d", a.address, b.address, cableA.port, cableB.port)
	}
	return a, b, func() { cableA.pull(); cableB.pull() }, func() { cableA.plug(); cableB.plug() }, func() { cableA.cut(); cableB.cut() }
}

// TestCableShort pulls the cable for three seconds: nobody is given up, and what was sent meanwhile arrives.
func TestCableShort(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b, pull, plug, _ := cabled(t, p)
		whole := a.watch(t, b.path("/user/watchme"))
		b.watch(t, a.path("/user/watchme"))
		a.ask(t, b.path("/user/echo"), patience)
		stopped := b.watch(t, a.path("/user/echo"))
		pull()
		a.do("stop", "name", "echo")
		a.do("tell", "to", b.path("/user/collector"), "type", "string", "value", "through")
		time.Sleep(3 * time.Second)
		plug()
		if p.b == golang {
			b.terminated(t, 0, stopped, false)
			b.refuse(t, 0, 0, "terminated", "addressTerminated", true)
		}
		a.ask(t, b.path("/user/echo"), patience)
		if p.a == golang {
			a.refuse(t, 0, 2*time.Second, "terminated", "path", whole)
			b.do("stop", "name", "watchme")
			a.terminated(t, 0, whole, false)
		}
	})
}

// TestCableCut resets all connections, again and again: the nodes find each other, and no end of an actor is missed.
func TestCableCut(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		if p.a != p.b && os.Getenv("ACTUA_AKKA_CUT") == "" {
			t.Skip("a reset makes Akka.NET begin at number 0 again with system messages, which our node does not follow yet; ACTUA_AKKA_CUT=1 runs it")
		}
		a, b, _, _, cut := cabled(t, p)
		a.ask(t, b.path("/user/echo"), patience)
		for round := range 3 {
			name := "cut" + itoa(round)
			whole := a.watch(t, b.spawn(t, name))
			b.do("stop", "name", name)
			cut()
			// A reset is a planned shutdown for Akka.NET, which forgets what it had to say; the watch that comes again finds nobody.
			if e := a.expect(t, patience, "terminated", "path", whole); p.a == golang && e["addressTerminated"] != false {
				t.Errorf("%s", e)
			}
			a.ask(t, b.path("/user/echo"), patience)
			b.ask(t, a.path("/user/echo"), patience)
		}
	})
}

// TestCableLong pulls the cable for a minute: each gives the other up, stays that way when the cable is back, and a node that
// is started again is welcome.
func TestCableLong(t *testing.T) {
	if os.Getenv("ACTUA_INTEROP") != "required" && os.Getenv("ACTUA_AKKA_LONG") == "" {
		t.Skip("takes more than a minute; ACTUA_AKKA_LONG=1 or ACTUA_INTEROP=required runs it")
	}
	eachPair(t, func(t *testing.T, p pair) {
		portA, portB := freePort(t), freePort(t)
		cableA, cableB := startProxy(t, portA), startProxy(t, portB)
		nameB := systemName("B")
		argsB := []string{"--port", itoa(portB), "--public-port", itoa(cableB.port)}
		a := launch(t, p.a, systemName("A"), "--port", itoa(portA), "--public-port", itoa(cableA.port))
		b := start(t, p.b, nameB, argsB...)
		a.ready(t)
		atA := a.watch(t, b.path("/user/watchme"))
		atB := b.watch(t, a.path("/user/watchme"))
		// The detector learns from a few heartbeats.
		time.Sleep(4 * time.Second)
		cableA.pull()
		cableB.pull()
		pulled := time.Now()
		if p.a == golang {
			a.expect(t, 50*time.Second, "terminated", "path", atA, "addressTerminated", true)
			a.expect(t, patience, "lifecycle", "kind", "QuarantinedEvent")
		}
		if p.b == golang {
			b.expect(t, 50*time.Second, "terminated", "path", atB, "addressTerminated", true)
		}
		time.Sleep(time.Until(pulled.Add(time.Minute)))
		cableA.plug()
		cableB.plug()
		if p.a == golang {
			if e := a.answer(t, b.path("/user/echo"), "string", "x", 3*time.Second); e.text("event") != "ask-failed" {
				t.Errorf("a node that was given up answered: %s", e)
			}
		}
		b.kill()
		again := start(t, p.b, nameB, argsB...)
		if p.a == golang {
			a.ask(t, again.path("/user/echo"), patience)
			whole := a.watch(t, again.path("/user/watchme"))
			again.do("stop", "name", "watchme")
			a.terminated(t, 0, whole, false)
		}
		if p.b == golang {
			again.ask(t, a.path("/user/echo"), patience)
		}
	})
}
