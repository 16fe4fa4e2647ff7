package remote

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// add adds a frame of n bytes as a connection does, where the estimate may be wrong.
func (o *outBuffer) add(frame []byte, estimate int) {
	o.makeRoom(estimate)
	o.last = append(o.last, frame...)
}

// Whatever comes in which order, all bytes leave in order, and are counted until they have been written.
func TestOutBufferKeepsOrderAndCount(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var o outBuffer
		var in, out []byte
		var writing [][]byte
		waiting := 0
		take := func() {
			buf := o.take()
			if len(buf) == 0 {
				t.Fatal("an empty piece")
			}
			out = append(out, buf...)
			writing = append(writing, buf)
		}
		for range 300 {
			switch k := rnd.IntN(10); {
			case k < 6:
				frame := make([]byte, 1+rnd.IntN([]int{300, 70_000, 300_000}[rnd.IntN(3)]))
				for i := 0; i < len(frame); i += 97 {
					frame[i] = byte(rnd.Uint32())
				}
				in = append(in, frame...)
				waiting += len(frame)
				o.add(frame, len(frame)*rnd.IntN(3)/2)
			case k < 8 && len(writing) > 0:
				waiting -= len(writing[0])
				o.giveBack(writing[0])
				writing = nil
			case len(writing) == 0 && !o.empty():
				take()
			}
			if o.waiting() != waiting {
				t.Fatalf("seed %d: %d bytes are said to wait, and %d do", seed, o.waiting(), waiting)
			}
		}
		for len(writing) > 0 || !o.empty() {
			if len(writing) > 0 {
				o.giveBack(writing[0])
				writing = nil
				continue
			}
			take()
		}
		if !bytes.Equal(in, out) || o.waiting() != 0 {
			t.Fatalf("seed %d: %d bytes went in, %d came out, %d wait", seed, len(in), len(out), o.waiting())
		}
		if cap(o.last) > keepOut || cap(o.spare) > keepOut {
			t.Fatalf("seed %d: %d and %d bytes are kept", seed, cap(o.last), cap(o.spare))
		}
	}
}

// A connection that is written all the time allocates nothing for it.
func TestOutBufferAllocates(t *testing.T) {
	var o outBuffer
	frame := make([]byte, 232)
	turn := func() {
		for range 50 {
			o.add(frame, 700)
		}
		o.giveBack(o.take())
	}
	turn()
	turn()
	if n := testing.AllocsPerRun(100, turn); n > 0 {
		t.Errorf("%v allocations a turn", n)
	}
}
