package akkapb

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var writeRecorded = flag.Bool("write-recorded", false, "choose testdata anew from the whole recordings")

// recorded is one line of the recordings: a whole frame, or a payload.
type recorded struct {
	Name         string `json:"name,omitempty"`
	SerializerID int32  `json:"serializerId,omitempty"`
	Manifest     string `json:"manifest,omitempty"`
	Payload      string `json:"payload,omitempty"`
	Frame        string `json:"frame,omitempty"`
}

func readRecorded(t testing.TB, path string) (out []recorded) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var r recorded
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Frame != "" || r.Name != "" {
			out = append(out, r)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return out
}

func testdata(t testing.TB) []recorded {
	return readRecorded(t, filepath.Join("testdata", "recorded.jsonl"))
}

// checkRecorded decodes what Akka.NET wrote, encodes it in every way we have, and returns its kind.
func checkRecorded(t *testing.T, r recorded) string {
	if r.Frame == "" {
		return checkBody(t, r.SerializerID, r.Manifest, unhex(t, r.Payload))
	}
	frame := unhex(t, r.Frame)
	body, n, err := Framing{}.Next(frame)
	if err != nil || n != len(frame) {
		t.Fatalf("%x: %d of %d bytes, %v", frame, n, len(frame), err)
	}
	if got := again(t, new(AkkaProtocolMessage), body); !bytes.Equal(got, body) {
		t.Errorf("AkkaProtocolMessage became\n%x\n%x", got, body)
	}
	var control AkkaControlMessage
	payload, err := DecodePDU(body, &control)
	if err != nil {
		t.Fatalf("%x: %v", frame, err)
	}
	if payload == nil {
		if got := (Framing{}).AppendControl(nil, &control); !bytes.Equal(got, frame) {
			t.Errorf("control message became\n%x\n%x", got, frame)
		}
		return "command " + strconv.Itoa(int(control.Command))
	}
	if got := again(t, new(AckAndEnvelopeContainer), payload); !bytes.Equal(got, payload) {
		t.Errorf("AckAndEnvelopeContainer became\n%x\n%x", got, payload)
	}
	var c AckAndEnvelopeContainer
	if err := c.Decode(payload); err != nil {
		t.Fatal(err)
	}
	if !c.HasEnvelope {
		if got := (Framing{}).AppendAck(nil, &c.Ack); !bytes.Equal(got, frame) {
			t.Errorf("acknowledgement became\n%x\n%x", got, frame)
		}
		return "ack"
	}
	if err := c.Envelope.Check(); err != nil {
		t.Error(err)
	}
	o := outboundOf(&c)
	for i, got := range everyWay(o, Framing{}, c.Envelope.Message.Message) {
		if !bytes.Equal(got, frame) {
			t.Errorf("way %d: became\n%x\n%x", i, got, frame)
		}
	}
	m := &c.Envelope.Message
	kind := checkBody(t, m.SerializerID, string(m.Manifest), m.Message)
	if c.HasAck {
		kind += " with ack"
	}
	if !c.Envelope.HasSender {
		kind += " without sender"
	}
	if o.Reliable {
		kind += " reliable"
	}
	return kind
}

func checkBody(t *testing.T, id int32, manifest string, body []byte) string {
	kind := strconv.Itoa(int(id)) + " " + manifest
	m := payloadMessage(id, manifest)
	if m == nil {
		return kind
	}
	if got := again(t, m, body); !bytes.Equal(got, body) {
		t.Errorf("%s %T became\n%x\n%x", kind, m, got, body)
	}
	switch m := m.(type) {
	case *SelectionEnvelope:
		if err := m.Decode(body); err != nil || !m.HasPayload {
			t.Fatalf("%v", err)
		}
		return kind + " of " + checkBody(t, m.Payload.SerializerID, string(m.Payload.Manifest), m.Payload.Message)
	case *DaemonMsgCreateData:
		if err := m.Decode(body); err != nil || m.Deploy.Config.SerializerID != 16 || string(m.Deploy.Config.Manifest) != "CF" || m.Deploy.StashCapacity != -1 {
			t.Errorf("%v: %+v", err, m.Deploy)
		}
		if d := &m.Deploy; d.Scope.SerializerID > 0 {
			checkBody(t, d.Scope.SerializerID, string(d.Scope.Manifest), d.Scope.Message)
		}
	}
	return kind
}

// outboundOf is the message to be sent that looks like one that has come.
func outboundOf(c *AckAndEnvelopeContainer) *Outbound {
	e := &c.Envelope
	o := &Outbound{To: RecipientField(e.Recipient), SerializerID: e.Message.SerializerID, Manifest: ManifestField(string(e.Message.Manifest))}
	if e.HasSender {
		o.From = SenderField(e.Sender)
	}
	if e.Seq != NoSeq {
		o.Reliable, o.Seq = true, e.Seq
	}
	if c.HasAck {
		o.Ack = &c.Ack
	}
	return o
}

// everyWay writes a frame with the body in hand, and by a serializer with the right size and with wrong
// guesses, behind another frame, into slices with and without room.
func everyWay(o *Outbound, f Framing, body []byte) (out [][]byte) {
	before := "another frame"
	out = append(out, o.AppendFrame([]byte(before), f, body)[len(before):], o.AppendFrameString(nil, f, string(body)))
	for _, n := range []int{len(body), 0, 1, 100, 127, 128, 16300, 16384} {
		for _, room := range []int{0, 4 * len(body)} {
			d := append(make([]byte, 0, room), before...)
			start := len(d)
			d, m := o.AppendHead(d, f, n)
			d = append(d, body...)
			d = o.AppendTail(d, m)
			if string(d[:start]) != before {
				panic("what was there before has changed")
			}
			out = append(out, d[start:])
		}
	}
	return out
}

// TestRecorded takes frames and payloads of Akka.NET 1.5.74, one of each kind.
func TestRecorded(t *testing.T) {
	all := testdata(t)
	if len(all) < 50 {
		t.Fatalf("only %d in testdata", len(all))
	}
	for _, r := range all {
		checkRecorded(t, r)
	}
}

// TestRecordedWhole does the same with all that was recorded.
func TestRecordedWhole(t *testing.T) {
	dir := os.Getenv("ACTUA_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "peers", "akka", "recorded")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the whole recordings are not here (%v); set ACTUA_SHARED to their folder", err)
	}
	seen, kept, frames := map[string]int{}, &strings.Builder{}, 0
	for _, name := range []string{"golden.jsonl", "two-nodes.jsonl"} {
		for _, r := range readRecorded(t, filepath.Join(dir, name)) {
			if r.Frame != "" {
				frames++
			}
			kind := checkRecorded(t, r)
			if r.Frame != "" {
				kind = "frame " + kind
			} else if payloadMessage(r.SerializerID, r.Manifest) != nil {
				kind += " " + r.Name
			}
			if seen[kind]++; seen[kind] > 1 || (r.Frame == "" && payloadMessage(r.SerializerID, r.Manifest) == nil) {
				continue
			}
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			kept.Write(append(line, '\n'))
		}
	}
	t.Logf("%d frames, kinds: %v", frames, seen)
	if *writeRecorded {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "recorded.jsonl"), []byte(kept.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTruncated cuts all that was recorded, and the golden frames, short at every byte: a frame is then
// not whole, and a message is malformed, or what came before the cut. Nothing panics.
func TestTruncated(t *testing.T) {
	all := append(testdata(t), recorded{Frame: goldenAssociate}, recorded{Frame: goldenHeartbeat}, recorded{Frame: goldenHit})
	malformed, shorter := 0, 0
	for _, r := range all {
		m := payloadMessage(r.SerializerID, r.Manifest)
		b := unhex(t, r.Payload)
		if r.Frame != "" {
			frame := unhex(t, r.Frame)
			for n := range frame {
				if body, size, err := (Framing{}).Next(frame[:n]); err != nil || size != 0 || body != nil {
					t.Fatalf("%d of %d bytes are a frame: %v", n, len(frame), err)
				}
			}
			body := frame[HeaderSize:]
			for n := range body {
				if _, err := DecodePDU(body[:n:n], new(AkkaControlMessage)); err == nil {
					t.Fatalf("%d of %d bytes are a PDU: %x", n, len(body), body)
				}
			}
			b, _ = DecodePDU(body, new(AkkaControlMessage))
			m = new(AckAndEnvelopeContainer)
		}
		if m == nil {
			continue
		}
		for n := range b {
			if err := m.Decode(b[:n:n]); err != nil {
				malformed++
				if !strings.HasPrefix(err.Error(), "malformed ") {
					t.Fatal(err)
				}
				continue
			}
			shorter++
			if got := m.Append(nil); !bytes.HasPrefix(b, got) {
				t.Fatalf("%T cut at %d became\n%x\n%x", m, n, got, b)
			}
		}
	}
	if malformed < 1000 || shorter < 50 {
		t.Errorf("%d malformed, %d shorter: the test does not test", malformed, shorter)
	}
}
