package serial_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// TestRecorded reads each message that Akka.NET has written, and writes it again: serializer, manifest and bytes are
// the same, but where a Go type has another serializer than the .NET one.
func TestRecorded(t *testing.T) {
	r := register(t, serial.Options{})
	for _, g := range goldens(t) {
		t.Run(g.Name, func(t *testing.T) {
			msg, err := r.Decode(g.SerializerID, []byte(g.Manifest), g.bytes, exchange(r))
			if err != nil {
				t.Fatal(err)
			}
			switch g.Name {
			case "guid":
				// At the root nothing tells a Guid from a text; a text goes as a string.
				if msg != any("01020304-0506-0708-090a-0b0c0d0e0f10") {
					t.Fatalf("%v", msg)
				}
				msg = serial.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
			case "system failed", "system resume", "system recreate", "status failure":
				// checked below for what they hold
			}
			out, id, manifest, err := r.Append(nil, msg, exchange(r))
			if err != nil {
				t.Fatal(err)
			}
			if id != g.SerializerID || manifest != g.Manifest || string(out) != string(g.bytes) {
				t.Errorf("%T\nwritten:  %d %q %q\nrecorded: %d %q %q", msg, id, manifest, out, g.SerializerID, g.Manifest, g.bytes)
			}
		})
	}
}

// TestRecordedValues compares what the messages have become.
func TestRecordedValues(t *testing.T) {
	r := register(t, serial.Options{})
	echo := theNode().echo
	i8, i10 := int32(8), int64(10)
	remote, _ := actor.ParseAddress("akka.tcp://GoSys@127.0.0.1:9001")
	boom := &serial.RemoteError{TypeName: "System.InvalidOperationException, System.Private.CoreLib", Message: "boom", ForwardedFrom: "mscorlib"}
	want := map[string]any{
		"string hit": "hit", "string empty": "", "string unicode": "größe ✓ 漢字",
		"int 0": int32(0), "int 42": int32(42), "int -1": int32(-1), "int max": int32(2147483647), "int min": int32(-2147483648),
		"long 0": int64(0), "long 42": int64(42), "long min": int64(-1 << 63), "long max": int64(1<<63 - 1),
		"bytes empty": []byte{}, "bytes 00ff10": []byte{0, 255, 16},
		"actor ref": echo, "nobody": serial.Nobody{}, "identify null": actor.Identify{}, "identify string": actor.Identify{MessageID: "id-1"},
		"identify int": actor.Identify{MessageID: int32(7)}, "actor identity": actor.ActorIdentity{MessageID: "id-1", Subject: echo},
		"actor identity none": actor.ActorIdentity{MessageID: "id-1"}, "poison pill": actor.PoisonPill{}, "kill": actor.Kill{},
		"status success string": actor.StatusSuccess{Status: "ok"}, "status success null": actor.StatusSuccess{},
		"status failure": actor.StatusFailure{Cause: boom}, "remote scope": serial.RemoteScope{Node: remote}, "address": theNode().address,
		"local scope":       serial.LocalScope{},
		"selection":         serial.Selection{Message: "hit", Elements: []serial.SelectionElement{{serial.SelectChildName, "user"}, {serial.SelectChildName, "echo"}}},
		"selection pattern": serial.Selection{Message: int32(1), Elements: []serial.SelectionElement{{serial.SelectChildName, "user"}, {serial.SelectChildPattern, "ec*"}, {serial.SelectParent, ""}}},
		"reading":           Reading{Tag: "line1/press3/temperature", Value: 71.5, Quality: 192, Ticks: 638000000000000000, Labels: []string{"a", "b"}},
		"reading with ref":  Reading{Tag: "t", Labels: []string{}, ReplyTo: echo},
		"double in object":  1.5, "bool": true, "datetime": time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		"json numbers": Numbers{I: 7, NI: &i8, L: 9, NL: &i10, S: 11, B: 12, U: 13, UL: 14, F: 1.5, D: 2.5, M: "9.90", E: 5, O: int32(5), OL: int64(6), OD: 7.5,
			T: 90 * time.Second, DT: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), DO: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600)),
			G: serial.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, By: []byte{1, 2, 3}, C: 'x'},
		"json nested": Outer{Inner: &Inner{1}, Items: []*Inner{{2}, {3}}, Map: map[string]*Inner{"k": {4}}, Any: Inner{5}},
		"json record": Order{Name: "tea", Qty: 2, ID: 7, ReplyTo: echo},
		"int array":   []int32{1, 2, 3}, "string list": serial.List[string]{"x", "y"}, "dictionary": map[string]int32{"k": 1},
		"system watch": serial.Watch{Watchee: echo, Watcher: echo}, "system unwatch": serial.Unwatch{Watchee: echo, Watcher: echo},
		"system death watch notification": serial.DeathWatchNotification{Actor: echo, ExistenceConfirmed: true},
		"system terminate":                serial.Terminate{}, "system supervise": serial.Supervise{Child: echo, Async: true},
		"system failed": serial.Failed{Child: echo, Cause: boom, UID: 17}, "system suspend": serial.Suspend{},
		"system resume": serial.Resume{Cause: boom}, "system recreate": serial.Recreate{Cause: boom}, "system create": serial.Create{},
		"remote watcher heartbeat": serial.Heartbeat{}, "remote watcher heartbeat rsp": serial.HeartbeatRsp{UID: 12345},
		"daemon msg create": serial.DaemonMsgCreate{
			Props:  serial.Props{Class: "AkkaPeer.EchoActor, akka-peer", Deploy: serial.Deploy{Config: serial.Config(""), StashCapacity: -1}},
			Deploy: serial.Deploy{Config: serial.Config(""), Scope: serial.RemoteScope{Node: remote}, StashCapacity: -1},
			Path:   "akka.tcp://GoSys@127.0.0.1:9001/remote/akka.tcp/NetSys@127.0.0.1:9000/user/x", Supervisor: echo,
		},
	}
	for _, g := range goldens(t) {
		w, ok := want[g.Name]
		delete(want, g.Name)
		msg, err := r.Decode(g.SerializerID, []byte(g.Manifest), g.bytes, exchange(r))
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		if !ok {
			t.Logf("%s: %T", g.Name, msg)
			continue
		}
		// Zones with the same offset are not the same pointer.
		if n, ok := msg.(Numbers); ok && n.DO.Equal(w.(Numbers).DO) {
			n.DO = w.(Numbers).DO
			msg = n
		}
		if !reflect.DeepEqual(msg, w) {
			t.Errorf("%s:\ngot  %#v\nwant %#v", g.Name, msg, w)
		}
	}
	for name := range want {
		t.Errorf("%s has not been recorded", name)
	}
}

// TestOldForms reads the recorded messages as .NET Framework and Akka.NET 1.4 write them, with the assembly mscorlib, and
// writes them in this form (the Option Mscorlib).
func TestOldForms(t *testing.T) {
	r, old := register(t, serial.Options{}), register(t, serial.Options{Mscorlib: true})
	toOld := func(s string) string { return strings.ReplaceAll(s, "System.Private.CoreLib", "mscorlib") }
	n := 0
	for _, g := range goldens(t) {
		if g.SerializerID != 1 && g.SerializerID != 17 || g.Name == "guid" {
			continue
		}
		n++
		want, err := r.Decode(g.SerializerID, []byte(g.Manifest), g.bytes, exchange(r))
		if err != nil {
			t.Fatal(err)
		}
		manifest, body := toOld(g.Manifest), toOld(string(g.bytes))
		got, err := r.Decode(g.SerializerID, []byte(manifest), []byte(body), exchange(r))
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		if text, ok := got.(serial.JObject); ok && string(text) == body {
			continue
		}
		if !reflect.DeepEqual(got, want) && g.Name != "json numbers" { // a zone is a pointer
			t.Errorf("%s: %#v", g.Name, got)
		}
		if id, m, b := encode(t, old, got); id != g.SerializerID || m != manifest || b != body {
			t.Errorf("%s: %d %q %q", g.Name, id, m, b)
		}
	}
	if n < 25 {
		t.Errorf("only %d messages", n)
	}
}

// TestSizeHint: what is known exactly is exact.
func TestSizeHint(t *testing.T) {
	r := register(t, serial.Options{})
	for _, msg := range []any{"", "größe", []byte{1, 2}, int32(1), int64(1), 1, actor.Kill{}, serial.Terminate{}} {
		if _, _, body := encode(t, r, msg); len(body) != serial.SizeHint(msg) {
			t.Errorf("%#v: %d, has %d", msg, serial.SizeHint(msg), len(body))
		}
	}
	if serial.SizeHint(Reading{}) <= 0 {
		t.Error("nothing")
	}
	for _, msg := range []any{(*Order)(nil), []string(nil), map[string]int32(nil), actor.Address{}, actor.Path{}} {
		if out, _, _, err := r.Append([]byte("a"), msg, exchange(r)); err == nil || string(out) != "a" {
			t.Errorf("nil %T is written: %q", msg, out)
		}
	}
}
