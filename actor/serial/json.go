package serial

import "fmt"

// jsonSerializer is serializer 1: Newtonsoft.Json with Akka.NET's settings.
type jsonSerializer struct{ types *jsonTypes }

func (*jsonSerializer) ID() int32           { return jsonID }
func (*jsonSerializer) Manifest(any) string { return "" }

func (s *jsonSerializer) Append(dst []byte, msg any, x *Exchange) ([]byte, error) {
	w := x.out
	if w == nil {
		w = &jsonWriter{}
	}
	x.out = nil // should it be needed while it is in use
	*w = jsonWriter{buf: dst, x: x, types: s.types, limit: len(dst) + x.maxSize(), seen: w.seen[:0], held: w.held[:0]}
	w.any(msg)
	if w.ok() && string(w.buf[len(dst):]) == "null" {
		w.fail(fmt.Errorf("serial: a %T that is nil is no message", msg))
	}
	out, err := w.buf, w.err
	clear(w.seen)
	clear(w.held)
	if *w = (jsonWriter{seen: w.seen[:0], held: w.held[:0]}); cap(w.seen)+cap(w.held) < 4096 {
		x.out = w
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (s *jsonSerializer) Decode(b, _ []byte, x *Exchange) (any, error) {
	const (
		perByte = 64 // of memory, for a byte that came
		least   = 4096
	)
	r := x.in
	if r == nil {
		r = &jsonReader{}
	}
	x.in = nil
	*r = jsonReader{b: b, x: x, types: s.types, room: perByte*len(b) + least, refs: r.refs[:0], text: r.text[:0]}
	if len(b) >= 3 && string(b[:3]) == "\ufeff" {
		r.i = 3
	}
	msg := r.any(true)
	if r.err == nil && r.peek() != 0 || r.err == nil && r.i < len(b) {
		r.fail("more behind the end of the document")
	}
	err := r.err
	clear(r.refs)
	if *r = (jsonReader{refs: r.refs[:0], text: r.text[:0]}); cap(r.text) < 64<<10 && cap(r.refs) < 1024 {
		x.in = r
	}
	if err != nil {
		return nil, err
	}
	return msg, nil
}
