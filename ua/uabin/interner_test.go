package uabin

import (
	"bytes"
	"fmt"
	"testing"
)

func TestInternerOfManyStrings(t *testing.T) {
	var in Interner
	var ids [][]byte
	for i := range 100 {
		ids = append(ids, fmt.Appendf(nil, "Plant.Line%d.Speed", i))
	}
	round := func() {
		for _, b := range ids {
			if s := in.String(b); s != string(b) {
				t.Fatalf("%q is %q", b, s)
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations for 100 strings", n)
	}
	for i := range 10_000 { // more than fit
		b := fmt.Appendf(nil, "%d", i)
		if in.String(b) != string(b) {
			t.Fatal(i)
		}
	}
	round()
	if s := in.String(nil); s != "" {
		t.Errorf("%q", s)
	}
	long := bytes.Repeat([]byte("x"), internMax+1)
	if in.String(long) != string(long) {
		t.Error("a long string")
	}
}
