package remote

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
)

// watchScript drives a watching by a script of one event a line, "1.5s watch n1/a by w1", and writes down what it
// wants done.
type watchScript struct {
	t     *testing.T
	w     *watching
	set   Settings
	refs  map[string]*actor.Ref
	names map[*actor.Ref]string
}

func newWatchScript(t *testing.T) *watchScript {
	s := &watchScript{t: t, set: DefaultSettings(), refs: map[string]*actor.Ref{}, names: map[*actor.Ref]string{}}
	s.w = newWatching(&s.set)
	return s
}

func (s *watchScript) ref(name string) *actor.Ref {
	r := s.refs[name]
	if r == nil {
		r = new(actor.Ref) // nothing but its identity counts
		s.refs[name], s.names[r] = r, name
	}
	return r
}

func (s *watchScript) node(name string) actor.Address {
	s.t.Helper()
	a, err := actor.NewAddress("akka.tcp", "Sys", name, 1)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// id reads "n1/a#7".
func (s *watchScript) id(text string) (actor.Address, watcheeID) {
	s.t.Helper()
	node, path, _ := strings.Cut(text, "/")
	path, uid, _ := strings.Cut(path, "#")
	var n int32
	if uid != "" {
		if _, err := fmt.Sscan(uid, &n); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.node(node), watcheeID{"/" + path, n}
}

// do carries out one line and returns what is wanted, joined by "; ".
func (s *watchScript) do(line string) string {
	s.t.Helper()
	f := strings.Fields(line)
	now, err := time.ParseDuration(f[0])
	if err != nil {
		s.t.Fatal(err)
	}
	var acts []watchAct
	switch f[1] {
	case "watch", "supervise": // watch n1/a by w1 [at n2]
		node, id := s.id(f[2])
		by := watcherOf{ref: s.ref(f[4])}
		if len(f) > 5 {
			by.at = s.node(f[6])
		}
		why := asWatcher
		if f[1] == "supervise" {
			why = asParent
		}
		acts = s.w.watch(now, node, id, s.ref(f[2]), f[4], by, why, nil)
	case "unwatch":
		node, id := s.id(f[2])
		acts = s.w.unwatch(node, id, f[4], asWatcher, nil)
	case "ended", "absent", "addressed":
		node, id := s.id(f[2])
		acts = s.w.ended(node, id, f[1] == "ended", f[1] == "addressed", nil)
	case "gone":
		acts = s.w.gone(s.node(f[2]), nil)
	case "rsp":
		var uid int32
		if _, err := fmt.Sscan(f[3], &uid); err != nil {
			s.t.Fatal(err)
		}
		acts = s.w.response(now, s.node(f[2]), assoc.UID(uid), nil)
	case "tick":
		acts = s.w.tick(now, nil)
	default:
		s.t.Fatalf("unknown event %q", line)
	}
	return s.text(acts)
}

func (s *watchScript) text(acts []watchAct) string {
	var out []string
	for _, a := range acts {
		switch a.do {
		case sendWatch:
			out = append(out, "Watch "+s.names[a.ref])
		case sendUnwatch:
			out = append(out, "Unwatch "+s.names[a.ref])
		case sendHeartbeat:
			out = append(out, "heartbeat "+a.node.Host())
		case quarantine:
			uid := "unknown"
			if a.known {
				uid = fmt.Sprint(a.uid)
			}
			out = append(out, "quarantine "+a.node.Host()+" "+uid)
		case tellEnd:
			line := "tell " + s.names[a.to] + " end of " + s.names[a.ref]
			if a.existed {
				line += " existed"
			}
			if a.addressed {
				line += " address"
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// run checks a transcript: lines "event => wanted".
func (s *watchScript) run(lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		event, want, _ := strings.Cut(l, "=>")
		if got, want := s.do(event), strings.TrimSpace(want); got != want {
			s.t.Fatalf("%s\n got  %s\n want %s", event, got, want)
		}
	}
}

// idle checks that nothing is watched and no time is waited for.
func (s *watchScript) idle() {
	s.t.Helper()
	if len(s.w.nodes) != 0 || s.w.next() != assoc.Never {
		s.t.Fatalf("%d nodes are left, next %v", len(s.w.nodes), s.w.next())
	}
}

func TestWatching(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"what nobody watches is nobody's business", []string{
			"0s unwatch n1/a#1 by w1 =>", "0s ended n1/a#1 =>", "0s rsp n1 5 =>", "0s gone n1 =>", "9s tick =>",
		}},
		{"row 23: watch, heartbeats, watched again at the first answer, unwatch", []string{
			"0s watch n1/a#1 by w1 => Watch n1/a#1",
			"0s watch n1/a#1 by w1 =>", // it is watched
			"0s watch n1/a#1 by w2 =>",
			"1s tick => heartbeat n1",
			"1.01s rsp n1 5 => Watch n1/a#1",
			"2s tick => heartbeat n1",
			"2.01s rsp n1 5 =>",
			"2.1s unwatch n1/a#1 by w1 =>",
			"2.1s unwatch n1/a#1 by w1 =>",
			"2.1s unwatch n1/a#1 by w2 => Unwatch n1/a#1",
			"3s tick =>",
		}},
		{"row 23: another watch on a node that answers sends it once", []string{
			"0s watch n1/a#1 by w1 => Watch n1/a#1",
			"1s tick => heartbeat n1",
			"1s rsp n1 5 => Watch n1/a#1",
			"1.5s watch n1/b#1 by w1 => Watch n1/b#1",
			"2s tick => heartbeat n1",
			"2s rsp n1 5 =>",
			"2s unwatch n1/a#1 by w1 => Unwatch n1/a#1",
			"3s tick => heartbeat n1",
			"3s unwatch n1/b#1 by w1 => Unwatch n1/b#1",
		}},
		{"row 23: another incarnation answers", []string{
			"0s watch n1/a#1 by w1 => Watch n1/a#1", "0s watch n1/b#1 by w1 => Watch n1/b#1",
			"1s tick => heartbeat n1",
			"1s rsp n1 5 => Watch n1/a#1; Watch n1/b#1",
			"2s tick => heartbeat n1",
			"2s rsp n1 6 => Watch n1/a#1; Watch n1/b#1",
			"3s gone n1 => tell w1 end of n1/a#1 address; tell w1 end of n1/b#1 address",
		}},
		{"an actor ends", []string{
			"0s watch n1/a#1 by w2 => Watch n1/a#1", "0s watch n1/a#1 by w1 =>",
			"1s tick => heartbeat n1",
			"1s ended n1/a#2 =>", // another incarnation
			"1s ended n1/a#1 => tell w2 end of n1/a#1 existed; tell w1 end of n1/a#1 existed",
			"1s absent n1/a#1 =>", // told twice
			"1s unwatch n1/a#1 by w1 =>",
			"2s tick =>",
			"2s rsp n1 5 =>", // late
		}},
		{"an actor was never there", []string{
			"0s watch n1/a#1 by w1 => Watch n1/a#1",
			"0s absent n1/a#1 => tell w1 end of n1/a#1",
		}},
		{"a path without uid is told of the incarnation that lived there", []string{
			"0s watch n1/a by w1 => Watch n1/a", "0s watch n1/a#1 by w1 => Watch n1/a#1", "0s watch n1/a#2 by w1 => Watch n1/a#2",
			"0s ended n1/a#1 => tell w1 end of n1/a#1 existed; tell w1 end of n1/a existed",
			"0s absent n1/a =>",
			"0s watch n1/a by w1 => Watch n1/a",
			"0s absent n1/a => tell w1 end of n1/a",
			"0s ended n1/a#2 => tell w1 end of n1/a#2 existed",
		}},
		{"an actor is watched again when its end was told", []string{
			"0s watch n1/a#1 by w1 => Watch n1/a#1",
			"0s ended n1/a#1 => tell w1 end of n1/a#1 existed",
			"0s watch n1/a#1 by w1 => Watch n1/a#1",
			"0s absent n1/a#1 => tell w1 end of n1/a#1",
		}},
		{"row 22: a parent that unwatches its child stays its parent", []string{
			"0s supervise n1/a#1 by p => Watch n1/a#1",
			"0s watch n1/a#1 by p =>",
			"0s unwatch n1/a#1 by p =>",
			"0s unwatch n1/a#1 by p =>",
			"0s gone n1 => tell p end of n1/a#1 existed address",
		}},
		{"a watcher on a node that is gone", []string{
			"0s watch n1/a#1 by far at n2 => Watch n1/a#1", "0s watch n1/b#1 by far at n2 => Watch n1/b#1", "0s watch n1/b#1 by w1 =>",
			"0s gone n2 => Unwatch n1/a#1",
			"0s unwatch n1/b#1 by w1 => Unwatch n1/b#1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newWatchScript(t)
			s.run(c.lines...)
			s.idle()
		})
	}
}

// Seconds of ticks until something other than heartbeats is wanted.
func (s *watchScript) until(from, most int, answer func(sec int) string) (int, string) {
	s.t.Helper()
	for sec := from; sec < most; sec++ {
		got := s.do(fmt.Sprintf("%ds tick", sec))
		if !strings.HasPrefix(got, "heartbeat n1") || strings.Contains(got, ";") {
			return sec, got
		}
		if answer != nil {
			if e := answer(sec); e != "" {
				s.do(e)
			}
		}
		s.do(fmt.Sprintf("%d.5s tick", sec))
	}
	return most, ""
}

func TestRow24MissingHeartbeats(t *testing.T) {
	s := newWatchScript(t)
	s.run("0s watch n1/a#1 by w1 => Watch n1/a#1", "0s watch n1/b#1 by w2 => Watch n1/b#1")
	sec, got := s.until(1, 100, func(sec int) string {
		if sec < 20 {
			return fmt.Sprintf("%d.01s rsp n1 5", sec)
		}
		return ""
	})
	if sec < 29 || sec > 34 {
		t.Errorf("silence from 20 s on was noticed after %d s", sec)
	}
	if want := "heartbeat n1; quarantine n1 5; tell w1 end of n1/a#1 address; tell w2 end of n1/b#1 address"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.idle()
	// Watched once more, it is tried from the beginning.
	s.run("50s watch n1/a#1 by w1 => Watch n1/a#1", "51s tick => heartbeat n1", "51s rsp n1 6 => Watch n1/a#1")
}

func TestRow24MissingFirstHeartbeat(t *testing.T) {
	s := newWatchScript(t)
	s.run("0s watch n1/a#1 by w1 => Watch n1/a#1")
	sec, got := s.until(1, 100, nil)
	if sec < 10 || sec > 15 {
		t.Errorf("a node that never answered was noticed after %d s", sec)
	}
	if want := "heartbeat n1; quarantine n1 unknown; tell w1 end of n1/a#1 address"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.idle()
}

func TestRow24RestartOfThePeer(t *testing.T) {
	s := newWatchScript(t)
	s.run("0s watch n1/a#1 by w1 => Watch n1/a#1", "1s tick => heartbeat n1", "1s rsp n1 5 => Watch n1/a#1")
	s.run("2s tick => heartbeat n1", "2s rsp n1 6 => Watch n1/a#1") // and falls silent
	sec, got := s.until(3, 100, nil)
	if want := "heartbeat n1; quarantine n1 6; tell w1 end of n1/a#1 address"; got != want || sec > 20 {
		t.Errorf("%d s: got %s, want %s", sec, got, want)
	}
	s.idle()
}

// A cable pull of three seconds is nothing.
func TestWatchingBearsAPause(t *testing.T) {
	s := newWatchScript(t)
	s.run("0s watch n1/a#1 by w1 => Watch n1/a#1")
	if sec, got := s.until(1, 100, func(sec int) string {
		if sec%20 < 3 {
			return ""
		}
		return fmt.Sprintf("%d.01s rsp n1 5", sec)
	}); got != "" {
		t.Errorf("%d s: %s", sec, got)
	}
}

// When this process has stood still, nobody is dead before they had time to answer.
func TestWatchingAfterOwnPause(t *testing.T) {
	for _, alive := range []bool{true, false} {
		s := newWatchScript(t)
		s.run("0s watch n1/a#1 by w1 => Watch n1/a#1", "1s tick => heartbeat n1", "1s rsp n1 5 => Watch n1/a#1")
		s.run("60s tick => heartbeat n1")
		want := "61s tick => heartbeat n1; quarantine n1 5; tell w1 end of n1/a#1 address"
		if alive {
			s.do("60.1s rsp n1 5")
			want = "61s tick => heartbeat n1"
		}
		s.run(want)
	}
}

// One silent node does not concern another.
func TestWatchingNodesApart(t *testing.T) {
	s := newWatchScript(t)
	s.run("0s watch n2/a#1 by w1 => Watch n2/a#1", "0s watch n1/a#1 by w1 => Watch n1/a#1")
	for sec := 1; sec < 60; sec++ {
		got := s.do(fmt.Sprintf("%ds tick", sec))
		switch {
		case strings.Contains(got, "quarantine"):
			if want := "heartbeat n1; heartbeat n2; quarantine n2 unknown; tell w1 end of n2/a#1 address"; got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		case !strings.HasPrefix(got, "heartbeat n1"):
			t.Fatalf("%d s: %s", sec, got)
		}
		s.do(fmt.Sprintf("%d.01s rsp n1 5", sec))
	}
	if len(s.w.nodes) != 1 {
		t.Errorf("%d nodes", len(s.w.nodes))
	}
}

// Many Watches are not sent again all at once: the buffer of system messages is bounded.
func TestWatchingManyAgain(t *testing.T) {
	s := newWatchScript(t)
	const n = 2*rewatch + 10
	for i := range n {
		s.do(fmt.Sprintf("0s watch n1/a%d#1 by w1", i))
	}
	s.do("1s tick")
	var sent int
	for sec := 1; sec < 10; sec++ {
		got := s.do(fmt.Sprintf("%ds rsp n1 5", sec))
		if got == "" {
			break
		}
		some := strings.Count(got, "Watch ")
		if some > rewatch {
			t.Fatalf("%d at once", some)
		}
		sent += some
		if sec == 1 { // one that has gone meanwhile is not watched again
			s.do(fmt.Sprintf("1s unwatch n1/a%d#1 by w1", n-1))
		}
	}
	if sent != n-1 {
		t.Errorf("%d were sent again, want %d", sent, n-1)
	}
}

// Next is when there is something to do, and never before.
func TestWatchingNext(t *testing.T) {
	s := newWatchScript(t)
	s.idle()
	s.do("10s watch n1/a#1 by w1")
	for range 50 {
		now := s.w.next()
		if now < 11*time.Second || now > time.Minute {
			t.Fatalf("next %v", now)
		}
		if got := s.do(fmt.Sprintf("%s tick", now)); strings.Contains(got, "quarantine") {
			s.idle()
			return
		}
		if s.w.next() <= now {
			t.Fatalf("at %v the next time is %v", now, s.w.next())
		}
	}
	t.Fatal("the node is never given up")
}
