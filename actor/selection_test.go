package actor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// treeSystem is a system of which everything that it publishes can be seen.
func treeSystem(t testing.TB, cfg Config) (*System, <-chan any) {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := NewSystem("t", cfg)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan any, 100_000)
	spyOn(s, func(m any) { events <- m })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, events
}

// spyOn has f called with all that the event stream of s publishes, on the publisher's goroutine.
func spyOn(s *System, f func(any)) { SubscribeFunc(s, f) }

// next is what comes out of a channel, which must not take long.
func next[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		panic("")
	}
}

// told is one message as an actor of grow got it.
type told struct {
	path string
	msg  any
}

// grow makes actors at paths below /user that report what they are told. A message of the type func(*Context)
// is called instead.
func grow(t testing.TB, s *System, paths ...string) (<-chan told, map[string]*Ref) {
	t.Helper()
	out := make(chan told, 100_000)
	refs := map[string]*Ref{}
	props := FromFunc(func(ctx *Context, msg any) {
		if f, ok := msg.(func(*Context)); ok {
			f(ctx)
			return
		}
		out <- told{ctx.Self().elements(), msg}
	})
	for _, p := range paths {
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			refs[p] = s.MustSpawn(props, p)
			continue
		}
		made := make(chan *Ref)
		refs[p[:i]].Tell(func(ctx *Context) { made <- ctx.MustSpawn(props, p[i+1:]) })
		refs[p] = next(t, made)
	}
	return out, refs
}

func mustSelect(t testing.TB, s *System, path string) *Selection {
	t.Helper()
	l, err := s.Select(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSelectBadPaths(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	long := strings.Repeat("x", 1<<20)
	for _, c := range [][2]string{
		{"", "the path is empty"},
		{"/user/**/x", "only be the last"},
		{"/user/a#1/b", "before the last"},
		{"/user/a#-1", "is not a number"},
		{"/user/a#", "is not a number"},
		{"/user/a#2147483648", "is not a number"},
		{"/user/a#x", "is not a number"},
		{"/user/#7", "without a name"},
		{"/user/a*#7", "cannot have a uid"},
		{"/user/a b", "no name has"},
		{"/user/é", "('é')"},
		{"/user/\x00", "no name has"},
		{"/user/\xff", "no name has"},
		{"/user/" + strings.Repeat("*/", 33), "more than 32 patterns"},
		{"akka://", "name is missing"},
		{"akka:///user", "name is missing"},
		{"akka://other/user", "another system than akka://t"},
		{"akka.tcp://t@host:1/user", "another system than akka://t"},
		{"http://t/user", "the protocol does not"},
		{"://t/user", "the protocol does not"},
		{"akka:/t/user", "two slashes"},
		{long + "://t/user", "the protocol does not"},
		{"/user/ " + long, "no name has"},
		{"/user/a#" + long, "is not a number"},
	} {
		l, err := s.Select(c[0])
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%.60q: %v, want %q", c[0], err, c[1])
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%.60q: the error has %d bytes", c[0], len(err.Error()))
		}
		if l != nil {
			t.Errorf("%.60q: a selection beside an error", c[0])
		}
	}
}

func TestSelectNobody(t *testing.T) {
	s, events := treeSystem(t, Config{})
	out, refs := grow(t, s, "a", "a/x", "b")
	me := refs["b"]
	for _, c := range [][2]string{
		{"/user/nobody", "/user/nobody"},
		{"/user/a/x/y/z", "/user/a/x/y/z"},
		{"user/a/q*", "/user/a/q*"},
		{"/user/a/x/*", "/user/a/x/*"},
		{"/user/a/x/**", "/user/a/x/**"},
		{"/user/a/x/../nobody", "/user/a/x/../nobody"},
		{"/user/?/../../nobody", "/user/?/../../nobody"}, // not silent: the ways have joined again... see below
		{"/user/a*/nobody", "/user/a*/nobody"},           // one match is no fan-out
		{"/deadLetters/x", "/deadLetters/x"},
		{"/temp/nobody", "/temp/nobody"},
		{"/temp/*", "/temp/*"},
		{"/user/a#1", "/user/a#1"},
	} {
		l := mustSelect(t, s, c[0])
		silent := strings.HasPrefix(c[0], "/user/?") // two matches: what is missing after them is skipped
		l.TellFrom(1, me)
		l.TellFrom(Identify{c[0]}, me)
		l.TellFrom(PoisonPill{}, me)
		if silent {
			continue
		}
		d, ok := next(t, events).(DeadLetter)
		if !ok || d.Message != 1 || d.Sender != me || d.Recipient.elements() != c[1] {
			t.Errorf("%s: %+v", c[0], d)
		}
		if x, ok := next(t, events).(SuppressedDeadLetter); !ok || x.Message != (PoisonPill{}) {
			t.Errorf("%s: %+v", c[0], x)
		}
		if m := next(t, out); m.path != "/user/b" || m.msg != (ActorIdentity{MessageID: c[0]}) {
			t.Errorf("%s: %+v", c[0], m)
		}
	}
	mustSelect(t, s, "/user/nobody").Tell(Identify{}) // has no sender: nobody to answer
	mustSelect(t, s, "/user/a").Tell(nil)
	if d, ok := next(t, events).(Dropped); !ok || d.Recipient != &s.root.ref {
		t.Errorf("%+v", d)
	}
	if len(events) != 0 || len(out) != 0 {
		t.Errorf("%d more events, %d more messages", len(events), len(out))
	}
}

func TestSelectFindsWhoMatches(t *testing.T) {
	s, events := treeSystem(t, Config{})
	out, refs := grow(t, s, "a", "a/x", "a/Xy", "a/y", "a/x/deep", "b", "b/x", "c", "plus+", "a/star*x")
	check := func(l *Selection, err error, want ...string) {
		t.Helper()
		if err != nil {
			t.Error(err)
			return
		}
		id := new(int)
		l.Tell(id)
		var got []string
		for range want {
			m := next(t, out)
			if m.msg != id {
				t.Errorf("%s: %+v", l, m)
			}
			got = append(got, m.path)
		}
		slices.Sort(got)
		for i := range want {
			want[i] = "/user/" + want[i]
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", l, got, want)
		}
		if len(out) != 0 {
			t.Errorf("%s: %d messages too many", l, len(out))
		}
	}
	for path, want := range map[string]string{
		"/user/a": "a", "user/a": "a", "/user//a/": "a", "akka://t/user/a": "a", "AKKA://t/user/a": "a",
		"/user/A*":                               "a", // case does not matter in patterns
		"/user/a/x":                              "a/x",
		"/user/a/X?":                             "a/Xy",
		"/user/a/x*":                             "a/x a/Xy",
		"/user/a/*X":                             "a/x a/star*x",
		"/user/a/star*x":                         "a/star*x",
		"/user/?":                                "a b c",
		"/user/*":                                "a b c plus+",
		"/user/plus+":                            "plus+",
		"/user/*/x":                              "a/x b/x",
		"/user/*/*/deep":                         "a/x/deep",
		"/user/**":                               "a b c plus+ a/x a/Xy a/y a/x/deep b/x a/star*x",
		"/user/a/**":                             "a/x a/Xy a/y a/x/deep a/star*x",
		"/u*/a/**":                               "a/x a/Xy a/y a/x/deep a/star*x",
		"/user/*/**":                             "a/x a/Xy a/y a/x/deep a/star*x b/x",
		"/user/a/../b":                           "b",
		"/../../user/b":                          "b", // the root is its own parent
		"/user/a/*/..":                           "a", // once, though several ways lead there
		"/user/*/*/..":                           "a b",
		"/user/*/*/../x":                         "a/x b/x",
		"/user/a/*/../../../user/*/x/..":         "a b",
		fmt.Sprintf("/user/a#%d", refs["a"].uid): "a",
		fmt.Sprintf("/user/a/x#%d", refs["a/x"].uid): "a/x",
		"/user/b#0": "b",
	} {
		l, err := s.Select(path)
		check(l, err, strings.Fields(want)...)
	}
	for path, want := range map[string]string{
		"x": "a/x", "../b/x": "b/x", "..": "", "../*": "a b c plus+", "/user/c": "c", "*": "a/x a/Xy a/y a/star*x",
		"akka://t/user/b": "b", "x/..": "a", "x/deep/../../y": "a/y",
	} {
		type made struct {
			l   *Selection
			err error
		}
		c := make(chan made, 1)
		refs["a"].Tell(func(ctx *Context) {
			l, err := ctx.Select(path)
			c <- made{l, err}
		})
		if m := next(t, c); path == ".." {
			if m.err != nil || m.l.String() != "/user/a/.." {
				t.Error(m.l, m.err)
			}
		} else {
			check(m.l, m.err, strings.Fields(want)...)
		}
	}
	if len(events) != 0 {
		t.Errorf("%+v", <-events)
	}
}

func TestSelectionSender(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	_, refs := grow(t, s, "a", "b")
	from := make(chan *Ref, 10)
	s.MustSpawn(FromFunc(func(ctx *Context, _ any) { from <- ctx.sender }), "who")
	l := mustSelect(t, s, "/user/who")
	l.Tell(1)
	if r := next(t, from); r != nil {
		t.Error(r)
	}
	l.TellFrom(1, refs["b"])
	if r := next(t, from); r != refs["b"] {
		t.Error(r)
	}
	refs["a"].Tell(func(ctx *Context) {
		own, _ := ctx.Select("../who")
		own.Tell(1)
		own.TellFrom(1, nil)
		ctx.TellSelection(l, 1)
	})
	for _, want := range []*Ref{refs["a"], nil, refs["a"]} {
		if r := next(t, from); r != want {
			t.Error(r, want)
		}
	}
}

func TestSelectionStops(t *testing.T) {
	s, events := treeSystem(t, Config{})
	out, refs := grow(t, s, "a", "a/x", "a/y", "b")
	// In order: what was sent before the pill is handled.
	mustSelect(t, s, "/user/a/x").Tell(1)
	mustSelect(t, s, "/user/a/*").Tell(PoisonPill{})
	if m := next(t, out); m != (told{"/user/a/x", 1}) {
		t.Errorf("%+v", m)
	}
	for _, p := range []string{"a/x", "a/y"} {
		w := newEndWaiter(refs[p])
		refs[p].tellSystem(&sysMsg{kind: sysWatch, ref: refs[p], other: &w.ref})
		next(t, w.done)
	}
	refs["a/x"].Tell(2)
	if d := next(t, events).(DeadLetter); d.Message != 2 {
		t.Errorf("%+v", d)
	}
	w := newEndWaiter(refs["b"])
	refs["b"].tellSystem(&sysMsg{kind: sysWatch, ref: refs["b"], other: &w.ref})
	mustSelect(t, s, "/user/b").Tell(Kill{})
	next(t, w.done)

	// A selection finds the next incarnation, one with a uid does not.
	old := fmt.Sprintf("/user/b#%d", refs["b"].uid)
	byName, byUID := mustSelect(t, s, "/user/b"), mustSelect(t, s, old)
	for s.user.children().get("b") != nil { // the guardian hears of the end a moment after the watchers may
		runtime.Gosched()
	}
	again, _ := grow(t, s, "b")
	byName.Tell(3)
	byUID.Tell(4)
	if m := next(t, again); m != (told{"/user/b", 3}) {
		t.Errorf("%+v", m)
	}
	if d := next(t, events).(DeadLetter); d.Message != 4 || d.Recipient.elements() != old {
		t.Errorf("%+v", d)
	}
}

func TestResolveOne(t *testing.T) {
	s, events := treeSystem(t, Config{})
	_, refs := grow(t, s, "a", "a/x", "a/y", "blocked")
	ctx, cancel := context.WithCancel(context.Background())
	gone := errors.New("changed my mind")
	ended, end := context.WithCancelCause(ctx)
	end(gone)
	if _, err := mustSelect(t, s, "/user/a").ResolveOne(ended); !errors.Is(err, ErrActorNotFound) || !errors.Is(err, gone) {
		t.Error(err)
	}
	for _, path := range []string{"/user/nobody", "/user/a/z*", "/user/*/z", "/user/?*/x/z", "/user/a/x/**", "/temp/x", "/deadLetters/y"} {
		r, err := mustSelect(t, s, path).ResolveOne(ctx)
		if r != nil || !errors.Is(err, ErrActorNotFound) || !strings.Contains(err.Error(), path) {
			t.Error(path, r, err)
		}
	}
	for path, want := range map[string]*Ref{
		"/": &s.root.ref, "akka://t": &s.root.ref, "/user": &s.user.ref, "/system": &s.system.ref, "/deadLetters": s.deadLetters,
		"/temp": s.tempDir, "/user/a": refs["a"], "/user/a/?": nil, "/temp/..": &s.root.ref, "/deadLetters/../user": &s.user.ref,
	} {
		r, err := mustSelect(t, s, path).ResolveOne(ctx)
		if err != nil || r == nil || want != nil && r != want {
			t.Error(path, r, err)
		}
	}

	// A pending ask.
	asked := make(chan *Ref, 1)
	refs["a"].Tell(func(ctx *Context) {
		AskThen(ctx, refs["a/x"], func(x *Context) { asked <- x.Sender() }, 0, func(*Context, any, error) {})
	})
	p := next(t, asked)
	if r, err := mustSelect(t, s, p.elements()).ResolveOne(ctx); err != nil || r != p {
		t.Error(p.elements(), r, err)
	}
	if r, err := mustSelect(t, s, p.elements()+"/../../user").ResolveOne(ctx); err != nil || r != &s.user.ref {
		t.Error(r, err)
	}
	mustSelect(t, s, p.elements()).Tell("the reply")

	// An actor that does not come to answer.
	enter, leave := make(chan struct{}), make(chan struct{})
	refs["blocked"].Tell(func(*Context) { close(enter); <-leave })
	next(t, enter)
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := mustSelect(t, s, "/user/blocked").ResolveOne(ctx); !errors.Is(err, ErrActorNotFound) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// One that does is enough, also if another does not, or stops before it can.
	if r, err := mustSelect(t, s, "/user/*").ResolveOne(context.Background()); err != nil || r != refs["a"] {
		t.Error(r, err)
	}
	found := make(chan error)
	go func() {
		_, err := mustSelect(t, s, "/user/blocke?").ResolveOne(context.Background())
		found <- err
	}()
	for refs["blocked"].c.depth() < 3 {
	}
	s.Stop(refs["blocked"])
	close(leave)
	if err := next(t, found); !errors.Is(err, ErrActorNotFound) || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(events) != 0 {
		t.Errorf("%+v", <-events)
	}
}

func TestResolveOneHasAskTimeout(t *testing.T) {
	s, _ := treeSystem(t, Config{AskTimeout: time.Millisecond})
	_, refs := grow(t, s, "blocked")
	enter, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	refs["blocked"].Tell(func(*Context) { close(enter); <-leave })
	next(t, enter)
	_, err := mustSelect(t, s, "/user/blocked").ResolveOne(context.Background())
	if !errors.Is(err, ErrActorNotFound) || !errors.Is(err, ErrAskTimeout) {
		t.Error(err)
	}
}

func TestResolveByPath(t *testing.T) {
	s, events := treeSystem(t, Config{})
	out, refs := grow(t, s, "a", "a/x")
	a := refs["a"]
	for _, c := range []struct {
		path []string
		uid  int32
		want *Ref
	}{
		{nil, 0, &s.root.ref}, {[]string{"user"}, 0, &s.user.ref}, {[]string{"user", "a"}, 0, a},
		{[]string{"user", "a"}, a.uid, a}, {[]string{"user", "a", "x"}, 0, refs["a/x"]}, {[]string{"deadLetters"}, 0, s.deadLetters},
		{[]string{"system"}, 0, &s.system.ref}, {[]string{"temp"}, 0, s.tempDir},
	} {
		if r := s.resolve(c.path, c.uid); r != c.want {
			t.Errorf("%v#%d is %s", c.path, c.uid, r.elements())
		}
	}
	for _, c := range []struct {
		path []string
		uid  int32
	}{
		{nil, 7}, {[]string{"user", "a"}, a.uid ^ 1}, {[]string{"user", "b"}, 0}, {[]string{"user", "b", "c"}, 9}, {[]string{"deadLetters"}, 7},
		{[]string{"user", "*"}, 0}, {[]string{"user", "a", ".."}, 0}, {[]string{"temp", "zz"}, 0}, {[]string{""}, 0},
	} {
		r, again := s.resolve(c.path, c.uid), s.resolve(c.path, c.uid)
		if r.c != nil || r.uid != c.uid || r.elements() != "/"+strings.Join(c.path, "/") {
			t.Errorf("%v#%d is %s", c.path, c.uid, r.elements())
		}
		if !r.Equal(again) || r.key() != again.key() {
			t.Errorf("%v#%d: two Refs differ", c.path, c.uid)
		}
		r.TellFrom(Identify{5}, a)
		if m := next(t, out); m.msg != (ActorIdentity{MessageID: 5}) {
			t.Errorf("%+v", m)
		}
		r.TellFrom(6, a)
		if d := next(t, events).(DeadLetter); d.Message != 6 || d.Recipient != r || d.Sender != a {
			t.Errorf("%+v", d)
		}
		a.Tell(func(ctx *Context) { ctx.Watch(r); ctx.Watch(again) })
		if m := next(t, out); m.msg != (Terminated{Ref: r}) {
			t.Errorf("%+v", m)
		}
		w := newEndWaiter(r)
		r.tellSystem(&sysMsg{kind: sysWatch, ref: r, other: &w.ref})
		next(t, w.done)
	}
	if len(out) != 0 {
		t.Errorf("%+v", <-out)
	}
}

// TestSelectionMessage has selections come as messages, as from another node.
func TestSelectionMessage(t *testing.T) {
	s, events := treeSystem(t, Config{})
	out, refs := grow(t, s, "a", "a/x")
	a := refs["a"]
	elements, reason := parseElements("x")
	if reason != "" {
		t.Fatal(reason)
	}
	a.Tell(1)
	a.Tell(&selectionMessage{msg: 2}) // for the anchor itself: stays in its place
	a.Tell(3)
	for want := 1; want <= 3; want++ {
		if m := next(t, out); m != (told{"/user/a", want}) {
			t.Errorf("%+v", m)
		}
	}
	a.Tell(&selectionMessage{msg: 4, elements: elements})
	if m := next(t, out); m != (told{"/user/a/x", 4}) {
		t.Errorf("%+v", m)
	}
	a.TellFrom(&selectionMessage{}, refs["a/x"])
	if d := next(t, events).(Dropped); d.Recipient != a || d.Sender != refs["a/x"] {
		t.Errorf("%+v", d)
	}
	a.Tell(&selectionMessage{msg: &selectionMessage{msg: PoisonPill{}}})
	w := newEndWaiter(a)
	a.tellSystem(&sysMsg{kind: sysWatch, ref: a, other: &w.ref})
	next(t, w.done)
	a.TellFrom(&selectionMessage{msg: 5, elements: elements}, &s.user.ref)
	if d := next(t, events).(DeadLetter); d.Message != 5 || d.Recipient.elements() != "/user/a/x" || d.Sender != &s.user.ref {
		t.Errorf("%+v", d)
	}
	a.Tell(&selectionMessage{msg: 6, elements: elements, fanOut: true})
	a.Tell(&selectionMessage{msg: 7})
	if d := next(t, events).(DeadLetter); d.Message != 7 || d.Recipient != a {
		t.Errorf("%+v", d)
	}
}

// elsewhere stands for an actor of another node.
type elsewhere struct{ got chan any }

func (e elsewhere) tell(_ *Ref, msg any, _ *Ref) { e.got <- msg }
func (elsewhere) tellSystem(*Ref, *sysMsg)       {}

func TestSelectionGoesOnElsewhere(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	far := elsewhere{make(chan any, 10)}
	anchor := s.newRef(far, "/user/far")
	for _, path := range []string{"x/y*", "*", ".."} {
		elements, _ := parseElements(path)
		l := &Selection{anchor: anchor, elements: elements}
		if n := l.deliver(nil, 1, nil); n != severalNodes {
			t.Error(n)
		}
		m := next(t, far.got).(*selectionMessage)
		if m.msg != 1 || m.fanOut || len(m.elements) != len(elements) || m.elements[0] != elements[0] {
			t.Errorf("%+v", m)
		}
	}
	if n := (&Selection{anchor: anchor}).deliver(nil, 1, nil); n != 1 || next(t, far.got) != 1 {
		t.Error(n)
	}
	// A tree of which one branch is elsewhere: the parent of a.
	_, refs := grow(t, s, "a", "b")
	refs["a"].c.parent = anchor // nothing else reads it now
	l := &Selection{anchor: refs["a"]}
	l.elements, _ = parseElements("../../?*/x")
	if n := l.deliver(nil, 1, nil); n != severalNodes {
		t.Error(n)
	}
	if m := next(t, far.got).(*selectionMessage); len(m.elements) != 3 || m.elements[1].kind != childPattern {
		t.Errorf("%+v", m)
	}
	l = mustSelect(t, s, "/user/?/../x")
	if n := l.deliver(nil, 1, nil); n != severalNodes {
		t.Error(n)
	}
	if m := next(t, far.got).(*selectionMessage); !m.fanOut || len(m.elements) != 1 {
		t.Errorf("%+v", m)
	}
	refs["a"].c.parent = &s.user.ref
}

func TestSelectionOverManyChildren(t *testing.T) {
	s, events := treeSystem(t, Config{})
	const n = 10_000
	out, refs := grow(t, s, "p", "other")
	refs["p"].Tell(func(ctx *Context) {
		for i := range n {
			ctx.MustSpawn(FromFunc(func(x *Context, msg any) { x.Forward(refs["other"]) }), fmt.Sprint("c", i))
		}
	})
	ready := make(chan struct{})
	refs["p"].Tell(func(*Context) { close(ready) })
	next(t, ready)
	for _, path := range []string{"/user/p/*", "/user/p/**", "/user/*/c*", "/user/p/C????", "/user/p/*/../*/../*"} {
		want := n
		if strings.Contains(path, "?") {
			want = n - 1000
		}
		if got := mustSelect(t, s, path).deliver(nil, path, nil); got != want {
			t.Errorf("%s: delivered to %d", path, got)
		}
		for range want {
			if m := next(t, out); m.msg != path {
				t.Fatalf("%s: %+v", path, m)
			}
		}
	}
	// As many patterns as there may be, each over all children, and all of it up and down again.
	path := "/user/p" + strings.Repeat("/*/..", maxPatterns)
	if got := mustSelect(t, s, path).deliver(nil, 1, nil); got != 1 {
		t.Errorf("delivered to %d", got)
	}
	next(t, out)
	if len(out)+len(events) != 0 {
		t.Error("too many messages")
	}
}

// TestSelectionDoesNotChase has a message of which each receiver makes more receivers.
func TestSelectionDoesNotChase(t *testing.T) {
	s, _ := treeSystem(t, Config{Dispatchers: map[string]DispatcherConfig{"here": {Kind: CallingThread}}})
	made := 0
	var p *Props
	p = FromFunc(func(ctx *Context, msg any) {
		made++
		for range 2 {
			ctx.MustSpawn(p, "")
		}
	}).WithDispatcher("here")
	s.MustSpawn(p, "first")
	for want := 1; want <= 7*3*3; want *= 3 { // 1, 1+2, 3+6: each time all there are get it and make two each
		before := made
		mustSelect(t, s, "/user/**").Tell(1)
		if made-before != want {
			t.Errorf("%d actors got the message, want %d", made-before, want)
		}
	}
}

// TestSelectionKeepsOrder has senders that reach the same actors by Ref, by name, by pattern and as anchor, while
// other actors come and go.
func TestSelectionKeepsOrder(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	const senders, each, receivers = 4, 2000, 3
	type mail struct{ from, n int }
	var wg sync.WaitGroup
	wg.Add(receivers)
	var refs []*Ref
	for i := range receivers {
		var last [senders]int
		total := 0
		refs = append(refs, s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
			m := msg.(mail)
			if m.n != last[m.from]+1 {
				t.Errorf("sender %d: %d after %d", m.from, m.n, last[m.from])
			}
			last[m.from] = m.n
			if total++; total == senders*each {
				wg.Done()
			}
		}), fmt.Sprint("r", i)))
	}
	stop := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() {
		for {
			r, err := s.Spawn(FromFunc(func(*Context, any) {}), "")
			if err != nil {
				return
			}
			w := newEndWaiter(r)
			r.tellSystem(&sysMsg{kind: sysWatch, ref: r, other: &w.ref})
			s.Stop(r)
			select {
			case <-w.done:
			case <-stop:
				return
			}
		}
	})
	defer churn.Wait()
	defer close(stop)
	send := func(from int, ctx *Context) {
		rng := rand.New(rand.NewPCG(uint64(from), 6))
		all, name := mustSelect(t, s, "/user/r*"), make([]*Selection, receivers)
		for i := range name {
			name[i] = mustSelect(t, s, fmt.Sprint("/user/r", i))
		}
		for n := 1; n <= each; n++ {
			m := mail{from, n}
			if rng.IntN(2) == 0 {
				if ctx != nil {
					ctx.TellSelection(all, m)
				} else {
					all.Tell(m)
				}
				continue
			}
			for i, r := range refs {
				switch k := rng.IntN(3); {
				case k == 0 && ctx != nil:
					ctx.Tell(r, m)
				case k == 0:
					r.Tell(m)
				case k == 1:
					name[i].Tell(m)
				default:
					r.Tell(&selectionMessage{msg: m})
				}
			}
		}
	}
	for from := range senders {
		if from%2 == 0 {
			go send(from, nil)
			continue
		}
		s.MustSpawn(FromFunc(func(ctx *Context, _ any) { send(from, ctx) }), "").Tell(1)
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	next(t, done)
}

func TestSelectionTellDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s, _ := treeSystem(t, Config{})
	done := make(chan struct{}, 1)
	s.MustSpawn(FromFunc(func(*Context, any) { done <- struct{}{} }), "a")
	l := mustSelect(t, s, "/user/../user/a")
	var msg any = l
	if a := testing.AllocsPerRun(1000, func() { l.Tell(msg); <-done }); a > 0 {
		t.Errorf("%.1f allocations", a)
	}
}

func FuzzSelect(f *testing.F) {
	for _, p := range []string{"/user/a", "akka://t/user/a*/../**", "../x#7", "a/*/?b/**", "", "/", "akka://", "**", "/user/*/../*/../*/.."} {
		f.Add(p)
	}
	s, _ := treeSystem(f, Config{})
	total := 3
	_, refs := grow(f, s, "a", "a/b", "a/c", "a/b/d", "b", "x")
	total += len(refs)
	f.Fuzz(func(t *testing.T, path string) {
		l, err := s.Select(path)
		if err != nil {
			if l != nil || len(err.Error()) > 1000 {
				t.Fatal(l, err)
			}
			return
		}
		again, err := s.Select(l.String())
		if err != nil || !slices.Equal(again.elements, l.elements) {
			t.Fatalf("%q is %q, which is %v, %v", path, l, again, err)
		}
		n := 0
		for _, e := range l.elements {
			if e.kind >= childPattern {
				n++
			}
		}
		if n > maxPatterns {
			t.Fatalf("%d patterns", n)
		}
		if n := l.deliver(nil, Identify{}, nil); n < 0 || n > total {
			t.Fatalf("%q: delivered to %d", path, n)
		}
	})
}

func FuzzLike(f *testing.F) {
	f.Add("a*b?c", "aXXbYc")
	f.Add("*a*a*a*b", strings.Repeat("a", 100))
	f.Add("**?", "x")
	f.Add("K", "k")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		for _, x := range []string{pattern, name} {
			if len(x) > 200 || strings.IndexFunc(x, func(r rune) bool { return r >= 0x80 || r < ' ' }) >= 0 {
				return
			}
		}
		expr := regexp.QuoteMeta(pattern)
		expr = strings.ReplaceAll(strings.ReplaceAll(expr, `\*`, ".*"), `\?`, ".")
		want := regexp.MustCompile("(?i)^" + expr + "$").MatchString(name)
		if got := like(pattern, name); got != want {
			t.Errorf("like(%q, %q) is %t", pattern, name, got)
		}
	})
}

func BenchmarkSelectionTell(b *testing.B) {
	s, _ := treeSystem(b, Config{})
	ref := s.MustSpawn(FromFunc(func(*Context, any) {}), "a")
	var msg any = ref
	b.Run("by-ref", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ref.Tell(msg)
		}
	})
	for _, path := range []string{"/user/a", "/user/a/../../user/a", "/user/a*"} {
		l := mustSelect(b, s, path)
		b.Run(strings.ReplaceAll(path[1:], "/", ","), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Tell(msg)
			}
		})
	}
}

func BenchmarkSelectionWildcard(b *testing.B) {
	s, _ := treeSystem(b, Config{})
	for range 10_000 {
		s.MustSpawn(FromFunc(func(*Context, any) {}), "")
	}
	l := mustSelect(b, s, "/user/*")
	b.ReportAllocs()
	for b.Loop() {
		l.Tell(1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/actor")
}
