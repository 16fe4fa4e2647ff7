package serial_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/actua/actua/actor/serial"
)

// fuzz decodes what the fuzzer makes up for one serializer, and holds that to what the package promises: no panic, memory
// in proportion, and that what has been read can be written, and reads and writes the same again.
func fuzz(f *testing.F, id int32, manifests ...string) {
	r := register(f, serial.Options{})
	for _, g := range goldens(f) {
		if g.SerializerID == id {
			f.Add(g.Manifest, g.bytes)
		}
	}
	for _, m := range manifests {
		f.Add(m, []byte{})
		f.Add(m, []byte("\x0a\x03\x0a\x01a\x12\x00\x18\x01"))
	}
	x := exchange(r)
	f.Fuzz(func(t *testing.T, manifest string, body []byte) {
		const perByte, least = 400, 64 << 10
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		msg, err := r.Decode(id, []byte(manifest), body, x)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > perByte*uint64(len(body)+len(manifest))+least {
			t.Fatalf("%d bytes took %d bytes of memory", len(body), took)
		}
		if err != nil {
			if msg != nil && id != 16 && id != 22 {
				t.Fatalf("%#v and %v", msg, err)
			}
			return
		}
		out, id2, manifest2, err := r.Append(nil, msg, x)
		if err != nil {
			// A number that .NET has no room for comes in, but does not go out.
			t.Skip(err)
		}
		again, err := r.Decode(id2, []byte(manifest2), out, x)
		if err != nil {
			t.Fatalf("%#v was written as %q, which cannot be read: %v", msg, out, err)
		}
		out2, _, _, err := r.Append(nil, again, x)
		if err != nil || !bytes.Equal(out, out2) {
			t.Fatalf("%q, then %q, %v", out, out2, err)
		}
	})
}

func FuzzPrimitive(f *testing.F) { fuzz(f, 17, "S", "I", "L") }
func FuzzBytes(f *testing.F)     { fuzz(f, 4) }
func FuzzProtobuf(f *testing.F) {
	fuzz(f, 2, "Google.Protobuf.WellKnownTypes.Struct, Google.Protobuf", "Google.Protobuf.WellKnownTypes.Any, Google.Protobuf", "Google.Protobuf.WellKnownTypes.ListValue, Google.Protobuf")
}
func FuzzSelection(f *testing.F) { fuzz(f, 6) }
func FuzzDaemon(f *testing.F)    { fuzz(f, 3) }
func FuzzMisc(f *testing.F) {
	fuzz(f, 16, "ID", "AID", "AR", "PP", "K", "RWHB", "RWHR", "STS", "STF", "RS", "LS", "CF", "FC", "DR", "RORRP", "ROBP", "RORP", "ROCHP", "ROSGP", "ROTCP", "RORRC")
}
func FuzzSystem(f *testing.F) {
	for _, x := range []string{"Create", "Recreate", "Resume", "Suspend", "Terminate", "Supervise", "Watch", "Unwatch", "Failed", "DeathWatchNotification"} {
		f.Add("Akka.Dispatch.SysMsg."+x+", Akka", []byte("\x0a\x03\x0a\x01a\x12\x00"))
	}
	fuzz(f, 22)
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"$id":"1",` + outerType + `,"Inner":{"$id":"2","A":1},"Same":{"$ref":"2"},"Any":{"$ref":"2"},"Map":{"a":{"$ref":"2"}},"Items":[null,{"$ref":"2"}]}`,
		`{` + numbersType + `,"I":{"$":"I1"},"M":1e2,"T":"-1.02:03:04.5","DT":"2026-01-02T03:04:05","DO":"2026-01-02T03:04:05-02:30","C":"\ud800","O":[1,{}],"OL":{"$":"M1.0"},"By":[1,2]}`,
		`{"$type":"System.Collections.Generic.Dictionary` + "`" + `2[[System.String, mscorlib],[System.Object, mscorlib]], mscorlib","a":{"$":"F1.5"},"b":[],"c":{}}`,
		`[1,2]`, `{"a":[{"b":"\u00e4"}]}`, `"2026-01-02T03:04:05.1234567+01:00"`, `"\ud83d\ude00"`, `-1.5e3`, `null`,
		`{"$type":"Akka.Actor.Address+AddressSurrogate, Akka","Protocol":"akka","System":"a","Host":"b","Port":1}`,
	} {
		f.Add("", []byte(s))
	}
	fuzz(f, 1)
}
