package testkit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

var day = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func panics(t *testing.T, message string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), message) {
			t.Errorf("panicked with %v, want %q", v, message)
		}
	}()
	f()
}

func TestVirtualTimeRejectsMistakes(t *testing.T) {
	v := NewVirtualTime(day)
	panics(t, "cannot go back by 1s", func() { v.Advance(-time.Second) })
	a := v.NewAlarm(func() { panics(t, "another Advance", func() { v.Advance(0) }) })
	a.Set(day)
	v.Advance(0)
	v.NewAlarm(func() { panic("of the user") }).Set(day)
	panics(t, "of the user", func() { v.Advance(ms) })
	done := make(chan struct{})
	v.NewAlarm(runtime.Goexit).Set(day)
	go func() { defer close(done); v.Advance(ms) }()
	<-done
	v.Advance(ms) // it still works
	if got := v.Now().Sub(day); got != ms {
		t.Errorf("now is %v", got)
	}
}

func TestVirtualTime(t *testing.T) {
	var zero VirtualTime
	if zero.Advance(ms); zero.Now() != (time.Time{}).Add(ms) {
		t.Errorf("the zero value is at %v", zero.Now())
	}
	v := NewVirtualTime(day)
	var got []string
	note := func(name string) func() {
		return func() { got = append(got, fmt.Sprint(name, " ", v.Now().Sub(day))) }
	}
	want := func(events string) {
		t.Helper()
		if s := strings.Join(got, ", "); s != events {
			t.Errorf("got %s, want %s", s, events)
		}
		got = nil
	}
	a, b, c := v.NewAlarm(note("a")), v.NewAlarm(note("b")), v.NewAlarm(note("c"))
	c.Set(day.Add(2 * ms))
	b.Set(day.Add(2 * ms))
	a.Set(day.Add(5 * ms))
	a.Set(day.Add(2 * ms)) // instead
	v.Advance(2*ms - 1)
	want("")
	v.Advance(1)
	want("a 2ms, b 2ms, c 2ms")
	v.Advance(time.Hour) // each goes off once
	want("")
	a.Set(day) // the past
	b.Set(v.Now().Add(ms))
	b.Stop()
	b.Stop()
	v.Advance(0)
	want("a 1h0m0.002s")
	v.Advance(ms)
	want("")

	// Two clocks of systems: what one sets for the other while time moves comes in order.
	a.Set(v.Now().Add(3 * ms))
	v.NewAlarm(func() {
		note("d")()
		b.Set(v.Now().Add(ms))
		c.Set(v.Now().Add(3 * ms))
	}).Set(v.Now().Add(ms))
	v.Advance(3 * ms)
	want("d 1h0m0.004s, b 1h0m0.005s, a 1h0m0.006s")
	v.Advance(ms)
	want("c 1h0m0.007s")
	if len(v.set) != 0 {
		t.Errorf("%d alarms are set", len(v.set))
	}
}
