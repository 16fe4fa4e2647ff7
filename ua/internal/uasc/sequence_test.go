package uasc

import (
	"math"
	"testing"

	"github.com/actua/actua/ua"
)

func TestSequenceRules(t *testing.T) {
	for _, c := range []struct {
		legacy     bool
		last, next uint32
		ok         bool
	}{
		{true, 5, 6, true},
		{true, 5, 5, false}, // repeated
		{true, 5, 7, false}, // skipped
		{true, 5, 4, false},
		{true, 5, 1, false},
		{true, wrapFloor, 1, false}, // too early to wrap
		{true, wrapFloor, wrapFloor + 1, true},
		{true, wrapFloor + 1, 1, true},
		{true, wrapFloor + 1, 0, true},
		{true, wrapFloor + 1, 1023, true},
		{true, wrapFloor + 1, 1024, false},
		{true, wrapFloor + 1, wrapFloor + 2, true},
		{true, math.MaxUint32, 0, true},
		{true, math.MaxUint32, 1, true},
		{false, 5, 6, true},
		{false, 5, 7, false},
		{false, math.MaxUint32 - 5, 1, false},
		{false, math.MaxUint32, 0, true},
		{false, math.MaxUint32, 1, false},
	} {
		s := sequence{legacy: c.legacy, started: true, last: c.last}
		if err := s.accept(c.next); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		} else if !c.ok {
			wantStatus(t, err, ua.BadSequenceNumberInvalid)
		}
	}
	for _, c := range []struct {
		legacy bool
		first  uint32
		ok     bool
	}{{true, 51, true}, {true, 0, true}, {false, 0, true}, {false, 1, false}} {
		if err := (&sequence{legacy: c.legacy}).accept(c.first); (err == nil) != c.ok {
			t.Errorf("first %+v: %v", c, err)
		}
	}
}

// TestSequencesAgree lets a sender run over the wrap and its receiver follow.
func TestSequencesAgree(t *testing.T) {
	for _, legacy := range []bool{true, false} {
		out, in := sequence{legacy: legacy}, sequence{legacy: legacy}
		for i := range 20 {
			n := out.next()
			if i == 0 && (n == 1) != legacy {
				t.Errorf("legacy %v begins at %d", legacy, n)
			}
			out.take(n)
			if err := in.accept(n); err != nil {
				t.Fatal(err)
			}
			if i == 5 {
				out.last, in.last = math.MaxUint32-1026, math.MaxUint32-1026
				if !legacy {
					out.last, in.last = math.MaxUint32-3, math.MaxUint32-3
				}
			}
		}
		if out.last > 20 {
			t.Errorf("legacy %v has not wrapped: %d", legacy, out.last)
		}
	}
}
