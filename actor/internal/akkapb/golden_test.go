package akkapb

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	netEcho = "akka.tcp://NetSys@127.0.0.1:9000/user/echo"
	goActor = "akka.tcp://GoSys@127.0.0.1:9001/user/a#7"
)

func goSys() AddressData {
	return AddressData{System: []byte("GoSys"), Hostname: []byte("127.0.0.1"), Port: 9001, Protocol: []byte("tcp")}
}

func associate() *AkkaControlMessage {
	return &AkkaControlMessage{Command: CommandAssociate, HasHandshake: true, Handshake: AkkaHandshakeInfo{Origin: goSys(), HasOrigin: true, UID: 12345}}
}

const (
	goldenAssociate = "2b0000001229080112250a1a0a05476f53797312093132372e302e302e3118a9462203746370113930000000000000"
	goldenHeartbeat = "0400000012020803"
	goldenHit       = "730000000a71126f0a2c0a2a616b6b612e7463703a2f2f4e6574537973403132372e302e302e313a393030302f757365722f6563686f120a0a0368697410111a0153222a0a28616b6b612e7463703a2f2f476f537973403132372e302e302e313a393030312f757365722f61233729ffffffffffffffff"
	goldenWatch     = "0a2f0a2d616b6b612e7463703a2f2f4e6574537973403132372e302e302e313a393030302f757365722f6563686f233939122a0a28616b6b612e7463703a2f2f476f537973403132372e302e302e313a393030312f757365722f612337"
)

// TestGoldenControl writes and reads the control messages of section 11.
func TestGoldenControl(t *testing.T) {
	for name, c := range map[string]struct {
		m   *AkkaControlMessage
		hex string
	}{
		"associate":     {associate(), goldenAssociate},
		"heartbeat":     {&AkkaControlMessage{Command: CommandHeartbeat}, goldenHeartbeat},
		"disassociate":  {&AkkaControlMessage{Command: CommandDisassociate}, "0400000012020802"},
		"shutting down": {&AkkaControlMessage{Command: CommandDisassociateShuttingDown}, "0400000012020804"},
		"quarantined":   {&AkkaControlMessage{Command: CommandDisassociateQuarantined}, "0400000012020805"},
	} {
		want := unhex(t, c.hex)
		got := Framing{}.AppendControl(nil, c.m)
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x\n%x", name, got, want)
		}
		body, n, err := Framing{}.Next(append(want, 1, 2, 3))
		if err != nil || n != len(want) {
			t.Fatalf("%s: %d of %d bytes, %v", name, n, len(want), err)
		}
		var m AkkaControlMessage
		payload, err := DecodePDU(body, &m)
		if err != nil || payload != nil {
			t.Fatalf("%s: %v, payload %x", name, err, payload)
		}
		if !bytes.Equal((Framing{}).AppendControl(nil, &m), want) || m.Command != c.m.Command || m.Handshake.UID != c.m.Handshake.UID {
			t.Errorf("%s: became %+v", name, m)
		}
	}
}

// TestGoldenMessage writes and reads the "hit" of section 11.
func TestGoldenMessage(t *testing.T) {
	want := unhex(t, goldenHit)
	o := Outbound{To: RecipientField([]byte(netEcho)), From: SenderField([]byte(goActor)), SerializerID: 17, Manifest: ManifestField("S")}
	if got := o.AppendFrame(nil, Framing{}, []byte("hit")); !bytes.Equal(got, want) {
		t.Fatalf("\n%x\n%x", got, want)
	}
	var c AckAndEnvelopeContainer
	payload, err := DecodePDU(want[HeaderSize:], new(AkkaControlMessage))
	if err == nil {
		err = c.Decode(payload)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := &c.Envelope
	if string(e.Recipient) != netEcho || string(e.Sender) != goActor || e.Seq != NoSeq || c.HasAck || !e.HasSender || e.Check() != nil ||
		string(e.Message.Message) != "hit" || e.Message.SerializerID != 17 || string(e.Message.Manifest) != "S" {
		t.Errorf("%+v", c)
	}
}

// TestOlderForms: what .NET Framework and Akka.NET before 1.4.20 write, with the assembly mscorlib, and an
// exception from there, without field 7.
func TestOlderForms(t *testing.T) {
	want := unhex(t, "8b0000000a8801128501"+"0a2c0a2a"+goldenHit[24:24+84]+"12200a0368697410111a17"+"53797374656d2e537472696e672c206d73636f726c6962"+goldenHit[24+84+24:])
	o := Outbound{To: RecipientField([]byte(netEcho)), From: SenderField([]byte(goActor)), SerializerID: 17, Manifest: ManifestField("System.String, mscorlib")}
	for i, got := range everyWay(&o, Framing{}, []byte("hit")) {
		if !bytes.Equal(got, want) {
			t.Errorf("way %d\n%x\n%x", i, got, want)
		}
	}
	e := ExceptionData{TypeName: []byte("System.Exception, mscorlib"), Message: []byte("boom"), HasInner: true}
	want = unhex(t, "0a1a53797374656d2e457863657074696f6e2c206d73636f726c69621204626f6f6d2a00")
	if got := e.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("%x", got)
	}
	if got := again(t, &e, want); !bytes.Equal(got, want) {
		t.Errorf("became %x", got)
	}
}

// TestGoldenAcks: the pure acknowledgements of section 11; that of number 0 has no bytes.
func TestGoldenAcks(t *testing.T) {
	for _, c := range []struct {
		hex   string
		cum   uint64
		nacks []uint64
	}{
		{"0a00", 0, nil},
		{"0a09090500000000000000", 5, nil},
		{"0a1b090500000000000000121003000000000000000400000000000000", 5, []uint64{3, 4}},
	} {
		want := unhex(t, c.hex)
		m := AckAndEnvelopeContainer{HasAck: true, Ack: AcknowledgementInfo{CumulativeAck: c.cum, Nacks: c.nacks}}
		if got := m.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%x, want %x", got, want)
		}
		frame := Framing{}.AppendAck(nil, &m.Ack)
		payload, err := DecodePDU(frame[HeaderSize:], new(AkkaControlMessage))
		if err != nil || !bytes.Equal(payload, want) {
			t.Errorf("frame %x: %v", frame, err)
		}
		var d AckAndEnvelopeContainer
		if err := d.Decode(want); err != nil || !d.HasAck || d.HasEnvelope || d.Ack.CumulativeAck != c.cum || len(d.Ack.Nacks) != len(c.nacks) {
			t.Errorf("%s: %+v, %v", c.hex, d, err)
		}
	}
	var d AckAndEnvelopeContainer
	if err := d.Decode(nil); err != nil || d.HasAck || d.HasEnvelope {
		t.Errorf("an empty container holds nothing: %+v, %v", d, err)
	}
}

// TestGoldenBodies: the other payloads of section 11.
func TestGoldenBodies(t *testing.T) {
	name := func(s string) Selection { return Selection{SelectionChildName, []byte(s)} }
	for _, c := range []struct {
		m   message
		hex string
	}{
		{&SelectionEnvelope{HasPayload: true, Payload: Payload{SerializerID: 16, Manifest: []byte("ID")}, Pattern: []Selection{name("user"), name("echo")}},
			"0a0610101a024944120808021204757365721208080212046563686f"},
		{&SelectionEnvelope{HasPayload: true, Payload: Payload{SerializerID: 16, Manifest: []byte("RWHB")}, Pattern: []Selection{name("system"), name("remote-watcher")}},
			"0a0810101a0452574842120a0802120673797374656d12120802120e72656d6f74652d77617463686572"},
		{&WatchData{Watchee: []byte(netEcho + "#99"), HasWatchee: true, Watcher: []byte(goActor), HasWatcher: true}, goldenWatch},
		{&RemoteWatcherHeartbeatResponse{UID: 12345}, "08b960"},
		{&ActorIdentity{HasCorrelationID: true}, "0a00"},
		{&StatusSuccess{HasStatus: true}, "0a00"},
		{&ActorRefData{Path: []byte("nobody")}, "0a066e6f626f6479"},
		{&Payload{SerializerID: -5}, "10fbffffffffffffffff01"},
		{&DeployData{StashCapacity: -1}, "60ffffffffffffffffff01"},
		{&CauseData{HasCause: true}, "0a00"},
	} {
		want := unhex(t, c.hex)
		if got := c.m.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%T:\n%x\n%x", c.m, got, want)
		}
		if got := again(t, c.m, want); !bytes.Equal(got, want) {
			t.Errorf("%T: became\n%x\n%x", c.m, got, want)
		}
	}
}

// TestPDURules: what section 1.4 calls a codec error, and which part wins.
func TestPDURules(t *testing.T) {
	for name, c := range map[string]struct{ hex, want string }{
		"nothing":                  {"", "neither"},
		"empty payload":            {"0a00", "neither"},
		"only unknown fields":      {"1801", "neither"},
		"no command":               {"1200", "unknown command"},
		"command 0":                {"12020800", "unknown command"},
		"command 6":                {"12020806", "unknown command"},
		"command -1":               {"120b08ffffffffffffffffff01", "unknown command"},
		"associate, no handshake":  {"12020801", "ASSOCIATE without"},
		"associate, no origin":     {"120408011200", "ASSOCIATE without"},
		"broken instruction":       {"12020a05", "beyond the end"},
		"broken origin":            {"12080801120412020a05", ""},
		"payload, then heartbeat":  {"0a020a0012020803", "heartbeat"},
		"heartbeat, then payload":  {"120208030a020a00", "heartbeat"},
		"heartbeat in two pieces":  {"1200120208021200120208031200", "heartbeat"},
		"unknown fields around it": {"1a0101" + "250000000012020803" + "2b0801" + "2c", "heartbeat"},
	} {
		var m AkkaControlMessage
		payload, err := DecodePDU(unhex(t, c.hex), &m)
		if c.want == "heartbeat" {
			if err != nil || payload != nil || m.Command != CommandHeartbeat {
				t.Errorf("%s: %v, payload %x, %+v", name, err, payload, m)
			}
			continue
		}
		var d *DecodeError
		if !errors.As(err, &d) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEnvelopeCheck: what decodes, and ends an association all the same.
func TestEnvelopeCheck(t *testing.T) {
	for hex, want := range map[string]string{
		"1204" + "12021011":                         "no recipient",
		"1205" + "0a030a0161":                       "no message",
		"120d" + "0a030a0161" + "1202100122020a00":  "empty path",
		"120b" + "0a030a0161" + "12021001" + "2200": "empty path",
		"1209" + "0a030a0161" + "12021001":          "",
	} {
		var c AckAndEnvelopeContainer
		if err := c.Decode(unhex(t, hex)); err != nil {
			t.Fatalf("%s: %v", hex, err)
		}
		err := c.Envelope.Check()
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", hex, err, want)
		}
		if c.Envelope.Seq != 0 {
			t.Errorf("%s: without field 5 the number is %d, not 0", hex, c.Envelope.Seq)
		}
	}
}
