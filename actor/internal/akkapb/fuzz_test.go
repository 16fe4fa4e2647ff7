package akkapb

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// fuzzMessages is a fuzz target for kinds of messages: no panic, bounded memory, and the same
// understanding as the protobuf library's.
func fuzzMessages(f *testing.F, names ...string) {
	all := reference(f)
	for _, r := range testdata(f) {
		if r.Frame == "" {
			f.Add(unhex(f, r.Payload))
			continue
		}
		body := unhex(f, r.Frame)[HeaderSize:]
		f.Add(body)
		if p, err := DecodePDU(body, new(AkkaControlMessage)); err == nil && p != nil {
			f.Add(p)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range names {
			agree(t, name, all.ByName(protoreflect.Name(name)), b)
			bounded(t, name, b)
		}
	})
}

// bounded decodes b and looks at the memory of what came of it: pieces joined, and lists.
func bounded(t *testing.T, name string, b []byte) {
	var before, after runtime.MemStats
	if len(b) < 1<<10 {
		return
	}
	m := messages[name]()
	runtime.ReadMemStats(&before)
	_ = m.Decode(b)
	runtime.ReadMemStats(&after)
	// A list that grows by appending is allocated about five times over in sum.
	if n := after.TotalAlloc - before.TotalAlloc; n > 500*uint64(len(b))+1<<16 {
		t.Fatalf("%s: %d bytes allocated for %d bytes of input", name, n, len(b))
	}
}

func FuzzPDU(f *testing.F) {
	f.Add(unhex(f, goldenAssociate)[HeaderSize:])
	fuzzMessages(f, "AkkaProtocolMessage", "AkkaControlMessage", "AkkaHandshakeInfo", "AddressData")
}

func FuzzContainer(f *testing.F) {
	fuzzMessages(f, "AckAndEnvelopeContainer", "AcknowledgementInfo", "Payload", "ActorRefData")
}

func FuzzSelection(f *testing.F) { fuzzMessages(f, "SelectionEnvelope") }

func FuzzMisc(f *testing.F) {
	fuzzMessages(f, "Identify", "ActorIdentity", "RemoteWatcherHeartbeatResponse", "StatusSuccess", "RemoteScope")
}

func FuzzException(f *testing.F) {
	fuzzMessages(f, "ExceptionData", "StatusFailure", "FailedData", "CauseData")
}

func FuzzSystem(f *testing.F) {
	fuzzMessages(f, "WatchData", "SuperviseData", "DeathWatchNotificationData")
}

func FuzzDeploy(f *testing.F) { fuzzMessages(f, "DaemonMsgCreateData", "PropsData", "DeployData") }

func FuzzRouter(f *testing.F) {
	fuzzMessages(f, "FromConfig", "DefaultResizer", "GenericRoutingPool", "TailChoppingPool", "RemoteRouterConfig")
}

// FuzzUsual compares the short way of decoding an envelope with the general one.
func FuzzUsual(f *testing.F) {
	for _, r := range testdata(f) {
		if r.Frame != "" {
			if p, err := DecodePDU(unhex(f, r.Frame)[HeaderSize:], new(AkkaControlMessage)); err == nil && p != nil {
				f.Add(p)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameWays(t, b) })
}

func sameWays(t testing.TB, b []byte) {
	var x, y AckAndEnvelopeContainer
	if !x.usual(b) {
		return
	}
	if err := y.merge(b); err != nil {
		t.Fatalf("only the short way takes %x: %v", b, err)
	}
	e, g := &x.Envelope, &y.Envelope
	if x.HasAck || y.HasAck || !y.HasEnvelope || !x.HasEnvelope || e.HasRecipient != g.HasRecipient || e.HasMessage != g.HasMessage || e.HasSender != g.HasSender ||
		e.Seq != g.Seq || e.Message.SerializerID != g.Message.SerializerID || !bytes.Equal(e.Recipient, g.Recipient) || !bytes.Equal(e.Sender, g.Sender) ||
		!bytes.Equal(e.Message.Message, g.Message.Message) || !bytes.Equal(e.Message.Manifest, g.Message.Manifest) {
		t.Fatalf("%x is %+v the short way, %+v the general one", b, x, y)
	}
}

// FuzzFrames cuts a stream into frames, as a connection does: whatever the bytes, each step takes some of
// them, wants more, or ends with an error that names the length.
func FuzzFrames(f *testing.F) {
	for _, hex := range []string{goldenAssociate + goldenHeartbeat + goldenHit, "00000000" + goldenHeartbeat, "ffffffff", "fdf30100", "fcf30100", "00000080"} {
		f.Add(unhex(f, hex), false, 0)
		f.Add(unhex(f, hex), true, 32000)
	}
	f.Fuzz(func(t *testing.T, b []byte, big bool, limit int) {
		if limit < 0 {
			limit = -limit
		}
		fr := Framing{BigEndian: big, Max: limit}
		var control AkkaControlMessage
		var con AckAndEnvelopeContainer
		for {
			body, n, err := fr.Next(b)
			if err != nil {
				if e := err.(*FrameError); e.Length >= 0 && e.Length+HeaderSize <= int64(fr.max()) {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if n == 0 {
				if len(b) >= HeaderSize {
					if l, err := fr.Length(b); err != nil || len(b) >= l+HeaderSize {
						t.Fatalf("%d bytes are no frame of %d", len(b), l)
					}
				}
				return
			}
			if len(body) != n-HeaderSize || n > fr.max() {
				t.Fatalf("a frame of %d bytes has a body of %d", n, len(body))
			}
			if again := fr.AppendFrame(nil, body); !bytes.Equal(again, b[:n]) {
				t.Fatalf("%x became %x", b[:n], again)
			}
			if p, err := DecodePDU(body, &control); err == nil && p != nil {
				sameWays(t, p)
				_ = con.Decode(p)
			}
			b = b[n:]
		}
	})
}

// FuzzOutbound writes a message in all ways, and reads it.
func FuzzOutbound(f *testing.F) {
	f.Add([]byte(pingTo), []byte(pingFrom), []byte("hit"), pingManifest, int32(17), uint64(0), false, false)
	f.Add([]byte("a"), []byte{}, bytes.Repeat([]byte("x"), 130), "", int32(-5), uint64(0), true, true)
	f.Add([]byte("a"), []byte{}, bytes.Repeat([]byte("x"), 16390), "S", int32(300), uint64(9), true, true)
	f.Fuzz(func(t *testing.T, to, from, body []byte, manifest string, id int32, seq uint64, reliable, ack bool) {
		c := AckAndEnvelopeContainer{HasEnvelope: true, HasAck: ack, Ack: AcknowledgementInfo{CumulativeAck: seq, Nacks: []uint64{1, seq}}}
		c.Envelope = RemoteEnvelope{Recipient: to, HasRecipient: true, Message: Payload{body, id, []byte(manifest)}, HasMessage: true, Sender: from, HasSender: len(from) > 0, Seq: NoSeq}
		if reliable {
			c.Envelope.Seq = seq
		}
		fr := Framing{BigEndian: ack}
		con := c.Append(nil)
		want := fr.AppendFrame(nil, (&AkkaProtocolMessage{Payload: con}).Append(nil))
		o := outboundOf(&c)
		for i, got := range everyWay(o, fr, body) {
			if !bytes.Equal(got, want) {
				t.Fatalf("way %d:\n%x\n%x", i, got, want)
			}
		}
		if n := o.ContainerSize(len(body)); n != len(con) {
			t.Fatalf("ContainerSize is %d, not %d", n, len(con))
		}
		if got := again(t, new(AckAndEnvelopeContainer), con); !bytes.Equal(got, con) {
			t.Fatalf("became %x", got)
		}
		sameWays(t, con)
		nested := append(BeginField(nil, 1, int(uint8(id))*100), body...)
		nested = append(EndField(nested, 0, int(uint8(id))*100), "rest"...)
		if want := append(appendHead(nil, 1, len(body)), append(slices.Clone(body), "rest"...)...); !bytes.Equal(nested, want) {
			t.Fatalf("a nested field became %x", nested)
		}
	})
}

// TestNesting: groups and inner exceptions down to 100 levels.
func TestNesting(t *testing.T) {
	group := func(n int) []byte { return []byte(strings.Repeat("\xfb\x01", n) + strings.Repeat("\xfc\x01", n)) }
	inner := func(n int) []byte {
		b := []byte{}
		for range n {
			b = append(appendHead(nil, 5, len(b)), b...)
		}
		return b
	}
	var e ExceptionData
	for _, make := range []func(int) []byte{group, inner} {
		if err := e.Decode(make(100)); err != nil {
			t.Errorf("100 levels: %v", err)
		}
		for _, n := range []int{101, 102, 10000} {
			if err := e.Decode(make(n)); err == nil || !strings.Contains(err.Error(), badNesting) {
				t.Errorf("%d levels: %v", n, err)
			}
		}
	}
	if err := e.Decode(append(inner(50), inner(60)...)); err != nil {
		t.Errorf("two merged: %v", err)
	}
	if err := e.Decode([]byte("\x2a\x06\x2a\x04\x2a\x02\x0a\x09")); err == nil || !strings.Contains(err.Error(), "malformed ExceptionData: field 1") {
		t.Errorf("three levels down: %v", err)
	}
	if err := e.Decode([]byte("\x32\x07\x0a\x01k\x12\x02\x10\x01\x32\x07\x0a\x01k\x12\x02\x10\x02")); err != nil {
		t.Fatal(err)
	}
	if p, ok := e.Custom("k"); !ok || p.SerializerID != 2 {
		t.Errorf("the last custom field of a name counts: %+v", p)
	}
	if _, ok := e.Custom("no"); ok {
		t.Error("a custom field that is not there")
	}
	var in, in2 ExceptionData
	if err := e.Decode([]byte("\x0a\x01A\x2a\x03\x0a\x01B\x2a\x03\x12\x01C")); err != nil {
		t.Fatal(err)
	}
	if ok, err := e.DecodeInner(&in); !ok || err != nil || string(in.TypeName) != "B" || string(in.Message) != "C" {
		t.Errorf("two pieces: %v, %v, %+v", ok, err, in)
	}
	if ok, err := in.DecodeInner(&in2); ok || err != nil {
		t.Errorf("no inner one: %v, %v", ok, err)
	}
}
