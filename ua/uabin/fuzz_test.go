package uabin_test

import (
	"errors"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// fuzzLimits are small, so that the fuzzer gets beyond them.
var fuzzLimits = uabin.Limits{MaxString: 64, MaxByteString: 48, MaxArray: 32, MaxDepth: 4, MaxMemory: 4096}

// openWindow is a window that the program has not closed yet.
type openWindow struct {
	window uabin.Window
	end    int
	depth  int
}

// machine runs a program of reads and knows what must hold after each.
type machine struct {
	t       *testing.T
	r       *uabin.Reader
	in      []byte
	offset  int
	depth   int
	open    []openWindow
	copied  int // bytes of strings and byte strings
	memory  uintptr
	bytes   []byte
	numbers []int64
	names   []string
}

// end is the end of what may be read now.
func (m *machine) end() int {
	if n := len(m.open); n > 0 {
		return m.open[n-1].end
	}
	return len(m.in)
}

// array counts the memory of a slice that was made for the message, which is not old's.
func array[T any](m *machine, old []T, minSize int, size uintptr) []T {
	v := uabin.Slice(m.r, old, minSize)
	if v != nil && cap(v) > cap(old) {
		m.memory += uintptr(len(v)) * size
	}
	if len(v) > fuzzLimits.MaxArray || minSize > 0 && len(v)*minSize > m.r.Remaining() {
		m.t.Fatalf("array of %d elements of %d bytes in %d", len(v), minSize, m.r.Remaining())
	}
	return v
}

// step makes one read.
func (m *machine) step(op, arg byte) {
	r := m.r
	switch op % 20 {
	case 0:
		r.Bool()
	case 1:
		r.Uint8()
	case 2:
		r.Int8()
	case 3:
		r.Uint16()
	case 4:
		r.Int16()
	case 5:
		r.Uint32()
	case 6:
		r.Int32()
	case 7:
		r.Uint64()
	case 8:
		r.Float32()
	case 9:
		r.Float64()
	case 10:
		s := r.String()
		if m.copied += len(s); len(s) > fuzzLimits.MaxString {
			m.t.Fatalf("string of %d bytes", len(s))
		}
	case 11:
		m.bytes = r.Bytes(m.bytes)
		if m.copied += len(m.bytes); len(m.bytes) > fuzzLimits.MaxByteString {
			m.t.Fatalf("byte string of %d bytes", len(m.bytes))
		}
	case 12:
		if b := r.BorrowBytes(); cap(b) != len(b) || len(b) > fuzzLimits.MaxByteString {
			m.t.Fatalf("loan of %d bytes, capacity %d", len(b), cap(b))
		}
	case 13:
		if b := r.Borrow(int(int8(arg))); b != nil && len(b) != int(int8(arg)) {
			m.t.Fatalf("%d bytes instead of %d", len(b), int8(arg))
		}
	case 14:
		m.numbers = array(m, m.numbers, 8, 8)
	case 15:
		m.names = array(m, m.names, 0, 16)
	case 16:
		if r.Enter() {
			m.depth++
		}
	case 17:
		if m.depth > 0 {
			r.Leave()
			m.depth--
		}
	case 18:
		if n := int(int8(arg)); r.OK() {
			w := r.Narrow(n)
			if r.OK() {
				m.open = append(m.open, openWindow{w, r.Offset() + n, m.depth})
			}
		}
	case 19:
		m.widen()
	}
}

func (m *machine) widen() {
	n := len(m.open)
	if n == 0 {
		return
	}
	w := m.open[n-1]
	m.open = m.open[:n-1]
	whole := m.r.OK() && m.r.Offset() == w.end
	err := m.r.Widen(w.window)
	switch {
	case whole != (err == nil):
		m.t.Fatalf("window read as a whole: %t, error %v", whole, err)
	case errors.Is(err, limitsExceeded):
		if m.r.OK() {
			m.t.Fatal("the limit does not stick")
		}
	case !m.r.OK() || m.r.Offset() != w.end:
		m.t.Fatalf("%v at %d after a window that ends at %d: %v", m.r.Err(), m.r.Offset(), w.end, err)
	case err != nil:
		m.depth = w.depth
	}
}

func (m *machine) check() {
	r := m.r
	switch at, left := r.Offset(), r.Remaining(); {
	case at < m.offset || at > m.end() || left < 0 || at+left > m.end() || len(r.Rest()) != left:
		m.t.Fatalf("at %d after %d, %d left, %d in sight, the end is %d", at, m.offset, left, len(r.Rest()), m.end())
	case r.OK() != (r.Err() == nil) || r.OK() && at+left != m.end() || !r.OK() && left != 0:
		m.t.Fatalf("%v with %d left of %d", r.Err(), left, m.end()-at)
	case m.copied > len(m.in) || m.memory > uintptr(fuzzLimits.MaxMemory) || m.depth > fuzzLimits.MaxDepth:
		m.t.Fatalf("%d bytes copied of %d, %d of memory, depth %d", m.copied, len(m.in), m.memory, m.depth)
	case !r.OK() && !errors.Is(r.Err(), decodingError) && !errors.Is(r.Err(), limitsExceeded):
		m.t.Fatalf("an error without a status code: %v", r.Err())
	}
	m.offset = r.Offset()
}

// FuzzReader takes the first bytes as a program of reads, two bytes each, and the others as input.
func FuzzReader(f *testing.F) {
	program := func(in []byte, steps ...byte) []byte {
		return append(append([]byte{byte(len(steps) / 2)}, steps...), in...)
	}
	for _, p := range primitives() {
		for op := range byte(16) {
			f.Add(program(p.put(nil), op, 8), false)
		}
	}
	names := uabin.AppendString(uabin.AppendLen(nil, 1, false), "a")
	f.Add(program(names, 15, 0, 10, 0, 10, 0), true)
	f.Add(program(names, 18, 6, 18, 4, 5, 0, 19, 0, 6, 0, 19, 0, 1, 0), true)
	f.Add(program(names, 16, 0, 16, 0, 18, 8, 16, 0, 16, 0, 16, 0, 19, 0, 17, 0), false)
	f.Add(program([]byte{31, 0, 0, 0, 255, 255, 255, 255}, 15, 0, 14, 0, 11, 0), false)
	f.Add(program([]byte{255, 255, 255, 127}, 10, 0, 18, 255), false)
	f.Fuzz(func(t *testing.T, data []byte, intern bool) {
		if len(data) == 0 {
			return
		}
		n := min(2*int(data[0]), len(data)-1) / 2
		steps, in := data[1:1+2*n], data[1+2*n:]
		m := &machine{t: t, r: limited(in, fuzzLimits), in: in}
		if intern {
			m.r.Intern = new(uabin.Interner)
		}
		m.check()
		for i := 0; i < len(steps); i += 2 {
			m.step(steps[i], steps[i+1])
			m.check()
		}
		for len(m.open) > 0 {
			m.widen()
			m.check()
		}
	})
}
