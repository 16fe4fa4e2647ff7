package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// testNode runs `actua actors node`; commands are written to in, events come line by line.
func testNode(t *testing.T, args ...string) (address string, in io.Writer, events <-chan map[string]any) {
	t.Helper()
	stdin, w := io.Pipe()
	out, stdout := io.Pipe()
	a := &app{in: stdin, out: stdout, err: t.Output(), env: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		ended <- a.run(context.Background(), append([]string{"actors", "node"}, args...))
		stdout.Close()
	}()
	lines := make(chan map[string]any, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			var e map[string]any
			if err := json.Unmarshal(s.Bytes(), &e); err != nil {
				t.Errorf("%q: %v", s.Text(), err)
			}
			lines <- e
		}
	}()
	t.Cleanup(func() {
		w.Close()
		if code := <-ended; code != exitDone {
			t.Errorf("the node ended with %d", code)
		}
	})
	ready := <-lines
	if ready["event"] != "ready" {
		t.Fatal(ready)
	}
	return ready["address"].(string), w, lines
}

// What one command says to the node of another.
func TestActors(t *testing.T) {
	node, in, events := testNode(t, "--system", "Plant", "--tls-suppress", "true", "--gate", "1s", "--frame", "128000", "--public-port", "0", "--loglevel", "WARNING")
	w := &world{t: t}
	for _, c := range []struct {
		args      string
		code      int
		out, fail string
	}{
		{"ask --to NODE/user/echo hello", exitDone, "hello\n", ""},
		{"ask --to NODE/user/echo --type int -- -42", exitDone, "-42\n", ""},
		{"ask --to NODE/user/echo --type int 42 --json", exitDone, `{"event":"reply","id":"","type":"System.Int32","value":"42"}` + "\n", ""},
		{"ask --to NODE/user/echo --type bytes 00ff", exitDone, "hex:00ff\n", ""},
		{`ask --to NODE/user/echo --type reading {"tag":"t","value":1.5,"quality":192,"ticks":5}`, exitDone, `{"Tag":"t","Value":1.5,"Quality":192,"Ticks":5,"Labels":[],"ReplyTo":null}` + "\n", ""},
		{"ask --to NODE/user/sink report", exitDone, "0,0\n", ""},
		{"ask --to NODE/user/echo --type failure boom", exitBadStatus, "", "boom"},
		{"ask --to NODE/user/echo --type failure boom --json", exitBadStatus, `{"event":"ask-failed","id":"","error":"InvalidOperationException: boom"}` + "\n", "boom"},
		{"ask --to NODE/user/collector hello --timeout 700ms", exitBadStatus, "", "did not answer in 700ms"},
		{"ask --to NODE/user/nobody hello", exitBadStatus, "", "there is no actor at NODE/user/nobody"},
		{"tell --to NODE/user/nobody hello", exitBadStatus, "", "there is no actor"},
		{"identify --to NODE/user/nobody", exitBadStatus, "", "there is no actor"},
		{"identify --to NODE/user/nobody --json", exitBadStatus, `{"event":"identify-failed","id":"","error":"ActorNotFoundException"}` + "\n", "there is no actor"},
		{"tell --to NODE/user/collector told", exitDone, "told\n", ""},
		{"tell --to NODE/user/watchme --type poison --json", exitDone, `{"event":"told","id":""}` + "\n", ""},

		{"ask hello", exitUsage, "", "--to is missing"},
		{"ask --to NODE/user/echo", exitUsage, "", "VALUE is missing"},
		{"ask --to NODE/user/echo a b", exitUsage, "", `"b" is one argument too many`},
		{"ask --to NODE/user/echo --type strin x", exitUsage, "", "did you mean string?"},
		{"ask --to NODE/user/echo --type int x", exitUsage, "", `VALUE "x" is no int`},
		{"ask --to NODE/user/echo --type poison x", exitUsage, "", "has no value"},
		{"ask --to NODE/user/echo --type ref x", exitUsage, "", "VALUE:"},
		{"ask --to NODE/user/echo -5", exitUsage, "", "behind two dashes"},
		{"ask --to nowhere x", exitUsage, "", "--to:"},
		{"ask --to akka://Plant/user/echo x", exitUsage, "", "has no host and port"},
		{"ask --to opc.tcp://Plant@h:1/user/echo x", exitUsage, "", "--to:"},
		{"ask --to akka.ssl.tcp://Plant@h:1/user/echo x", exitUsage, "", "--tls-cert FILE is needed"},
		{"ask --to NODE/user/echo --tls-cert x y", exitUsage, "", "leave --tls-cert out"},
		{"ask --to NODE/user/echo x --timeout -1s", exitUsage, "", "--timeout"},
		{"identify --to NODE/user/echo x", exitUsage, "", "one argument too many"},
		{"identify --to NODE/user/echo --loglevel LOUD", exitUsage, "", "--loglevel"},
		{"identify --to NODE/user/echo --frame 5", exitUsage, "", "--frame 5"},
		{"identify --to NODE/user/echo --tls-mutual maybe", exitUsage, "", "true or false is wanted"},
		{"identify --to NODE/user/echo --tls-mutual true", exitUsage, "", "--tls-cert"},
		{"identify --to akka.tcp://Plant@127.0.0.1:1/user/echo", exitNoServer, "", "tcp: akka.tcp://Plant@127.0.0.1:1:"},
		{"identify --to akka.tcp://Plant@no-such-host.invalid:9000/user/echo", exitNoServer, "", "resolve: "},
		{"identify --to OTHER/user/echo --timeout 1s", exitBadStatus, "", "did not answer in 1s"}, // another system is there
		{"tree --to NODE/user x", exitUsage, "", "one argument too many"},
		{"node --port 70000", exitUsage, "", "--port 70000"},
		{"node --system -x", exitUsage, "", "--system"},
		{"node x", exitUsage, "", "one argument too many"},
		{"node --tls-cert nowhere.pfx", exitOurPart, "", "nowhere.pfx"},
		{"dance", exitUsage, "", `there is no command actors "dance"`},
	} {
		put := strings.NewReplacer("NODE", node, "OTHER", strings.Replace(node, "Plant@", "Other@", 1))
		code, out, stderr := w.run(t.Context(), append([]string{"actors"}, strings.Fields(put.Replace(c.args))...)...)
		if code != c.code || out != c.out || !strings.Contains(stderr, put.Replace(c.fail)) || c.code == exitDone && stderr != "" {
			t.Errorf("%s: exit %d, %q %q", c.args, code, out, stderr)
		}
	}
	code, out, stderr := w.run(t.Context(), "actors", "identify", "--to", node+"/user/echo")
	if code != exitDone || !strings.HasPrefix(out, node+"/user/echo#") {
		t.Error(code, out, stderr)
	}

	// The echo of another node as the other end of a benchmark.
	for args, want := range map[string]int{
		"--to NODE/user/echo": exitDone, "--to NODE/user/nobody": exitNoServer, "--to x": exitUsage, "--to akka.tcp://Plant@no-such-host.invalid:1/user/echo": exitNoServer,
		"--window 0": exitUsage, "--window 101": exitUsage, "--clients 0": exitUsage, "--rounds 0": exitUsage,
	} {
		args := strings.Fields("bench actors remote-ping-pong --clients 2 --repeat 100 --json " + strings.ReplaceAll(args, "NODE", node))
		if code, out, stderr := w.run(t.Context(), args...); code != want || (strings.Count(out, "\n") == 1) != (want == exitDone) {
			t.Errorf("%s: exit %d, %s%s", args, code, out, stderr)
		}
	}

	// The tree, for scripts and for people.
	code, out, stderr = w.run(t.Context(), "actors", "tree", "--to", node, "--json")
	if code != exitDone || !strings.Contains(out, `{"path":"/user/sink","class":"AkkaPeer.OrderSink, akka-peer","mailbox":0,"children":0}`+"\n") {
		t.Error(code, out, stderr)
	}
	code, out, stderr = w.run(t.Context(), "actors", "tree", "--to", node)
	if code != exitDone || !strings.Contains(out, "/user/sink ") {
		t.Error(code, out, stderr)
	}

	// What was told has come.
	for e := range events {
		if e["event"] == "received" && e["value"] == "told" {
			break
		}
	}
	if _, err := io.WriteString(in, `{"cmd":"quit"}`+"\n"); err != nil {
		t.Error(err)
	}
	for e := range events {
		if e["event"] == "terminated-system" {
			return
		}
	}
	t.Error("the node has not quit")
}

func TestActorsPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := &world{t: t}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	code, out, stderr := w.run(t.Context(), "actors", "node", "--port", port)
	if code != exitOurPart || out != "" || !strings.Contains(stderr, "another program listens on port "+port) || !strings.Contains(stderr, "--port") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
}

// Ctrl-C ends a node in good order, and an ask in the middle.
func TestActorsInterrupted(t *testing.T) {
	node, _, _ := testNode(t)
	w := &world{t: t}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	code, out, stderr := w.run(ctx, "actors", "ask", "--to", node+"/user/collector", "x")
	if code != exitInterrupted || out != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}

	stdin, keep := io.Pipe()
	defer keep.Close()
	var b strings.Builder
	a := &app{in: stdin, out: &b, err: t.Output()}
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if code := a.run(ctx, []string{"actors", "node"}); code != exitDone || !strings.HasSuffix(b.String(), `{"event":"terminated-system"}`+"\n") {
		t.Errorf("exit %d, %s", code, b.String())
	}
}

// A crash is one.
func TestActorsCrash(t *testing.T) {
	cmd := program(t, "actors", "node")
	cmd.Stdin = strings.NewReader(`{"cmd":"crash"}` + "\n" + `{"cmd":"identify","path":"/user/echo"}` + "\n")
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 134 || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	if os.Getenv("ACTUA_TEST_AS_PROGRAM") != "" {
		t.Error("a program has come here")
	}
}
