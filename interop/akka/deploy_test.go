package akka

import (
	"testing"
	"time"
)

// TestDeploy creates actors on the other node and watches them live, fail and end.
func TestDeploy(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		deploy := func(from, to *node, name string) string {
			t.Helper()
			since := from.mark()
			from.do("deploy", "address", to.address, "name", name)
			want := to.path("/remote/akka.tcp/" + from.address[len("akka.tcp://"):] + "/user/controller/" + name)
			e := from.expectSince(t, since, patience, "deployed", "path", func(s string) bool { return withoutUID(s) == want })
			from.expectSince(t, since, patience, "controller-received", "value", "hello-deployed", "type", "System.String", "sender", want)
			return e.text("path")
		}
		t.Run("stop", func(t *testing.T) {
			whole := deploy(a, b, "d1")
			a.ask(t, withoutUID(whole), patience)
			b.ask(t, withoutUID(whole), patience)
			a.do("tell", "to", withoutUID(whole), "type", "string", "value", "stop")
			a.terminated(t, 0, whole, false)
		})
		t.Run("fail", func(t *testing.T) {
			// The parent on the other node decides: a restart.
			whole := deploy(a, b, "d2")
			a.do("tell", "to", withoutUID(whole), "type", "string", "value", "fail")
			a.ask(t, withoutUID(whole), patience)
			a.refuse(t, 0, 300*time.Millisecond, "terminated", "path", whole)
			a.do("tell", "to", withoutUID(whole), "type", "poison")
			a.terminated(t, 0, whole, false)
		})
		t.Run("name used again", func(t *testing.T) {
			first := deploy(a, b, "d3")
			a.do("tell", "to", withoutUID(first), "type", "kill")
			a.expect(t, patience, "terminated", "path", first)
			if second := deploy(a, b, "d3"); first == second {
				t.Errorf("two actors are both %s", first)
			}
		})
		t.Run("other way", func(t *testing.T) {
			whole := deploy(b, a, "back")
			b.ask(t, withoutUID(whole), patience)
		})
		t.Run("parent ends", func(t *testing.T) {
			// The children of a parent that is stopped end, those of others live on.
			whole := deploy(a, b, "orphan")
			b.ask(t, withoutUID(whole), patience)
			a.do("stop", "name", "controller")
			deadline := time.Now().Add(patience)
			for b.answer(t, withoutUID(whole), "string", "still there?", time.Second).text("event") != "ask-failed" {
				if time.Now().After(deadline) {
					t.Fatalf("%s outlived its parent", whole)
				}
				time.Sleep(200 * time.Millisecond)
			}
		})
	})
}

// TestDeployCrash lets the node of a parent crash: the child on the other node ends too.
func TestDeployCrash(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		a.do("deploy", "address", b.address, "name", "orphan")
		whole := withoutUID(a.expect(t, patience, "deployed").text("path"))
		a.expect(t, patience, "controller-received", "value", "hello-deployed")
		b.ask(t, whole, patience)
		a.kill()
		deadline := time.Now().Add(patience)
		for b.answer(t, whole, "string", "still there?", time.Second).text("event") != "ask-failed" {
			if time.Now().After(deadline) {
				t.Fatalf("%s outlived the node of its parent", whole)
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}
