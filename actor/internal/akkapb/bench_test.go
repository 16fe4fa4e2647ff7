package akkapb

import "testing"

// The frame of RemotePingPong: 232 bytes.
const (
	pingTo       = "akka.tcp://SystemB@127.0.0.1:41234/remote/akka.tcp/SystemA@127.0.0.1:58231/user/echo0#1463514214"
	pingFrom     = "akka.tcp://SystemA@127.0.0.1:58231/user/benchmark0#1803429310"
	pingManifest = "System.String, System.Private.CoreLib"
)

func ping() *Outbound {
	return &Outbound{To: RecipientField([]byte(pingTo)), From: SenderField([]byte(pingFrom)), SerializerID: 17, Manifest: ManifestField(pingManifest)}
}

// BenchmarkCodec is the set of Akka.NET's Remoting/AkkaPduCodec benchmark, one operation each.
func BenchmarkCodec(b *testing.B) {
	o, body := ping(), []byte("hit")
	frame := o.AppendFrame(nil, Framing{}, body)
	if len(frame) != 232 {
		b.Fatalf("the frame has %d bytes", len(frame))
	}
	run := func(name string, f func() int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if f() < 0 {
					b.Fatal("failed")
				}
			}
		})
	}
	buf := make([]byte, 0, 512)
	run("write", func() int { return len(o.AppendFrame(buf, Framing{}, body)) })
	run("write by a serializer", func() int {
		d, m := o.AppendHead(buf, Framing{}, len(body))
		d = append(d, body...)
		return len(o.AppendTail(d, m))
	})
	run("write, size unknown", func() int {
		d, m := o.AppendHead(buf, Framing{}, 200)
		d = append(d, body...)
		return len(o.AppendTail(d, m))
	})
	var control AkkaControlMessage
	var con AckAndEnvelopeContainer
	run("decode PDU", func() int {
		p, err := DecodePDU(frame[HeaderSize:], &control)
		if err != nil {
			return -1
		}
		return len(p)
	})
	payload, err := DecodePDU(frame[HeaderSize:], &control)
	if err != nil {
		b.Fatal(err)
	}
	run("decode message", func() int {
		if con.Decode(payload) != nil {
			return -1
		}
		return len(con.Envelope.Recipient)
	})
	run("decode message, general", func() int {
		con = AckAndEnvelopeContainer{}
		if con.merge(payload) != nil {
			return -1
		}
		return len(con.Envelope.Recipient)
	})
	run("decode both", func() int {
		body, _, err := Framing{}.Next(frame)
		if err != nil {
			return -1
		}
		p, err := DecodePDU(body, &control)
		if err != nil || con.Decode(p) != nil {
			return -1
		}
		return len(con.Envelope.Recipient)
	})
	text := ""
	run("decode both and the payload", func() int {
		p, err := DecodePDU(frame[HeaderSize:], &control)
		if err != nil || con.Decode(p) != nil {
			return -1
		}
		text = string(con.Envelope.Message.Message)
		return len(text)
	})
}

// BenchmarkSizes writes bodies that a serializer appends: with the right size, and with a guess that makes
// them move.
func BenchmarkSizes(b *testing.B) {
	o := ping()
	for _, c := range []struct {
		name     string
		n, guess int
	}{{"16", 16, 16}, {"1K", 1024, 1024}, {"64K", 65536, 65536}, {"64K guessed 32K", 65536, 32768}, {"64K guessed 0", 65536, 0}} {
		body := make([]byte, c.n)
		buf := make([]byte, 0, 2*c.n+512)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(c.n))
			for b.Loop() {
				d, m := o.AppendHead(buf, Framing{}, c.guess)
				d = append(d, body...)
				o.AppendTail(d, m)
			}
		})
	}
}
