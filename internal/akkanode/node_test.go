package akkanode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// runner is a node with somebody who writes its commands and reads its events.
type runner struct {
	t       testing.TB
	n       *Node
	in      *io.PipeWriter
	out     *written
	done    chan error
	address string
}

// written keeps what a node writes.
type written struct {
	mu     sync.Mutex
	events []map[string]any
	lines  []string
	more   chan struct{}
}

func (s *written) Write(p []byte) (int, error) {
	var e map[string]any
	if err := json.Unmarshal(p, &e); err != nil || !bytes.HasSuffix(p, []byte("\n")) {
		return 0, fmt.Errorf("%q is no line: %v", p, err)
	}
	s.mu.Lock()
	s.events, s.lines = append(s.events, e), append(s.lines, string(p))
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// start runs a node.
func start(t testing.TB, system string, change ...func(*Config)) *runner {
	t.Helper()
	cfg := Defaults()
	cfg.System = system
	for _, f := range change {
		f(&cfg)
	}
	r := &runner{t: t, out: &written{more: make(chan struct{}, 1)}, done: make(chan error, 1)}
	var err error
	if r.n, err = Open(cfg, r.out); err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	r.in, r.address = w, r.n.Address().String()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.done <- r.n.Run(ctx, in) }()
	t.Cleanup(func() {
		w.Close()
		select {
		case <-r.done:
		case <-time.After(20 * time.Second):
			t.Errorf("%s does not end", system)
		}
		cancel()
	})
	return r
}

// say writes commands, "A" and "B" standing for addresses.
func (r *runner) say(format string, args ...any) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.in, format+"\n", args...); err != nil {
		r.t.Error(err)
	}
}

// wait returns the first event that has these fields, and forgets it.
func (r *runner) wait(want string) map[string]any {
	r.t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(want), &fields); err != nil {
		r.t.Fatal(err)
	}
	late := time.After(20 * time.Second)
	for {
		r.out.mu.Lock()
		for i, e := range r.out.events {
			if has(e, fields) {
				r.out.events = append(r.out.events[:i:i], r.out.events[i+1:]...)
				r.out.mu.Unlock()
				return e
			}
		}
		r.out.mu.Unlock()
		select {
		case <-r.out.more:
		case <-late:
			r.out.mu.Lock()
			defer r.out.mu.Unlock()
			r.t.Fatalf("no %s; there is %v", want, r.out.events)
		}
	}
}

func has(e, fields map[string]any) bool {
	for k, v := range fields {
		if e[k] != v {
			return false
		}
	}
	return true
}

// Every command with our own node on both ends: what the events say is what the node of .NET says (its recording is
// two-nodes.jsonl beside it).
func TestTwoNodes(t *testing.T) {
	a, b := start(t, "NetA"), start(t, "NetB")
	if e := a.wait(`{"event":"ready"}`); e["address"] != a.address || e["uid"].(float64) < 1 {
		t.Error(e)
	}
	echo := b.address + "/user/echo"

	a.say(`{"cmd":"identify","path":"%s","id":"i1"}`, echo)
	if e := a.wait(`{"event":"identified","id":"i1"}`); !strings.HasPrefix(e["path"].(string), echo+"#") {
		t.Error(e)
	}
	a.wait(fmt.Sprintf(`{"event":"lifecycle","kind":"AssociatedEvent","text":"Associated [%s] -> %s"}`, a.address, b.address))
	b.wait(fmt.Sprintf(`{"event":"lifecycle","kind":"AssociatedEvent","text":"Associated [%s] <- %s"}`, b.address, a.address))
	for _, c := range []struct{ typ, value, netType, shown string }{
		{"string", `"größe \u2713"`, "System.String", "größe ✓"},
		{"string", `""`, "System.String", ""},
		{"int", `42`, "System.Int32", "42"},
		{"long", `-9223372036854775808`, "System.Int64", "-9223372036854775808"},
		{"double", `71.5`, "System.Double", "71.5"},
		{"double", `1e300`, "System.Double", "1E+300"},
		{"bool", `true`, "System.Boolean", "True"},
		{"bytes", `"00FF10"`, "System.Byte[]", "hex:00ff10"},
		{"list", `["x","y"]`, listOfStrings, "System.Collections.Generic.List`1[System.String]"},
		{"reading", `{"tag":"line1/t","value":71.5,"quality":192,"ticks":5,"labels":["a"]}`, "AkkaPeer.Reading", `{"Tag":"line1/t","Value":71.5,"Quality":192,"Ticks":5,"Labels":["a"],"ReplyTo":null}`},
		{"success", `"ok"`, "Akka.Actor.Status+Success", "success:ok"},
		{"protobuf", `"hello"`, "Google.Protobuf.WellKnownTypes.StringValue", `"hello"`},
	} {
		a.say(`{"cmd":"ask","to":"%s","type":"%s","value":%s,"id":"x"}`, echo, c.typ, c.value)
		if e := a.wait(`{"id":"x"}`); e["event"] != "reply" || e["type"] != c.netType || e["value"] != c.shown {
			t.Errorf("%s %s: %v", c.typ, c.value, e)
		}
	}
	a.say(`{"cmd":"ask","to":"%s","type":"big","value":100000,"id":"big"}`, echo)
	if e := a.wait(`{"event":"reply","id":"big"}`); len(e["value"].(string)) != 100000 {
		t.Error(e)
	}
	a.say(`{"cmd":"ask","to":"%s","type":"failure","value":"boom","id":"f"}`, echo)
	a.wait(`{"event":"ask-failed","id":"f","error":"InvalidOperationException: boom"}`)
	a.say(`{"cmd":"ask","to":"%s","type":"identify","value":"x","id":"who"}`, echo)
	if e := a.wait(`{"event":"reply","id":"who","type":"Akka.Actor.ActorIdentity"}`); !strings.HasPrefix(e["value"].(string), "identity:x:"+echo+"#") {
		t.Error(e)
	}
	a.say(`{"cmd":"ask","to":"%s","type":"ref","value":"%s","id":"ref"}`, echo, echo)
	if e := a.wait(`{"event":"reply","id":"ref"}`); !strings.HasPrefix(e["value"].(string), echo+"#") {
		t.Error(e)
	}
	a.say(`{"cmd":"identify","path":"%s/user/nobody","id":"i2"}`, b.address)
	a.wait(`{"event":"identify-failed","id":"i2","error":"ActorNotFoundException"}`)
	a.say(`{"cmd":"ask","to":"%s/user/nobody","value":"hit","timeoutMs":250,"id":"late"}`, b.address)
	a.wait(`{"event":"ask-failed","id":"late","error":"AskTimeoutException: Timeout after 0.25 seconds"}`)

	a.say(`{"cmd":"tell","to":"%s","type":"reading","value":{"tag":"t","value":1,"quality":0,"ticks":0,"replyToSelf":true},"id":"t"}`, echo)
	a.wait(`{"event":"told","id":"t"}`)
	if e := a.wait(`{"event":"received","to":"akka://NetA/user/collector","type":"AkkaPeer.Reading"}`); e["sender"] != echo || !strings.Contains(e["value"].(string), `"ReplyTo":"akka://NetA/user/collector#`) {
		t.Error(e)
	}
	a.say(`{"cmd":"tell-ref","to":"%s/user/collector","value":"there"}`, b.address)
	b.wait(fmt.Sprintf(`{"event":"received","to":"akka://NetB/user/collector","type":"System.String","value":"there","sender":"%s/user/collector"}`, a.address))

	a.say(`{"cmd":"flood","to":"%s/user/sink","count":5000,"id":"fl"}`, b.address)
	a.wait(`{"event":"flooded","id":"fl"}`)
	a.say(`{"cmd":"ask","to":"%s/user/sink","value":"report","id":"n"}`, b.address)
	a.wait(`{"event":"reply","id":"n","value":"5000,0"}`)
	b.say(`{"cmd":"ask","to":"%s/user/echo","value":"back","id":"b1"}`, a.address)
	b.wait(`{"event":"reply","id":"b1","value":"back"}`)
}

// Watch, deployment and the end of a node.
func TestTwoNodesLife(t *testing.T) {
	a, b := start(t, "NetA"), start(t, "NetB")
	a.say(`{"cmd":"watch","path":"%s/user/watchme"}`, b.address)
	at := a.wait(`{"event":"watching"}`)["path"]
	a.say(`{"cmd":"ask","to":"%s/user/echo","value":"sync","id":"sync"}`, b.address) // the other node has seen the watch by then
	a.wait(`{"event":"reply","id":"sync"}`)
	b.say(`{"cmd":"stop","name":"watchme"}`)
	if e := a.wait(`{"event":"terminated"}`); e["path"] != at || e["existence"] != true || e["addressTerminated"] != false {
		t.Error(e, at)
	}
	a.say(`{"cmd":"watch","path":"%s/user/echo"}`, b.address)
	a.wait(`{"event":"watching"}`)
	a.say(`{"cmd":"unwatch","path":"%s/user/echo"}`, b.address)
	a.wait(`{"event":"unwatched"}`)

	a.say(`{"cmd":"deploy","address":"%s","name":"d1"}`, b.address)
	child := strings.Replace(a.address, "://", "/", 1)
	child = b.address + "/remote/" + child + "/user/controller/d1"
	if e := a.wait(`{"event":"deployed"}`); !strings.HasPrefix(e["path"].(string), child+"#") {
		t.Error(e, child)
	}
	a.wait(fmt.Sprintf(`{"event":"controller-received","type":"System.String","value":"hello-deployed","sender":"%s"}`, child))
	// Whoever knows the path finds it there, by name and with its number.
	a.say(`{"cmd":"identify","path":"%s","id":"d"}`, child)
	full := a.wait(`{"event":"identified","id":"d"}`)["path"].(string)
	if !strings.HasPrefix(full, child+"#") {
		t.Error(full)
	}
	for _, path := range []string{child + "/below", child + "s", child + "#1", b.address + "/remote"} {
		a.say(`{"cmd":"identify","path":"%s","id":"n"}`, path)
		a.wait(`{"event":"identify-failed","id":"n","error":"ActorNotFoundException"}`)
	}
	a.say(`{"cmd":"tell","to":"%s","value":"stop"}`, full)
	if e := a.wait(`{"event":"terminated"}`); e["path"] != full || e["existence"] != true {
		t.Error(e)
	}
	a.say(`{"cmd":"deploy","address":"%s","name":"d1"}`, b.address)
	a.wait(`{"event":"controller-received","value":"hello-deployed"}`)
	b.say(`{"cmd":"start","name":"more","id":"s"}`)
	b.wait(`{"event":"started","id":"s"}`)
	a.say(`{"cmd":"watch","path":"%s/user/more"}`, b.address)
	a.wait(`{"event":"watching"}`)
	b.say(`{"cmd":"quit"}`)
	b.wait(`{"event":"terminated-system"}`)
	for _, path := range []string{child, b.address + "/user/more"} { // in whatever order
		e := a.wait(`{"event":"terminated"}`)
		if p := e["path"].(string); !strings.HasPrefix(p, child+"#") && !strings.HasPrefix(p, b.address+"/user/more#") {
			t.Error(e, path)
		}
	}
	a.say(`{"cmd":"quarantine","address":"%s","uid":%d,"id":"q"}`, b.address, b.n.rem.UID())
	a.wait(`{"event":"quarantine-set","id":"q"}`)
}

// What is no command is an event, and the next one works.
func TestBadInput(t *testing.T) {
	a := start(t, "NetA")
	for _, line := range []string{
		`{`, `[]`, `"x"`, `5`, `{"cmd":5}`, `{"cmd":"tell"}`, `{"cmd":"tell","to":""}`, `{"cmd":"tell","to":"/user/echo"}`,
		`{"cmd":"tell","to":"/user/echo","value":5}`, `{"cmd":"tell","to":"/user/echo","type":"strnig","value":"x"}`,
		`{"cmd":"tell","to":"/user/echo","type":"int","value":2147483648}`, `{"cmd":"tell","to":"/user/echo","type":"int","value":1.5}`,
		`{"cmd":"tell","to":"/user/echo","type":"bytes","value":"0"}`, `{"cmd":"tell","to":"/user/echo","type":"big","value":-1}`,
		`{"cmd":"tell","to":"/user/echo","type":"big","value":2147483647}`, `{"cmd":"tell","to":"/user/echo","type":"reading","value":{"tag":"x"}}`,
		`{"cmd":"tell","to":"/user/echo","type":"list","value":"x"}`, `{"cmd":"tell","to":"opc.tcp://x:1/user/echo","value":"x"}`,
		`{"cmd":"tell-ref","to":"/user/nobody","value":"x"}`, `{"cmd":"watch"}`, `{"cmd":"watch","path":"/user/nobody"}`, `{"cmd":"unwatch","path":"::"}`,
		`{"cmd":"deploy","address":"here"}`, `{"cmd":"deploy"}`, `{"cmd":"flood","to":"/user/sink"}`, `{"cmd":"flood","count":1}`,
		`{"cmd":"start","name":"echo"}`, `{"cmd":"start","name":"a/b"}`, `{"cmd":"start"}`, `{"cmd":"stop","name":"nobody"}`, `{"cmd":"quarantine","address":"x"}`,
	} {
		a.say("%s", line)
		if e := a.wait(`{"event":"error"}`); e["error"] == "" {
			t.Errorf("%s: %v", line, e)
		}
	}
	a.say(`{"cmd":"dance"}`)
	a.wait(`{"event":"unknown-command","line":"{\"cmd\":\"dance\"}"}`)
	a.say(`{}`)
	a.wait(`{"event":"unknown-command","line":"{}"}`)
	a.say(`{"cmd":"ask","id":"1"}`)
	a.wait(`{"event":"ask-failed","id":"1"}`)
	a.say(`{"cmd":"ask","to":"/user/echo","type":"x","id":"2"}`)
	if e := a.wait(`{"event":"ask-failed","id":"2"}`); !strings.HasPrefix(e["error"].(string), `ArgumentException: there is no message type "x": there is string, int`) {
		t.Error(e)
	}
	a.say(`{"cmd":"identify","id":"3"}`)
	a.wait(`{"event":"identify-failed","id":"3"}`)
	a.say("\n  \n" + `{"cmd":"ask","to":"/user/echo","value":"still here","id":"4"}`)
	a.wait(`{"event":"reply","id":"4","value":"still here"}`)
}

// A line of any length is passed over.
func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB")
	}
	a := start(t, "NetA")
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range mostLine>>20 + 1 {
		if _, err := a.in.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	a.say("")
	a.wait(fmt.Sprintf(`{"event":"error","error":"%s"}`, errLongLine))
	a.say(`{"cmd":"ask","to":"/user/echo","value":"still here","id":"4"}`)
	a.wait(`{"event":"reply","id":"4"}`)
}

func TestEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := Defaults()
	cfg.Port = l.Addr().(*net.TCPAddr).Port
	if n, err := Open(cfg, io.Discard); err == nil {
		n.Close()
		t.Error("two listen on one port")
	}

	// Interrupted while it waits, and in the middle of a command.
	for _, command := range []string{"", `{"cmd":"ask","to":"/user/nobody","value":"x","timeoutMs":60000}` + "\n"} {
		out := &written{more: make(chan struct{}, 1)}
		n, err := Open(Defaults(), out)
		if err != nil {
			t.Fatal(err)
		}
		in, w := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx, in) }()
		if _, err := io.WriteString(w, command); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond, cancel)
		if err := <-done; err != nil {
			t.Error(err)
		}
		w.Close()
		out.mu.Lock()
		if e := out.events[len(out.events)-1]; e["event"] != "terminated-system" {
			t.Error(out.events)
		}
		out.mu.Unlock()
		select {
		case <-n.System().WhenTerminated():
		default:
			t.Error("the system has not ended")
		}
	}

	// Nobody reads any more.
	gone := errors.New("gone")
	n, err := Open(Defaults(), writerFunc(func([]byte) (int, error) { return 0, gone }))
	if err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	defer w.Close()
	if err := n.Run(t.Context(), in); !errors.Is(err, gone) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Lines are those of System.Text.Json.
func TestLines(t *testing.T) {
	e := Event{"a", []Field{{"s", "\"\\/<&'+>`\n\r\t\b\f\x00\x7fé漢😀"}, {"b", true}, {"n", 5}, {"m", int32(-6)}}}
	const want = `{"event":"a","s":"\u0022\\/\u003C\u0026\u0027\u002B\u003E\u0060\n\r\t\b\f\u0000\u007F\u00E9\u6F22\uD83D\uDE00","b":true,"n":5,"m":-6}`
	if got := string(e.Append(nil)); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	for v, want := range map[float64]string{0: "0", 71.5: "71.5", 1e14: "100000000000000", 1e15: "1E+15", 0.0001: "0.0001", 0.00001: "1E-05", -2.5e-300: "-2.5E-300", 123456789012345680: "1.2345678901234568E+17"} {
		if got := floatText(v); got != want {
			t.Errorf("%v: %s, not %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{3 * time.Second: "Timeout after 3.00 seconds", 61*time.Minute + 250*time.Millisecond: "Timeout after 3660.25 seconds"} {
		if got := (&askTimeout{d}).Error(); got != want {
			t.Error(got)
		}
	}
}

// The tree of a node comes in pages; a node that is none of ours has none to show.
func TestTree(t *testing.T) {
	a, b := start(t, "NetA"), start(t, "NetB")
	for i := range 1000 {
		if _, err := b.n.System().Spawn(echoProps(), fmt.Sprintf("one-of-many-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	seen := map[string]TreeActor{}
	for range 10 { // whoever has read it makes room for the next
		if err := a.n.Tree(ctx, b.n.Address(), func(x TreeActor) error { seen[x.Path] = x; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if x := seen["/user/one-of-many-999"]; x.Class != echoClass || x.Children != 0 {
		t.Errorf("%+v", x)
	}
	if x := seen["/user"]; x.Children != 1006 || len(seen) < 1010 {
		t.Errorf("%+v of %d", x, len(seen))
	}
	stopped := errors.New("stopped")
	if err := a.n.Tree(ctx, b.n.Address(), func(TreeActor) error { return stopped }); err != stopped {
		t.Error(err)
	}
}
