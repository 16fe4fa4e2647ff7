package akka

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"
)

// target starts the node that the raw peers talk to: ours, or what ACTUA_AKKA_RAW names. "dotnet" tests the tests.
func target(t *testing.T, args ...string) *node {
	t.Helper()
	return start(t, targetKind(), systemName("T"), args...)
}

func targetKind() kind {
	if s := os.Getenv("ACTUA_AKKA_RAW"); s != "" {
		return kind(s)
	}
	return golang
}

// TestOddFrames sends what a sound peer never sends. What ends the association on Akka.NET ends it here, what is only dropped there is dropped here.
func TestOddFrames(t *testing.T) {
	t.Parallel()
	n := target(t)
	_, hostPort, _ := strings.Cut(n.address, "@")
	_, port, _ := strings.Cut(hostPort, ":")
	echo := n.path("/user/echo")
	// The recipients and senders of a message from a raw peer.
	mail := func(r *raw, to string, m body, sender string) []byte {
		return payload(container(envelope(to, m, sender, noSeq)))
	}
	cases := []struct {
		name string
		pdu  func(r *raw) []byte
		ends bool // the association ends; else it lives
		said bool // with DISASSOCIATE
	}{
		{"recipient of another system", func(r *raw) []byte {
			return mail(r, "akka.tcp://Other@"+hostPort+"/user/collector", text("lost"), r.path("/user/a"))
		}, false, false},
		{"recipient under another name of the host", func(r *raw) []byte {
			return mail(r, "akka.tcp://"+n.name+"@localhost:"+port+"/user/collector", text("lost"), r.path("/user/a"))
		}, false, false},
		{"recipient on another port", func(r *raw) []byte {
			return mail(r, "akka.tcp://"+n.name+"@127.0.0.1:1/user/collector", text("lost"), r.path("/user/a"))
		}, false, false},
		{"no such recipient", func(r *raw) []byte { return mail(r, n.path("/user/nobody"), text("lost"), r.path("/user/a")) }, false, false},
		{"no such uid", func(r *raw) []byte { return mail(r, n.path("/user/collector#1"), text("lost"), r.path("/user/a")) }, false, false},
		{"unknown manifest", func(r *raw) []byte { return mail(r, echo, body{17, "X", []byte("x")}, r.path("/user/a")) }, false, false},
		{"unknown manifest of 16", func(r *raw) []byte { return mail(r, echo, body{16, "X", nil}, r.path("/user/a")) }, false, false},
		{"unknown serializer", func(r *raw) []byte { return mail(r, echo, body{99, "", []byte("x")}, r.path("/user/a")) }, false, false},
		{"negative serializer", func(r *raw) []byte { return mail(r, echo, body{-5, "x", []byte("x")}, r.path("/user/a")) }, false, false},
		{"null", func(r *raw) []byte { return mail(r, echo, body{0, "", nil}, r.path("/user/a")) }, false, false},
		{"unknown type in JSON", func(r *raw) []byte {
			return mail(r, echo, body{1, "", []byte(`{"$type":"No.Such, type","A":1}`)}, r.path("/user/a"))
		}, false, false},
		{"broken JSON", func(r *raw) []byte { return mail(r, echo, body{1, "", []byte(`{"$type":`)}, r.path("/user/a")) }, false, false},
		{"unknown protobuf message", func(r *raw) []byte { return mail(r, echo, body{2, "No.Such, type", nil}, r.path("/user/a")) }, false, false},
		{"short number", func(r *raw) []byte { return mail(r, echo, body{17, "L", []byte{1, 2}}, r.path("/user/a")) }, false, false},
		{"bad inner message", func(r *raw) []byte { return mail(r, echo, body{16, "STS", []byte{0xff}}, r.path("/user/a")) }, false, false},
		{"bad selection", func(r *raw) []byte { return mail(r, n.path("/"), body{6, "", []byte{0xff}}, r.path("/user/a")) }, false, false},
		{"bad deployment", func(r *raw) []byte { return mail(r, n.path("/remote"), body{3, "", []byte{0xff}}, r.path("/user/a")) }, false, false},
		{"empty frame", func(*raw) []byte { return nil }, false, false},
		{"second ASSOCIATE", func(r *raw) []byte { return r.associatePDU() }, false, false},
		{"heartbeat", func(*raw) []byte { return control(cmdHeartbeat) }, false, false},
		{"acknowledgement of nothing", func(*raw) []byte { return payload(bytesField(1, fixedField(1, 7))) }, false, false},
		{"sender in local form", func(r *raw) []byte { return mail(r, echo, text("x"), "akka://"+r.system+"/user/a") }, true, true},
		{"empty sender", func(*raw) []byte {
			return payload(container(join(bytesField(1, textField(1, echo)), bytesField(2, text("x").encode()), bytesField(4, nil), fixedField(5, noSeq))))
		}, true, true},
		{"sender that is no path", func(r *raw) []byte { return mail(r, echo, text("x"), "what is this") }, true, true},
		{"no message", func(r *raw) []byte {
			return payload(container(join(bytesField(1, textField(1, echo)), bytesField(4, textField(1, r.path("/user/a"))), fixedField(5, noSeq))))
		}, true, true},
		{"no recipient", func(r *raw) []byte {
			return payload(container(join(bytesField(2, text("x").encode()), bytesField(4, textField(1, r.path("/user/a"))), fixedField(5, noSeq))))
		}, true, true},
		{"undecodable container", func(*raw) []byte { return payload([]byte{0xff, 0xff, 0xff}) }, true, true},
		{"malformed system message", func(r *raw) []byte {
			return payload(container(envelope(echo, body{22, "Akka.Dispatch.SysMsg.Watch, Akka", []byte{0xff}}, r.path("/user/a"), 0)))
		}, true, true},
		{"unknown system message", func(r *raw) []byte {
			return payload(container(envelope(echo, body{22, "Akka.Dispatch.SysMsg.Nothing, Akka", nil}, r.path("/user/a"), 0)))
		}, true, true},
		{"undecodable PDU", func(*raw) []byte { return []byte{0xff, 0xff, 0xff} }, true, false},
		{"neither payload nor instruction", func(*raw) []byte { return varintField(9, 1) }, true, false},
		{"unknown command", func(*raw) []byte { return control(77) }, true, false},
		{"no command", func(*raw) []byte { return bytesField(2, nil) }, true, false},
		{"ASSOCIATE without information", func(*raw) []byte { return control(cmdAssociate) }, true, false},
		{"DISASSOCIATE", func(*raw) []byte { return control(cmdDisassociate) }, true, false},
		{"shutting down", func(*raw) []byte { return control(cmdShuttingDown) }, true, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := dialRaw(t, n)
			r.ask(r.conn)
			r.conn.send(c.pdu(r))
			if c.ends {
				r.conn.ends(c.said)
			} else {
				r.ask(r.conn)
			}
		})
	}
	n.refuse(t, 0, 0, "received", "value", "lost")
	t.Run("lengths", func(t *testing.T) { lengths(t, n) })
	t.Run("sizes", func(t *testing.T) { sizes(t, n) })
	t.Run("first frames", func(t *testing.T) { firstFrames(t, n) })
}

// lengths sends length fields that cannot be.
func lengths(t *testing.T, n *node) {
	for _, length := range []uint32{0xffffffff, 0x80000000, 0x7fffffff, 10 << 20} {
		r := dialRaw(t, n)
		if _, err := r.conn.Write(binary.LittleEndian.AppendUint32(nil, length)); err != nil {
			t.Fatal(err)
		}
		r.conn.ends(false)
	}
}

// sizes sends frames at the limit: 127996 bytes pass, more than 128000 need not.
func sizes(t *testing.T, n *node) {
	fill := func(r *raw, size int) []byte {
		m := func(k int) []byte {
			return payload(container(envelope(n.path("/user/echo"), text(strings.Repeat("y", k)), "", noSeq)))
		}
		return m(size - len(m(size)) + size)
	}
	r := dialRaw(t, n)
	b := fill(r, 127996)
	if len(b) != 127996 {
		t.Fatalf("the test made %d bytes", len(b))
	}
	r.conn.send(b)
	r.ask(r.conn)
	r.conn.send(fill(r, 128100))
	r.conn.ends(false)
}

// firstFrames says something else than ASSOCIATE first.
func firstFrames(t *testing.T, n *node) {
	for _, c := range []struct {
		name string
		pdu  []byte
		said bool
	}{
		{"heartbeat", control(cmdHeartbeat), true},
		{"payload", payload(container(envelope(n.path("/user/echo"), text("early"), "", noSeq))), true},
		{"DISASSOCIATE", control(cmdDisassociate), false},
		{"shutting down", control(cmdShuttingDown), false},
		{"quarantined", control(cmdQuarantined), false},
		{"undecodable", []byte{0xff}, false},
		{"HTTP", []byte("GET / HTTP/1.1\r\n\r\n"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := newRaw(t, n).dial()
			if c.name == "HTTP" {
				if _, err := conn.Write(c.pdu); err != nil {
					t.Fatal(err)
				}
			} else {
				conn.send(c.pdu)
			}
			conn.ends(c.said)
		})
	}
}

// TestSilentStranger connects and says nothing: the node gives up after its handshake time.
func TestSilentStranger(t *testing.T) {
	t.Parallel()
	n := target(t)
	conn := newRaw(t, n).dial()
	started := time.Now()
	conn.ends(true)
	if d := time.Since(started); d < 10*time.Second || d > 25*time.Second {
		t.Errorf("the node waited %v for a handshake, want 15 s", d)
	}
}

// TestRawForms sends every form in which a sender of any version may write a message, and judges the form of the answers.
func TestRawForms(t *testing.T) {
	t.Parallel()
	n := target(t)
	r := dialRaw(t, n)
	echo := n.path("/user/echo")
	number := []byte{0xfe, 0xff, 0xff, 0xff}
	long := append([]byte{0xfe, 0xff, 0xff, 0xff}, 0xff, 0xff, 0xff, 0xff)
	reading := `{"$id":"1","$type":"AkkaPeer.Reading, akka-peer","Tag":"t","Value":1.5,"Quality":{"$":"I192"},"Ticks":5,"Labels":{"$type":"System.String[], System.Private.CoreLib","$values":["a"]}}`
	for _, c := range []struct {
		name     string
		sent     body
		manifest string
		same     bool // the answer has the same bytes
	}{
		{"S", body{17, "S", []byte("hit")}, "System.String, System.Private.CoreLib", true},
		{"String mscorlib", body{17, "System.String, mscorlib", []byte("hit")}, "System.String, System.Private.CoreLib", true},
		{"String CoreLib", body{17, "System.String, System.Private.CoreLib", []byte("hit")}, "System.String, System.Private.CoreLib", true},
		{"I", body{17, "I", number}, "System.Int32, System.Private.CoreLib", true},
		{"Int32 mscorlib", body{17, "System.Int32, mscorlib", number}, "System.Int32, System.Private.CoreLib", true},
		{"Int32 CoreLib", body{17, "System.Int32, System.Private.CoreLib", number}, "System.Int32, System.Private.CoreLib", true},
		{"L", body{17, "L", long}, "System.Int64, System.Private.CoreLib", true},
		{"Int64 mscorlib", body{17, "System.Int64, mscorlib", long}, "System.Int64, System.Private.CoreLib", true},
		{"Int64 CoreLib", body{17, "System.Int64, System.Private.CoreLib", long}, "System.Int64, System.Private.CoreLib", true},
		{"bytes", body{4, "", []byte{0, 255}}, "", true},
		{"no bytes", body{4, "", nil}, "", true},
		{"protobuf", body{2, "Google.Protobuf.WellKnownTypes.StringValue, Google.Protobuf", textField(1, "hello")}, "Google.Protobuf.WellKnownTypes.StringValue, Google.Protobuf", true},
		{"reading", body{1, "", []byte(reading)}, "", true},
		{"reading with names of 1.4", body{1, "", []byte(strings.ReplaceAll(reading, "System.Private.CoreLib", "mscorlib"))}, "", false},
		{"list with names of 1.4", body{1, "", []byte("{\"$type\":\"System.Collections.Generic.List`1[[System.String, mscorlib]], mscorlib\",\"$values\":[\"a\"]}")}, "", false},
		{"double", body{1, "", []byte("1.5")}, "", true},
		{"bool", body{1, "", []byte("true")}, "", true},
		{"object without a type", body{1, "", []byte(`{"A":1}`)}, "", true},
		{"nobody", body{16, "AR", textField(1, "nobody")}, "AR", true},
		{"success", body{16, "STS", bytesField(1, body{17, "System.String, System.Private.CoreLib", []byte("ok")}.encode())}, "STS", true},
		{"success with names of 1.4", body{16, "STS", bytesField(1, body{17, "System.String, mscorlib", []byte("ok")}.encode())}, "STS", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asker := r.path("/temp/" + nextID())
			r.conn.send(payload(container(envelope(echo, c.sent, asker, noSeq))))
			r.conn.t = t
			l := r.conn.letter(10*time.Second, func(l *letter) bool { return l.to == asker })
			if l.body.id != c.sent.id || l.body.manifest != c.manifest || c.same && string(l.body.data) != string(c.sent.data) {
				t.Errorf("sent %d %s %q, got %s", c.sent.id, c.sent.manifest, c.sent.data, l)
			}
		})
	}
	r.conn.t = t
	t.Run("the golden frame", func(t *testing.T) {
		// An answer is, but for names, the frame of the specification: field 5 all ones, no field 3.
		l := r.once(t, echo, text("hit"))
		if l.raw.has(3) || !l.raw.has(5) || l.seq != noSeq || !strings.Contains(l.sender, "/user/echo#") {
			t.Errorf("the answer has fields %v: %s", l.raw, l)
		}
	})
	t.Run("recipient in local form", func(t *testing.T) { r.once(t, "akka://"+n.name+"/user/echo", text("local")) })
	t.Run("no sender", func(t *testing.T) {
		r.conn.send(payload(container(envelope(n.path("/user/collector"), text("from nobody"), "", noSeq))))
		n.expect(t, patience, "received", "value", "from nobody", "sender", containing("deadLetters"))
		r.conn.send(payload(container(envelope(echo, text("no answer"), "", noSeq))))
		r.ask(r.conn)
	})
	t.Run("identify", func(t *testing.T) {
		l := r.once(t, echo, body{16, "ID", nil})
		id, err := parse(l.body.data)
		// A missing id comes back as an empty payload, which must be there.
		if err != nil || l.body.manifest != "AID" || !id.has(1) || !strings.HasPrefix(string(id.bytes[2]), echo+"#") {
			t.Errorf("%s", l)
		}
	})
	t.Run("identify by selection", func(t *testing.T) {
		element := func(s string) []byte { return bytesField(2, join(varintField(1, 2), textField(2, s))) }
		l := r.once(t, n.path("/"), body{6, "", join(bytesField(1, body{16, "ID", nil}.encode()), element("user"), element("nobody"))})
		if id, err := parse(l.body.data); err != nil || l.body.manifest != "AID" || !id.has(1) || len(id.bytes[2]) != 0 {
			t.Errorf("%s", l)
		}
	})
	t.Run("heartbeat of a watcher", func(t *testing.T) {
		golden, _ := hex.DecodeString("0a0810101a0452574842" + "120a0802120673797374656d" + "12120802120e72656d6f74652d77617463686572")
		l := r.once(t, n.path("/"), body{6, "", golden})
		rsp, err := parse(l.body.data)
		if err != nil || l.body.id != 16 || l.body.manifest != "RWHR" || rsp.numbers[1] != uint64(n.uid) || withoutUID(l.sender) != n.path("/system/remote-watcher") {
			t.Errorf("uid %d: %s", n.uid, l)
		}
	})
	t.Run("heartbeat of the protocol", func(t *testing.T) {
		r := dialRaw(t, n)
		if p := r.conn.next(10 * time.Second); p == nil || p.command != cmdHeartbeat || hex.EncodeToString(p.raw) != "12020803" {
			t.Errorf("got %v", p)
		}
	})
}

// once sends a message and returns the answer.
func (r *raw) once(t *testing.T, to string, m body) *letter {
	t.Helper()
	asker := r.path("/temp/" + nextID())
	r.conn.t = t
	r.conn.send(payload(container(envelope(to, m, asker, noSeq))))
	return r.conn.letter(patience, func(l *letter) bool { return l.to == asker })
}
