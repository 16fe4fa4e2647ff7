package akkapb

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// TestFrameLimit: the header counts (section 1.1; a live node took 127996 bytes and refused 127997).
func TestFrameLimit(t *testing.T) {
	for _, c := range []struct {
		limit, length int
		ok            bool
	}{{0, 127996, true}, {0, 127997, false}, {0, 128000, false}, {128000, 127996, true}, {32000, 31996, true}, {32000, 31997, false}, {0, 0, true}, {0, 1<<31 - 1, false}} {
		for _, big := range []bool{false, true} {
			f := Framing{BigEndian: big, Max: c.limit}
			head := make([]byte, 4)
			f.put(head, c.length)
			n, err := f.Length(head)
			if c.ok && (err != nil || n != c.length) {
				t.Errorf("%d of %d: %d, %v", c.length, c.limit, n, err)
			}
			var e *FrameError
			if !c.ok && (!errors.As(err, &e) || e.Length != int64(c.length) || !strings.Contains(err.Error(), "maximum-frame-size")) {
				t.Errorf("%d of %d: %v", c.length, c.limit, err)
			}
			if !c.ok {
				if _, _, err := f.Next(head); err == nil {
					t.Errorf("%d of %d is not found before the body comes", c.length, c.limit)
				}
			}
		}
	}
	for _, head := range []string{"ffffffff", "00000080"} {
		_, err := Framing{}.Length(unhex(t, head))
		if err == nil || !strings.Contains(err.Error(), "-") || !strings.Contains(err.Error(), "corrupted") {
			t.Errorf("%s: %v", head, err)
		}
	}
	if body, n, err := (Framing{}).Next(make([]byte, 4)); err != nil || n != 4 || len(body) != 0 {
		t.Errorf("an empty frame: %x, %d, %v", body, n, err)
	}
}

// TestMaxContainer: the largest container makes a frame of at most the limit, and one byte more does not.
func TestMaxContainer(t *testing.T) {
	if n := (Framing{}).MaxContainer(); n != 127992 {
		t.Errorf("of the default: %d", n)
	}
	for _, limit := range []int{10, 100, 134, 135, 136, 137, 16390, 16391, 16392, 16393, 16394, 32000, 2097160, 2097161, 2097162, 1 << 24} {
		n := Framing{Max: limit}.MaxContainer()
		if HeaderSize+sizeMessage(n) > limit || HeaderSize+sizeMessage(n+1) <= limit {
			t.Errorf("of %d: %d", limit, n)
		}
	}
	o := ping()
	body := bytes.Repeat([]byte("x"), 127992)
	for o.ContainerSize(len(body)) > (Framing{}).MaxContainer() {
		body = body[1:]
	}
	if frame := o.AppendFrame(nil, Framing{}, body); len(frame) != DefaultMaxFrame {
		t.Errorf("the largest frame has %d bytes", len(frame))
	}
}

// TestNoRoomToWriteBehind: a slice that Decode hands out cannot be appended to in place.
func TestNoRoomToWriteBehind(t *testing.T) {
	frame := ping().AppendFrame(nil, Framing{}, []byte("hit"))
	was := bytes.Clone(frame)
	body, _, _ := Framing{}.Next(frame)
	p, err := DecodePDU(body, new(AkkaControlMessage))
	var c AckAndEnvelopeContainer
	if err != nil || c.Decode(p) != nil {
		t.Fatal(err)
	}
	for _, s := range [][]byte{body, p, c.Envelope.Recipient, c.Envelope.Sender, c.Envelope.Message.Message, c.Envelope.Message.Manifest} {
		_ = append(s, "overwritten"...)
	}
	if !bytes.Equal(frame, was) {
		t.Error("the frame was overwritten")
	}
}

// TestAllocations: nothing is allocated by what runs for each message, nor by any decoder once its lists
// have grown.
func TestAllocations(t *testing.T) {
	none := func(name string, f func()) {
		t.Helper()
		f()
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	o, body, buf := ping(), []byte("hit"), make([]byte, 0, 1<<12)
	reliable := ping()
	reliable.Reliable, reliable.Seq, reliable.Ack = true, 7, &AcknowledgementInfo{CumulativeAck: 4, Nacks: []uint64{2, 3}}
	none("AppendFrame", func() { o.AppendFrame(buf, Framing{}, body) })
	none("AppendFrameString", func() { o.AppendFrameString(buf, Framing{}, "hit") })
	none("AppendFrame with an ack", func() { reliable.AppendFrame(buf, Framing{}, body) })
	none("AppendHead and AppendTail", func() {
		d, m := o.AppendHead(buf, Framing{}, 3)
		o.AppendTail(append(d, body...), m)
	})
	none("the same with a wrong guess", func() {
		d, m := o.AppendHead(buf, Framing{}, 300)
		o.AppendTail(append(d, body...), m)
	})
	none("AppendAck", func() { Framing{}.AppendAck(buf, reliable.Ack) })
	heartbeat := &AkkaControlMessage{Command: CommandHeartbeat}
	none("AppendControl", func() { Framing{}.AppendControl(buf, heartbeat) })
	var control AkkaControlMessage
	var con AckAndEnvelopeContainer
	for _, r := range testdata(t) {
		if r.Frame == "" {
			if m, b := payloadMessage(r.SerializerID, r.Manifest), unhex(t, r.Payload); m != nil {
				none(r.Name, func() {
					if m.Decode(b) != nil {
						t.Error("failed")
					}
					m.Append(buf)
				})
			}
			continue
		}
		frame := unhex(t, r.Frame)
		none("decoding "+r.Frame, func() {
			body, _, err := Framing{}.Next(frame)
			if err != nil {
				t.Error(err)
			}
			p, err := DecodePDU(body, &control)
			if err != nil || (p != nil && con.Decode(p) != nil) {
				t.Error("failed")
			}
		})
	}
}

// TestMemory: the costliest messages of the size of a frame. What a decoder keeps is at most 100 bytes for
// a byte of input, what it has allocated on the way there a few times that.
func TestMemory(t *testing.T) {
	fill := func(entry string) []byte { return []byte(strings.Repeat(entry, DefaultMaxFrame/len(entry))) }
	for _, c := range []struct{ name, entry string }{
		{"SelectionEnvelope", "\x12\x00"}, {"ExceptionData", "\x32\x00"}, {"ExceptionData", "\x2a\x00"}, {"ExceptionData", "\x2a\x02\x0a\x00"},
		{"RemoteRouterConfig", "\x12\x00"}, {"PropsData", "\x22\x00"}, {"PropsData", "\x2a\x00"}, {"PropsData", "\x30\x00"}, {"PropsData", "\x32\x01\x05"},
		{"PropsData", "\x38\x01"}, {"AcknowledgementInfo", "\x11abcdefgh"}, {"AcknowledgementInfo", "\x12\x08abcdefgh"}, {"AkkaProtocolMessage", "\x12\x02\x08\x03"},
	} {
		b := fill(c.entry)
		m := messages[c.name]()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := m.Decode(b); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		runtime.ReadMemStats(&after)
		if n := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(b)); n > 300 {
			t.Errorf("%s of %q: %.0f bytes allocated for a byte", c.name, c.entry, n)
		}
		keeps := 0
		switch m := m.(type) {
		case *SelectionEnvelope:
			keeps = cap(m.Pattern) * 32
		case *ExceptionData:
			keeps = cap(m.CustomFields)*88 + cap(m.Inner)
		case *RemoteRouterConfig:
			keeps = cap(m.Nodes) * 80
		case *PropsData:
			keeps = (cap(m.Args)+cap(m.Manifests))*24 + cap(m.SerializerIDs)*4 + cap(m.HasManifest)
		case *AcknowledgementInfo:
			keeps = cap(m.Nacks) * 8
		case *AkkaProtocolMessage:
			keeps = cap(m.Instruction)
		}
		if keeps > 100*len(b) {
			t.Errorf("%s of %q keeps %d bytes", c.name, c.entry, keeps)
		}
	}
}
