package serial_test

import (
	"testing"

	"github.com/actua/actua/actor/serial"
)

var (
	sinkBytes []byte
	sinkAny   any
)

// benchmark measures both ways of one message.
func benchmark(b *testing.B, msg any) {
	r := register(b, serial.Options{})
	x := exchange(r)
	body, id, manifest, err := r.Append(nil, msg, x)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Append", func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 4096)
		for b.Loop() {
			if sinkBytes, _, _, err = r.Append(buf, msg, x); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		m := []byte(manifest)
		for b.Loop() {
			if sinkAny, err = r.Decode(id, m, body, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkString(b *testing.B) { benchmark(b, "hit") }
func BenchmarkInt32(b *testing.B)  { benchmark(b, int32(42)) }
func BenchmarkInt64(b *testing.B)  { benchmark(b, int64(638000000000000000)) }
func BenchmarkBytes(b *testing.B)  { benchmark(b, make([]byte, 1024)) }
func BenchmarkReading(b *testing.B) {
	benchmark(b, Reading{Tag: "line1/press3/temperature", Value: 71.5, Quality: 192, Ticks: 638000000000000000, Labels: []string{"a", "b"}})
}
func BenchmarkReadingWithRef(b *testing.B) {
	benchmark(b, Reading{Tag: "line1/press3/temperature", Value: 71.5, Quality: 192, Ticks: 638000000000000000, ReplyTo: theNode().echo})
}
func BenchmarkWatch(b *testing.B) {
	benchmark(b, serial.Watch{Watchee: theNode().echo, Watcher: theNode().echo})
}
func BenchmarkSelection(b *testing.B) {
	benchmark(b, serial.Selection{Message: serial.Heartbeat{}, Elements: []serial.SelectionElement{{Kind: serial.SelectChildName, Matcher: "system"}, {Kind: serial.SelectChildName, Matcher: "remote-watcher"}}})
}
