package main

import (
	"slices"
	"testing"
)

func TestTakeAkka(t *testing.T) {
	out := "OSVersion: Unix 6.18\nNum clients, Total [msg], Msgs/sec, Total [ms], CPU [s], Alloc [B/msg]\n" +
		"    1,    40000,    22297,   1794.52,    1.49,    5528\n" +
		"[ERROR][12/01/2026] Disassociated\n   at Akka\n" +
		"   10,   400000,    77928,   5133.91,    5.29,    5096\r\n"
	var rec record
	if err := rec.takeAkka(out); err != nil {
		t.Fatal(err)
	}
	if rec.Msgs != 400000 || int(rec.Rate) != 77913 || rec.CPU != 5.29 || rec.Bytes != 5096 {
		t.Errorf("got %+v", rec)
	}
	for _, bad := range []string{"", "10, 5, 6", "   10,   400000,    -1,   0.00,    5.29,    5096"} {
		if new(record).takeAkka(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// The rows say who runs in them, and with which arguments.
func TestRemoteRows(t *testing.T) {
	for _, r := range rows {
		if got, want := !r.skip(akka), r.plan == "remote1"; got != want {
			t.Errorf("%s: Akka.NET runs: %v", r.title, got)
		}
		for _, g := range r.goals {
			if g.against != "" && r.skip(g.against) {
				t.Errorf("%s: a goal against %s, which does not run", r.title, g.against)
			}
		}
	}
	if got := akkaArgs("remote1 -n 30 -msgs 200000"); !slices.Equal(got, []string{"remote-ping-pong", "--clients", "30,30", "--per-client", "25000"}) {
		t.Errorf("got %q", got)
	}
}
