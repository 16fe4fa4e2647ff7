package akka

import (
	"testing"
	"time"
)

// TestWatch has one node watch actors of the other that end in every way an actor can.
func TestWatch(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		a.ask(t, b.path("/user/echo"), patience)
		ends := []struct {
			name string
			end  func(name, path string)
		}{
			{"stop", func(name, _ string) { b.do("stop", "name", name) }},
			{"poison", func(_, path string) { a.do("tell", "to", path, "type", "poison") }},
			{"poison-ref", func(_, path string) { a.do("tell-ref", "to", path, "type", "poison") }},
			{"kill", func(_, path string) { a.do("tell", "to", path, "type", "kill") }},
			{"asked", func(_, path string) { a.do("tell-ref", "to", path, "type", "string", "value", "stop") }},
		}
		for _, end := range ends {
			t.Run(end.name, func(t *testing.T) {
				path := b.spawn(t, "ends-by-"+end.name)
				whole := a.watch(t, path)
				end.end("ends-by-"+end.name, path)
				a.terminated(t, 0, whole, false)
			})
		}
		t.Run("failure restarts", func(t *testing.T) {
			path := b.spawn(t, "fails")
			whole := a.watch(t, path)
			a.do("tell", "to", path, "type", "string", "value", "fail")
			a.ask(t, path, patience)
			a.refuse(t, 0, 500*time.Millisecond, "terminated", "path", whole)
			b.do("stop", "name", "fails")
			a.terminated(t, 0, whole, false)
		})
		t.Run("unwatch", func(t *testing.T) {
			path := b.spawn(t, "unwatched")
			whole := a.watch(t, path)
			a.do("unwatch", "path", path)
			a.expect(t, patience, "unwatched", "path", whole)
			a.ask(t, path, patience)
			b.do("stop", "name", "unwatched")
			a.refuse(t, 0, 2*time.Second, "terminated", "path", whole)
		})
		t.Run("again", func(t *testing.T) {
			// The name is used again by another actor: its end is another end.
			path := b.spawn(t, "twice")
			first := a.watch(t, path)
			a.watch(t, path)
			b.do("stop", "name", "twice")
			a.expect(t, patience, "terminated", "path", first)
			since := a.mark()
			b.spawn(t, "twice")
			second := a.watch(t, path)
			if first == second {
				t.Fatalf("two actors are both %s", first)
			}
			b.do("stop", "name", "twice")
			a.expectSince(t, since, patience, "terminated", "path", second)
			a.refuse(t, since, 200*time.Millisecond, "terminated", "path", first)
		})
		t.Run("both ways", func(t *testing.T) {
			ofA, ofB := a.spawn(t, "mutual"), b.spawn(t, "mutual")
			atB, atA := b.watch(t, ofA), a.watch(t, ofB)
			a.do("stop", "name", "mutual")
			b.do("stop", "name", "mutual")
			a.terminated(t, 0, atA, false)
			b.terminated(t, 0, atB, false)
		})
		t.Run("a name that is not there", func(t *testing.T) {
			since := a.mark()
			a.do("watch", "path", b.path("/user/nobody"))
			a.expectSince(t, since, patience, "error")
		})
	})
}

// TestQuit ends the watched node in an orderly way.
func TestQuit(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		whole := a.watch(t, b.path("/user/watchme"))
		b.do("quit")
		b.expect(t, patience, "terminated-system")
		b.gone(t, patience)
		a.expect(t, patience, "terminated", "path", whole)
		// The other side stays usable, and asking the one that left fails in time.
		if e := a.answer(t, b.path("/user/echo"), "string", "x", time.Second); e.text("event") != "ask-failed" {
			t.Errorf("a node that has left answered: %s", e)
		}
	})
}

// TestCrash ends the watched node without a word, and starts it again under the same address: the watcher is told, and the new one is welcome.
func TestCrash(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a := launch(t, p.a, systemName("A"))
		name, port := systemName("B"), freePort(t)
		b := start(t, p.b, name, "--port", itoa(port))
		a.ready(t)
		whole := a.watch(t, b.path("/user/watchme"))
		second := a.watch(t, b.path("/user/echo"))
		b.do("crash")
		b.gone(t, patience)
		a.terminated(t, 0, whole, true)
		a.terminated(t, 0, second, true)
		again := start(t, p.b, name, "--port", itoa(port))
		if again.uid == b.uid {
			t.Fatalf("the new process has the old uid %d", b.uid)
		}
		a.ask(t, again.path("/user/echo"), patience)
		again.ask(t, a.path("/user/echo"), patience)
		third := a.watch(t, again.path("/user/watchme"))
		again.do("stop", "name", "watchme")
		a.terminated(t, 0, third, false)
	})
}

// TestRestart starts a node again under its address at once, before anybody missed it: watchers of the first one are told.
func TestRestart(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a := launch(t, p.a, systemName("A"))
		name, port := systemName("B"), freePort(t)
		b := start(t, p.b, name, "--port", itoa(port))
		a.ready(t)
		whole := a.watch(t, b.path("/user/watchme"))
		b.kill()
		again := start(t, p.b, name, "--port", itoa(port))
		// Who speaks first decides who dials.
		again.ask(t, a.path("/user/echo"), patience)
		a.ask(t, again.path("/user/echo"), patience)
		a.terminated(t, 0, whole, true)
		third := a.watch(t, again.path("/user/watchme"))
		again.do("stop", "name", "watchme")
		a.terminated(t, 0, third, false)
	})
}

// TestQuarantine refuses an incarnation of a node until it is started again.
func TestQuarantine(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a := launch(t, p.a, systemName("A"))
		name, port := systemName("B"), freePort(t)
		b := start(t, p.b, name, "--port", itoa(port))
		a.ready(t)
		whole := a.watch(t, b.path("/user/watchme"))
		a.do("quarantine", "address", b.address, "uid", b.uid, "id", "q")
		a.expect(t, patience, "quarantine-set", "id", "q")
		a.expect(t, patience, "lifecycle", "kind", "QuarantinedEvent")
		a.terminated(t, 0, whole, true)
		for range 2 {
			if e := a.answer(t, b.path("/user/echo"), "string", "x", 1500*time.Millisecond); e.text("event") != "ask-failed" {
				t.Errorf("a quarantined node answered: %s", e)
			}
			if e := b.answer(t, a.path("/user/echo"), "string", "x", 1500*time.Millisecond); e.text("event") != "ask-failed" {
				t.Errorf("a quarantined node got an answer: %s", e)
			}
		}
		b.expect(t, patience, "lifecycle", "kind", "ThisActorSystemQuarantinedEvent")
		b.kill()
		again := start(t, p.b, name, "--port", itoa(port))
		again.ask(t, a.path("/user/echo"), patience)
		a.ask(t, again.path("/user/echo"), patience)
	})
}
