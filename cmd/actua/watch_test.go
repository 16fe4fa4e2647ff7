package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func TestWatchTranscript(t *testing.T) {
	transcript(t, isolated(t), "watch", testServer(t, func(space *memspace.Space) {
		plantSpace(space)
		bad := space.AddVariable(space.Objects(), "Bad", ua.Double(1), memspace.WithNodeID(ua.NewStringNodeID(2, "Bad")))
		bad.SetValue(ua.DataValue{Value: ua.Double(1), Status: ua.BadOutOfService})
	}, nil))
}

// watching runs `watch` and passes on its lines.
func watching(t *testing.T, ctx context.Context, w *world, args ...string) (lines <-chan string, done <-chan int) {
	t.Helper()
	r, out := io.Pipe()
	texts, code := make(chan string, 1000), make(chan int, 1)
	go func() {
		var stderr bytes.Buffer
		a := &app{in: strings.NewReader(""), out: out, err: &stderr, env: func(k string) string { return w.env[k] }}
		code <- a.run(ctx, append([]string{"watch"}, args...))
		out.Close()
	}()
	go func() {
		dec := json.NewDecoder(r)
		for {
			var raw json.RawMessage
			if dec.Decode(&raw) != nil {
				close(texts)
				return
			}
			texts <- string(raw)
		}
	}()
	return texts, code
}

func next(t *testing.T, lines <-chan string) string {
	t.Helper()
	select {
	case l, ok := <-lines:
		if !ok {
			t.Fatal("the output has ended")
		}
		return scrub(l)
	case <-time.After(10 * time.Second):
		t.Fatal("no line")
	}
	return ""
}

// Changes, losses in the server's queue, and the end by a signal, which is a good one.
func TestWatch(t *testing.T) {
	var speed *memspace.Variable
	url := testServer(t, func(s *memspace.Space) {
		speed = s.AddVariable(s.Objects(), "Speed", ua.Double(0), memspace.WithNodeID(ua.NewStringNodeID(2, "Speed")))
	}, nil)
	w := isolated(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines, done := watching(t, ctx, w, url, "ns=2;s=Speed", "--json", "--security", "none", "--interval", "200ms", "--sampling", "0s", "--queue", "3")
	if l := next(t, lines); l != `{"event":"connected","url":"`+url+`","interval":200}` && !strings.HasPrefix(l, `{"event":"connected"`) {
		t.Error(l)
	}
	line := func(v int, overflow bool) string {
		return fmt.Sprintf(`{"node":"ns=2;s=Speed","value":%d,"type":"Double","status":"Good","sourceTimestamp":"TIME","overflow":%v}`, v, overflow)
	}
	if l := next(t, lines); l != line(0, false) {
		t.Error(l)
	}
	for i := range 10 {
		speed.Set(ua.Double(float64(i + 1)))
	}
	for _, want := range []string{line(8, true), line(9, false), line(10, false)} {
		if l := next(t, lines); l != want {
			t.Errorf("%s, want %s", l, want)
		}
	}
	cancel()
	if code := <-done; code != exitDone {
		t.Errorf("exit %d", code)
	}
}

// A server that goes away is exit code 3.
func TestWatchLosesServer(t *testing.T) {
	var server *uaserver.Server
	space := memspace.New("urn:test")
	id, err := serverIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if server, err = uaserver.New(uaserver.Config{Identity: id, Nodes: []uaserver.NodeManager{space}, AllowAnonymous: true}); err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	w := isolated(t)
	lines, done := watching(t, context.Background(), w, "opc.tcp://"+l.Addr().String(), "i=2258", "--json", "--security", "none")
	next(t, lines)
	next(t, lines)
	server.Close()
	select {
	case code := <-done:
		if code != exitNoServer {
			t.Errorf("exit %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on without a server")
	}
}

func TestWatchEvents(t *testing.T) {
	var server *uaserver.Server
	space := memspace.New("urn:test")
	pump := space.AddObject(space.Objects(), "Pump", memspace.WithEventNotifier(ua.EventNotifierTypeSubscribeToEvents), memspace.WithNodeID(ua.NewStringNodeID(2, "Pump")))
	id, err := serverIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if server, err = uaserver.New(uaserver.Config{Identity: id, Nodes: []uaserver.NodeManager{space}, AllowAnonymous: true}); err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	defer server.Close()
	w := isolated(t)
	url := "opc.tcp://" + l.Addr().String()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // until somebody listens
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				server.Emit(uaserver.Event{Type: ua.ID(2130), Source: pump.ID(), SourceName: "Pump", Severity: 500, Message: ua.Text("dry\x1b[31m")})
			}
		}
	}()
	code, out, stderr := w.run(context.Background(), "watch", url, "i=2253", "/Objects/Pump", "--events", "--count", "2", "--json", "--security", "none")
	rows := strings.Split(scrub(out), "\n")
	const rest = `,"type":"i=2130","typeName":"SystemEventType","source":"ns=2;s=Pump","sourceName":"Pump","severity":500,"message":"dry\u001b[31m","time":"TIME"}`
	if code != 0 || len(rows) != 4 || !strings.Contains(out, `{"event":"event","node":"i=2253"`+rest[:40]) || !strings.HasSuffix(rows[1], rest) {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	code, out, stderr = w.run(context.Background(), "watch", url, "i=2253", "--events", "--count", "1", "--security", "none")
	if code != 0 || scrub(out) != "YEAR-MM-DDTHH:MM:SS.1234567Z   500  SystemEventType  Pump: dry\uFFFD[31m\n" {
		t.Errorf("exit %d, %q%s", code, scrub(out), stderr)
	}
}
