package serial_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// TestMiscRefused: bytes that are no message of serializer 16 (row 27: an invalid manifest is refused, see TestUnknown).
func TestMiscRefused(t *testing.T) {
	r := register(t, serial.Options{})
	for _, c := range []struct{ manifest, body string }{
		{"ID", "\x0a"}, {"ID", "\x0a\x05ab"}, {"AID", "\x12\x03abc"}, {"AID", "\xff"}, {"AR", ""}, {"AR", "\x0a\x01x"}, {"AR", "\x0a"}, {"RWHR", "\x08"},
		{"RWHR", "\x08\xff\xff\xff\xff\x1f"}, {"STS", "\x0a\x04\x10\x63\x0a\x00"}, {"STS", "\x0a\x02\x10\x63"}, {"STF", "\x0a\x01"}, {"RS", ""}, {"RS", "\x0a\x00"}, {"RS", "\x0a\x03\x0a\x01a"},
		{"FC", "\x0a\x05"}, {"DR", "\x21"}, {"RORRP", "\x22\x02\x10\x63"}, {"ROSGP", "\x0a\x01"}, {"ROTCP", "\x1a\x05"}, {"RORRC", "\x12\x00"}, {"RORRC", "\x0a\x02\x10\x63"},
	} {
		if msg, err := r.Decode(16, []byte(c.manifest), []byte(c.body), exchange(r)); err == nil {
			t.Errorf("%s %x became %#v", c.manifest, c.body, msg)
		} else if !strings.Contains(err.Error(), c.manifest) {
			t.Errorf("%s %x: the error does not name the manifest: %v", c.manifest, c.body, err)
		}
	}
	x := exchange(r)
	x.Resolve = nil
	if _, err := r.Decode(16, []byte("AR"), []byte("\x0a\x0aakka://s/a"), x); err == nil {
		t.Error("a reference without anybody to resolve it")
	}
	deep := any("x")
	for range 100 {
		deep = actor.Identify{MessageID: deep}
	}
	if _, _, _, err := r.Append(nil, deep, exchange(r)); !errors.Is(err, serial.ErrTooDeep) {
		t.Errorf("deep: %v", err)
	}
}

// TestDeepMessage: a message in a message in a message, from outside.
func TestDeepMessage(t *testing.T) {
	r := register(t, serial.Options{})
	x := exchange(r)
	msg := any("x")
	for range 60 {
		msg = actor.StatusSuccess{Status: msg}
	}
	body, id, manifest, err := r.Append(nil, msg, x)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		inner := serial.Payload{SerializerID: id, Manifest: manifest, Message: body}
		if body, _, _, err = r.Append(nil, actor.StatusSuccess{Status: inner}, x); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Decode(16, []byte("STS"), body, x); !errors.Is(err, serial.ErrTooDeep) {
		t.Errorf("%v", err)
	}
	if _, err := r.Decode(17, []byte("S"), []byte("x"), x); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestMisc is section 10, row 27 (MiscMessageSerializerSpec).
func TestMisc(t *testing.T) {
	r := register(t, serial.Options{})
	echo := theNode().echo
	resizer := serial.DefaultResizer{LowerBound: 2, UpperBound: 4, PressureThreshold: 1, RampupRate: 0.2, BackoffThreshold: 0.3, BackoffRate: 0.1, MessagesPerResize: 10}
	full := serial.Pool{Instances: 15, Dispatcher: "my-dispatcher", UsePoolDispatcher: true, Resizer: resizer}
	few := serial.Pool{Instances: 15}
	address := theNode().address
	for _, c := range []struct {
		msg      any
		manifest string
		hex      string // "-": not compared
	}{
		{actor.Identify{MessageID: "message"}, "ID", "-"}, {actor.Identify{}, "ID", ""}, {actor.Identify{MessageID: int64(5)}, "ID", "-"}, {actor.Identify{MessageID: actor.Kill{}}, "ID", "0a0510101a014b"},
		{actor.ActorIdentity{MessageID: "m", Subject: echo}, "AID", "-"}, {actor.ActorIdentity{MessageID: "m"}, "AID", "-"}, {actor.ActorIdentity{}, "AID", "0a00"}, {actor.ActorIdentity{Subject: echo}, "AID", "-"},
		{echo, "AR", "-"}, {serial.Nobody{}, "AR", "0a066e6f626f6479"}, {actor.PoisonPill{}, "PP", ""}, {actor.Kill{}, "K", ""},
		{serial.Heartbeat{}, "RWHB", ""}, {serial.HeartbeatRsp{UID: 2147483647}, "RWHR", "08ffffffff07"}, {serial.HeartbeatRsp{UID: -34}, "RWHR", "08deffffffffffffffff01"},
		{actor.StatusSuccess{}, "STS", "0a00"}, {actor.StatusSuccess{Status: "ok"}, "STS", "-"}, {actor.StatusSuccess{Status: Inner{5}}, "STS", "-"}, {actor.StatusSuccess{Status: []byte{}}, "STS", "0a021004"},
		{actor.StatusFailure{}, "STF", "0a001200"}, {actor.StatusFailure{Cause: &serial.RemoteError{TypeName: "A, B", Message: "m"}, State: int32(7)}, "STF", "-"},
		{serial.RemoteScope{Node: address}, "RS", "-"},
		{serial.Config(""), "CF", ""}, {serial.Config("a = 1\nb { c = \"x\" }"), "CF", "-"},
		{serial.FromConfig{}, "FC", ""}, {serial.FromConfig{Dispatcher: "d"}, "FC", "120164"}, {serial.FromConfig{Resizer: resizer, Dispatcher: "d"}, "FC", "-"},
		{serial.DefaultResizer{}, "DR", ""}, {resizer, "DR", "08021004180121 9a9999999999c93f 29 333333333333d33f 31 9a9999999999b93f 380a"},
		{serial.RoundRobinPool{Pool: few}, "RORRP", "080f"}, {serial.RoundRobinPool{Pool: full}, "RORRP", "-"}, {serial.RoundRobinPool{}, "RORRP", ""},
		{serial.BroadcastPool{Pool: few}, "ROBP", "080f"}, {serial.BroadcastPool{Pool: full}, "ROBP", "-"},
		{serial.RandomPool{Pool: few}, "RORP", "080f"}, {serial.RandomPool{Pool: full}, "RORP", "-"},
		{serial.ConsistentHashingPool{Pool: few}, "ROCHP", "080f"}, {serial.ConsistentHashingPool{Pool: full}, "ROCHP", "-"},
		{serial.ScatterGatherPool{Pool: few, Within: 10 * time.Second}, "ROSGP", "0a02080f1202080a"}, {serial.ScatterGatherPool{Pool: full, Within: 1500 * time.Millisecond}, "ROSGP", "-"},
		{serial.TailChoppingPool{Pool: few, Within: 10 * time.Second, Interval: 2 * time.Second}, "ROTCP", "0a02080f1202080a1a020802"}, {serial.TailChoppingPool{Pool: full, Interval: time.Nanosecond}, "ROTCP", "-"},
		{serial.RemoteRouterConfig{Local: serial.RandomPool{Pool: few}, Nodes: []actor.Address{address, address}}, "RORRC", "-"},
	} {
		id, manifest, body := encode(t, r, c.msg)
		if id != 16 || manifest != c.manifest {
			t.Errorf("%#v: serializer %d, manifest %q", c.msg, id, manifest)
		}
		if want := strings.ReplaceAll(c.hex, " ", ""); c.hex != "-" && fmt.Sprintf("%x", body) != want {
			t.Errorf("%#v: %x, want %s", c.msg, body, want)
		}
		if got := decode(t, r, id, manifest, body); !reflect.DeepEqual(got, c.msg) {
			t.Errorf("\ngot  %#v\nwant %#v", got, c.msg)
		}
	}
	if got := decode(t, r, 16, "LS", ""); got != any(serial.LocalScope{}) {
		t.Errorf("%#v", got)
	}
}

// TestNobody is section 10, row 21: Nobody comes back as the one that stands for it.
func TestNobody(t *testing.T) {
	r := register(t, serial.Options{})
	x := exchange(r)
	x.Nobody = theNode().nobody
	body, id, manifest, err := r.Append(nil, x.Nobody, x)
	if err != nil || string(body) != "\x0a\x06nobody" {
		t.Fatalf("%q %v", body, err)
	}
	if got, err := r.Decode(id, []byte(manifest), body, x); err != nil || got != any(x.Nobody) {
		t.Errorf("%v, %v", got, err)
	}
	body, _, _, err = r.Append(nil, Order{ReplyTo: x.Nobody}, x)
	if err != nil || !strings.Contains(string(body), `"ReplyTo":{"$id":"2","$type":"Akka.Actor.Nobody+NobodySurrogate, Akka"}`) {
		t.Errorf("%s, %v", body, err)
	}
	if got, err := r.Decode(1, nil, body, x); err != nil || got.(Order).ReplyTo != x.Nobody {
		t.Errorf("%v, %v", got, err)
	}
	if got := decode(t, r, 1, "", string(body)).(Order); got.ReplyTo != nil {
		t.Errorf("%v", got)
	}
	for body, want := range map[string]any{
		`{"$type":"Akka.Actor.Nobody+NobodySurrogate, Akka"}`:                   serial.Nobody{},
		`{"$type":"Akka.Actor.IgnoreActorRef+IgnoreActorRefSurrogate, Akka"}`:   serial.IgnoreRef{},
		`{"$id":"1","$type":"Akka.Actor.LocalScope+LocalScopeSurrogate, Akka"}`: serial.LocalScope{},
	} {
		if got := decode(t, r, 1, "", body); got != want {
			t.Errorf("%s: %#v", body, got)
		}
	}
}

// TestUnknownIdentifyGoesBack: an Identify is answered with its id, understood or not (section 3.3).
func TestUnknownIdentifyGoesBack(t *testing.T) {
	r := register(t, serial.Options{})
	for _, p := range []serial.Payload{
		{SerializerID: 123, Manifest: "m", Message: []byte("abc")}, {SerializerID: -5, Manifest: "Shop.Order, Shop", Message: []byte{0}},
		{SerializerID: 1, Message: []byte(`{"$type":"X, Y","A":1}`)}, {SerializerID: 2, Manifest: "X, Y", Message: []byte{8, 1}}, {SerializerID: 16, Manifest: "??"},
	} {
		_, manifest, asked := encode(t, r, actor.Identify{MessageID: p})
		id := decode(t, r, 16, manifest, asked).(actor.Identify).MessageID
		if got, ok := id.(serial.Payload); !ok || got.SerializerID != p.SerializerID {
			t.Errorf("%#v became %#v", p, id)
		}
		if _, _, body := encode(t, r, actor.ActorIdentity{MessageID: id}); body != asked {
			t.Errorf("%x came back as %x (%#v)", asked, body, id)
		}
	}
	msg := decode(t, r, 16, "ID", "\x0a\x06\x0a\x02hi\x10\x63").(actor.Identify)
	if p, ok := msg.MessageID.(serial.Payload); !ok || p.SerializerID != 99 || string(p.Message) != "hi" {
		t.Fatalf("%#v", msg)
	}
	if _, err := msg.MessageID.(serial.Payload).Decode(exchange(r)); err == nil {
		t.Error("serializer 99 is there")
	}
	if v, err := (serial.Payload{SerializerID: 17, Manifest: "S", Message: []byte("a")}).Decode(exchange(r)); v != any("a") || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// TestReferencesCarryTheAddress is section 10, row 33 (SerializationTransportInformationSpec): references in messages
// are written with the address of the transport, wherever they stand.
func TestReferencesCarryTheAddress(t *testing.T) {
	r := register(t, serial.Options{})
	echo := theNode().echo
	path := "akka.tcp://NetSys@127.0.0.1:9000/user/echo#" + fmt.Sprint(echo.UID())
	for _, msg := range []any{
		echo, Order{ReplyTo: echo}, Outer{Any: echo}, actor.ActorIdentity{Subject: echo}, actor.StatusSuccess{Status: echo}, serial.Watch{Watchee: echo, Watcher: echo},
		serial.Selection{Message: Order{ReplyTo: echo}}, serial.DeathWatchNotification{Actor: echo}, []*actor.Ref{echo}, map[string]*actor.Ref{"a": echo}, echo.Path(),
		serial.DaemonMsgCreate{Props: serial.Props{Class: "A, B", Args: []any{echo}}, Path: "p", Supervisor: echo},
	} {
		if _, _, body := encode(t, r, msg); !strings.Contains(body, path) || strings.Contains(body, "akka://") {
			t.Errorf("%T: %q", msg, body)
		}
	}
	x := exchange(r)
	x.Address = actor.Address{}
	if body, _, _, err := r.Append(nil, echo, x); err != nil || !strings.Contains(string(body), "akka://NetSys/user/echo#") {
		t.Errorf("without an address: %q, %v", body, err)
	}
}

// TestSystemRefused: what is no system message.
func TestSystemRefused(t *testing.T) {
	r := register(t, serial.Options{})
	for name, bodies := range map[string][]string{
		"Watch":                  {"", "\x0a\x00", "\x0a\x00\x12\x00", "\x0a", "\x0a\x03\x0a\x01x\x12\x03\x0a\x01x"},
		"Unwatch":                {""},
		"DeathWatchNotification": {"", "\x10\x01", "\x0a\x03\x0a\x01x"},
		"Supervise":              {"", "\x10\x01"},
		"Failed":                 {"", "\x12\x00"},
		"Create":                 {"\x0a\x05"}, "Recreate": {"\x0a\x02\x0a\x05"}, "Resume": {"\x08"},
	} {
		for _, body := range bodies {
			if msg, err := r.Decode(22, []byte("Akka.Dispatch.SysMsg."+name+", Akka"), []byte(body), exchange(r)); err == nil {
				t.Errorf("%s %x became %#v", name, body, msg)
			}
		}
	}
	for _, msg := range []any{serial.Watch{}, serial.Watch{Watchee: theNode().echo}, serial.Unwatch{}, serial.DeathWatchNotification{}, serial.Supervise{}, serial.Failed{}} {
		if out, _, _, err := r.Append([]byte("a"), msg, exchange(r)); err == nil || string(out) != "a" {
			t.Errorf("%#v is written: %q", msg, out)
		}
	}
}

// TestSystem is section 10, row 28 (SystemMessageSerializationSpec).
func TestSystem(t *testing.T) {
	r := register(t, serial.Options{})
	echo := theNode().echo
	cause := &serial.RemoteError{TypeName: "System.Exception, mscorlib", Message: "x"}
	for _, msg := range []any{
		serial.Create{}, serial.Create{Cause: cause}, serial.Recreate{}, serial.Recreate{Cause: cause}, serial.Suspend{}, serial.Resume{}, serial.Resume{Cause: cause}, serial.Terminate{},
		serial.Supervise{Child: echo}, serial.Supervise{Child: echo, Async: true}, serial.Watch{Watchee: echo, Watcher: echo}, serial.Unwatch{Watchee: echo, Watcher: echo},
		serial.Failed{Child: echo, Cause: cause, UID: 1 << 40}, serial.Failed{Child: echo}, serial.DeathWatchNotification{Actor: echo}, serial.DeathWatchNotification{Actor: echo, ExistenceConfirmed: true, AddressTerminated: true},
	} {
		id, manifest, body := encode(t, r, msg)
		if id != 22 || manifest != "Akka.Dispatch.SysMsg."+reflect.TypeOf(msg).Name()+", Akka" || !serial.IsSystemMessage(msg) {
			t.Errorf("%#v: %d %q", msg, id, manifest)
		}
		if got := decode(t, r, id, manifest, body); !reflect.DeepEqual(got, msg) {
			t.Errorf("%#v became %#v", msg, got)
		}
	}
	if serial.IsSystemMessage(actor.PoisonPill{}) {
		t.Error("PoisonPill is an ordinary message")
	}
}

// TestSelection is section 10, row 30 (MessageContainerSerializerSpec): names, patterns, parents.
func TestSelection(t *testing.T) {
	r := register(t, serial.Options{})
	for _, body := range []string{"", "\x0a", "\x12\x02\x08\x01", "\x0a\x02\x10\x63", "\x0a\x00\x12\x02\x08\x09", "\x0a\x00\x12\x00"} {
		if msg, err := r.Decode(6, nil, []byte(body), exchange(r)); err == nil {
			t.Errorf("%x became %#v", body, msg)
		}
	}
	if _, _, _, err := r.Append(nil, serial.Selection{Message: "x", Elements: []serial.SelectionElement{{Kind: 4}}}, exchange(r)); err == nil {
		t.Error("an unknown kind is sent")
	}
	for _, msg := range []serial.Selection{
		{Message: actor.Identify{}, Elements: []serial.SelectionElement{{serial.SelectChildName, "user"}, {serial.SelectChildPattern, "a*?"}, {serial.SelectParent, ""}}},
		{Message: Inner{1}, Elements: []serial.SelectionElement{}},
		{Message: serial.Selection{Message: "in", Elements: []serial.SelectionElement{{serial.SelectParent, ""}}}, Elements: []serial.SelectionElement{{serial.SelectChildName, "a"}}},
	} {
		id, _, body := encode(t, r, msg)
		if got := decode(t, r, id, "", body); !reflect.DeepEqual(got, msg) {
			t.Errorf("%#v became %#v", msg, got)
		}
	}
	// section 11
	for msg, want := range map[any]string{
		actor.Identify{}:   "0a0610101a024944" + "120808021204757365721208080212046563686f",
		serial.Heartbeat{}: "0a0810101a0452574842" + "120a0802120673797374656d12120802120e72656d6f74652d77617463686572",
	} {
		path := []serial.SelectionElement{{serial.SelectChildName, "user"}, {serial.SelectChildName, "echo"}}
		if _, ok := msg.(serial.Heartbeat); ok {
			path = []serial.SelectionElement{{serial.SelectChildName, "system"}, {serial.SelectChildName, "remote-watcher"}}
		}
		if _, _, body := encode(t, r, serial.Selection{Message: msg, Elements: path}); fmt.Sprintf("%x", body) != want {
			t.Errorf("%T: %x", msg, body)
		}
	}
}

// TestDaemon is section 10, row 32 (DaemonMsgCreateSerializerSpec): class, arguments, deployment and router.
func TestDaemon(t *testing.T) {
	r := register(t, serial.Options{})
	echo := theNode().echo
	for _, body := range []string{"", "\x0a", "\x0a\x00", "\x0a\x03\x1a\x01C", "\x0a\x06\x1a\x01C\x22\x01a\x1a\x01p\x22\x05\x0a\x03abc"} {
		if msg, err := r.Decode(3, nil, []byte(body), exchange(r)); err == nil {
			t.Errorf("%x became %#v", body, msg)
		}
	}
	for _, msg := range []serial.DaemonMsgCreate{{}, {Props: serial.Props{Class: "A, B"}, Path: "p"}, {Props: serial.Props{Class: "A, B", Args: []any{make(chan int)}}, Path: "p", Supervisor: echo}} {
		if _, _, _, err := r.Append(nil, msg, exchange(r)); err == nil {
			t.Errorf("%#v is written", msg)
		}
	}
	msg := serial.DaemonMsgCreate{
		Props: serial.Props{Class: "Shop.Clerk, Shop", Args: []any{"name", int32(5), []byte{}, nil, Inner{3}, echo, 2.5},
			Deploy: serial.Deploy{Path: "/clerk", Config: serial.Config(""), Dispatcher: "d", StashCapacity: 10}},
		Deploy: serial.Deploy{Config: serial.Config("a = 1"), Scope: serial.RemoteScope{Node: theNode().address}, StashCapacity: -1,
			RouterConfig: serial.RoundRobinPool{Pool: serial.Pool{Instances: 3, Resizer: serial.DefaultResizer{LowerBound: 1}}}},
		Path: "akka.tcp://B@b:1/remote/akka.tcp/A@a:2/user/clerk#5", Supervisor: echo,
	}
	id, manifest, body := encode(t, r, msg)
	if got := decode(t, r, id, manifest, body); id != 3 || manifest != "" || !reflect.DeepEqual(got, msg) {
		t.Errorf("\ngot  %#v\nwant %#v", got, msg)
	}
	// LocalScope goes as JSON, as .NET does it.
	msg.Deploy.Scope = serial.LocalScope{}
	if _, _, body = encode(t, r, msg); !strings.Contains(body, "LocalScopeSurrogate") || !reflect.DeepEqual(decode(t, r, 3, "", body), msg) {
		t.Errorf("%q", body)
	}
}

// TestExceptions is section 10, row 31 (Bugfix7215Spec, ExceptionSupport) and the part of row 34 about
// Status.Failure (RemoteAskFailureSpec).
func TestExceptions(t *testing.T) {
	r := register(t, serial.Options{})
	send := func(err error) *serial.RemoteError {
		t.Helper()
		_, m, body := encode(t, r, actor.StatusFailure{Cause: err})
		got, _ := decode(t, r, 16, m, body).(actor.StatusFailure).Cause.(*serial.RemoteError)
		return got
	}
	// What a .NET program sends goes on as it came: all fields, in their order.
	field := func(n, v string) serial.Field {
		return serial.Field{Name: n, Value: serial.Payload{SerializerID: 17, Manifest: "S", Message: []byte(v)}}
	}
	net := &serial.RemoteError{
		TypeName: "Shop.SoldOut, Shop", Message: "You can't do this.", StackTrace: "   at A.B()\n   at C.D()", Source: "Akka.Remote", ForwardedFrom: "mscorlib",
		Fields: []serial.Field{field("z", "1"), field("a", "2"), {Name: "own", Value: serial.Payload{SerializerID: 99, Manifest: "x", Message: []byte{1}}}},
		Inner:  &serial.RemoteError{TypeName: "System.TimeoutException, mscorlib", Inner: &serial.RemoteError{TypeName: "X, Y", Message: "deep"}},
	}
	if got := send(net); !reflect.DeepEqual(got, net) {
		t.Errorf("%#v", got)
	}
	if got := send(fmt.Errorf("shop: %w", net)); got.TypeName != "System.TimeoutException, mscorlib" || !reflect.DeepEqual(got.Inner, net) {
		t.Errorf("%#v", got)
	}
	if net.Error() != "SoldOut: You can't do this." || !errors.Is(net, context.DeadlineExceeded) || errors.Is(net, context.Canceled) {
		t.Errorf("%v", net)
	}
	// The golden form: an empty inner exception is there.
	_, _, body := encode(t, r, actor.StatusFailure{Cause: &serial.RemoteError{TypeName: "T, A", Message: "You can't do this.", Source: "Akka.Remote", ForwardedFrom: "mscorlib"}})
	if !strings.Contains(body, "\x12\x12You can't do this.\x22\x0bAkka.Remote\x2a\x00\x3a\x08mscorlib") {
		t.Errorf("%q", body)
	}
	for err, name := range map[error]string{
		errors.New("boom"): "System.Exception, mscorlib", context.DeadlineExceeded: "System.TimeoutException, mscorlib", actor.ErrAskTimeout: "System.TimeoutException, mscorlib",
		context.Canceled: "System.OperationCanceledException, mscorlib", actor.ErrActorKilled: "Akka.Actor.ActorKilledException, Akka",
	} {
		got := send(fmt.Errorf("around: %w", err))
		if got.TypeName != name || got.Message != "around: "+err.Error() || got.Inner.Message != err.Error() || got.Inner.TypeName != name || got.Source != "*fmt.wrapError" {
			t.Errorf("%v became %#v", err, got)
		}
		if name != "System.Exception, mscorlib" && !errors.Is(got, err) {
			t.Errorf("%v is not found in %#v", err, got)
		}
	}
	if got := send(nil); got != nil {
		t.Errorf("no cause became %v", got)
	}
	if got := send(&serial.RemoteError{Message: "nameless"}); got.TypeName != "System.Exception, mscorlib" || got.Message != "nameless" {
		t.Errorf("%#v", got)
	}
	long := errors.New("end")
	for range 1000 {
		long = fmt.Errorf("a: %w", long)
	}
	if send(long) == nil {
		t.Error("a long chain is lost")
	}
	circle := &serial.RemoteError{TypeName: "X, Y"}
	circle.Inner = circle
	if _, _, _, err := r.Append(nil, actor.StatusFailure{Cause: circle}, exchange(r)); !errors.Is(err, serial.ErrTooDeep) {
		t.Errorf("%v", err)
	}
}
