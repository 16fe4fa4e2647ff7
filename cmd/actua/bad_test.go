package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// TestMain lets the tests start this program as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("ACTUA_TEST_AS_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}

// program is the command line as a process.
func program(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "ACTUA_TEST_AS_PROGRAM=1")
	cmd.Stderr = t.Output()
	return cmd
}

// slowServer answers reads, writes and calls of its nodes when the test ends. asked gets a value for each.
func slowServer(t *testing.T) (url string, asked <-chan bool, stop func()) {
	busy, end := make(chan bool, 100), make(chan struct{})
	wait := func() { busy <- true; <-end }
	var server *uaserver.Server
	space := memspace.New("urn:test")
	at := func(id string) memspace.Option { return memspace.WithNodeID(ua.NewStringNodeID(2, id)) }
	space.AddVariable(space.Objects(), "Slow", ua.Double(1), at("Slow"), memspace.OnRead(func(memspace.Read) ua.DataValue {
		wait()
		return ua.DataValue{Value: ua.Double(1)}
	}))
	space.AddVariable(space.Objects(), "Stiff", ua.Double(1), at("Stiff"), memspace.Writable(func(memspace.Write) ua.StatusCode { wait(); return ua.Good }))
	space.AddMethod(space.Objects(), "Long", memspace.Func0(func(memspace.Call) (memspace.None, error) { wait(); return memspace.None{}, nil }), at("Long"))
	server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	t.Cleanup(func() { close(end); server.Close() })
	return "opc.tcp://" + l.Addr().String(), busy, func() { go server.Close() }
}

// spoiled is a way to a server on which garbage can be put into its answers.
func spoiled(t *testing.T, url string) (spoiledURL string, garbage func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var last atomic.Pointer[net.TCPConn]
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(url, "opc.tcp://"))
			if err != nil {
				client.Close()
				return
			}
			last.Store(client.(*net.TCPConn))
			go func() { _, _ = io.Copy(server, client); server.Close() }()
			go func() { _, _ = io.Copy(client, server); client.Close() }()
		}
	}()
	return "opc.tcp://" + l.Addr().String(), func() { _, _ = last.Load().Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }
}

// Whatever a command is doing: Ctrl-C is 130, silence and the end of the connection are 3, and none of
// them prints a line as if the server had answered.
func TestInterruptedAndLost(t *testing.T) {
	for _, command := range [][]string{
		{"read", "URL", "ns=2;s=Slow"}, {"write", "URL", "ns=2;s=Stiff", "2"}, {"call", "URL", "i=85", "ns=2;s=Long"}, {"browse", "URL"},
	} {
		for _, json := range []bool{false, true} {
			if json && command[0] == "browse" {
				continue // it reads no values
			}
			for way, want := range map[string]int{"interrupted": exitInterrupted, "silent": exitNoServer, "lost": exitNoServer, "garbage": exitNoServer} {
				if way != "interrupted" && command[0] == "browse" {
					continue // the values are left out then
				}
				url, asked, stop := slowServer(t)
				url, garbage := spoiled(t, url)
				args := append(slices.Clone(command), "--security", "none")
				args[1] = url
				if json {
					args = append(args, "--json")
				}
				if way == "silent" {
					args = append(args, "--timeout", "300ms")
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					<-asked
					switch way {
					case "interrupted":
						cancel()
					case "lost":
						stop()
					case "garbage":
						garbage()
					}
				}()
				begin := time.Now()
				code, out, stderr := isolated(t).run(ctx, args...)
				cancel()
				if code != want || json && out != "" || stderr == "" || time.Since(begin) > 5*time.Second {
					t.Errorf("%v, %s: exit %d after %v, %q, %q", args, way, code, time.Since(begin), out, stderr)
				}
			}
		}
	}
}

// Ctrl-C at the question for the password ends the command and gives the terminal its echo back. Nobody is
// asked when the rest of the command line is wrong, or nobody logs in.
func TestPasswordPrompt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	restored, asked := false, 0
	forever := make(chan struct{})
	defer close(forever)
	var stderr bytes.Buffer
	isolated(t)
	a := &app{in: strings.NewReader(""), out: io.Discard, err: &stderr, env: func(string) string { return "" }}
	a.readPassword = func() ([]byte, error) { cancel(); <-forever; return nil, nil }
	a.restore = func() { restored = true }
	if code := a.run(ctx, []string{"read", "localhost:1", "i=2258", "--user", "u"}); code != exitInterrupted || !restored {
		t.Error(code, restored, stderr.String())
	}
	url := testServer(t, nil, nil)
	w := isolated(t)
	w.ask = func() ([]byte, error) { asked++; return nil, errors.New("end of file") }
	for want, args := range map[int][]string{
		exitUsage: {"read", "http://localhost", "i=2258", "--user", "u"}, exitDone: {"endpoints", url, "--user", "u"},
	} {
		if code, _, stderr := w.run(t.Context(), args...); code != want || asked != 0 {
			t.Errorf("%v: exit %d, asked %d times, %s", args, code, asked, stderr)
		}
	}
	if code, _, stderr := w.run(t.Context(), "read", url, "i=2258", "--user", "u"); code != exitOurPart || asked != 1 {
		t.Error(code, asked, stderr)
	}
}

// No password is printed, however the login fails.
func TestPasswordIsNotPrinted(t *testing.T) {
	const secret = "s3cr3t-w0rd"
	w := isolated(t)
	url := testServer(t, nil, nil)
	plain := testServer(t, nil, func(c *uaserver.Config) { c.Identity, c.Users, c.AllowAnonymous = nil, nil, true })
	for _, args := range [][]string{
		{"read", url, "i=2258", "--trust"}, {"read", url, "i=2258", "--security", "none"}, {"read", plain, "i=2258"},
		{"browse", "127.0.0.1:1"}, {"read", url}, {"read", url, "i=2258", "--mode", "x"}, {"read", "opc.tcp://u:" + secret + "@localhost", "i=1"},
	} {
		code, out, stderr := w.run(t.Context(), append(args, "--user", "operator", "--password", secret)...)
		if code == 0 || strings.Contains(out+stderr, secret) {
			t.Errorf("%v: exit %d, %s", args, code, out+stderr)
		}
	}
}

// What this client cannot do for reasons of its own is exit code 4, whatever step it was needed for.
func TestOurOwnPart(t *testing.T) {
	w := isolated(t)
	url := testServer(t, plantSpace, nil)
	dir := t.TempDir()
	if code, _, stderr := w.run(t.Context(), "read", url, "ns=2;s=Speed", "--trust", "--pki", dir); code != 0 {
		t.Fatal(stderr)
	}
	key := filepath.Join(dir, "own", "private", "application.pem")
	if err := os.WriteFile(key, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := w.run(t.Context(), "read", url, "ns=2;s=Speed", "--pki", dir); code != exitOurPart || !strings.Contains(stderr, "own") {
		t.Error(code, stderr)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := w.run(t.Context(), "read", url, "ns=2;s=Speed", "--pki", file); code != exitOurPart || !strings.Contains(stderr, "--pki") {
		t.Error(code, stderr)
	}
	// So is an output that takes no more.
	full := &app{in: strings.NewReader(""), out: failing{}, err: io.Discard, env: func(string) string { return "" }}
	if code := full.run(t.Context(), []string{"read", url, "ns=2;s=Speed", "--security", "none"}); code != exitOurPart {
		t.Error(code)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A server that shows another certificate than the one that is trusted is refused, with a warning that
// first contact does not have.
func TestCertificateChanged(t *testing.T) {
	w := isolated(t)
	first := testServer(t, plantSpace, nil)
	if code, _, stderr := w.run(t.Context(), "read", first, "ns=2;s=Speed", "--trust"); code != 0 || strings.Contains(stderr, "CAUTION") {
		t.Fatal(stderr)
	}
	other, err := uapki.NewIdentity(uapki.CertificateOptions{CommonName: "test server", ApplicationURI: "urn:test:server"})
	if err != nil {
		t.Fatal(err)
	}
	second := testServer(t, plantSpace, func(c *uaserver.Config) { c.Identity = other })
	code, out, stderr := w.run(t.Context(), "read", second, "ns=2;s=Speed")
	if code != exitNoServer || out != "" || !strings.Contains(stderr, "CAUTION") {
		t.Error(code, out, stderr)
	}
}

// Ranks that a server makes up, and characters that would turn the text around, do no harm.
func TestHostileText(t *testing.T) {
	a := ua.Argument{Name: "a\u202Eb\x1b[31m", DataType: ua.ID(11), ValueRank: math.MaxInt32}
	if text := argumentText(&a); len(text) > 100 || strings.ContainsAny(text, "\u202E\x1b") {
		t.Errorf("%d bytes, %.100q", len(text), text)
	}
}

// On a narrow terminal tables and trees leave out what does not fit instead of breaking lines.
func TestNarrowTerminal(t *testing.T) {
	url := testServer(t, plantSpace, nil)
	isolated(t)
	show := func(width int, args ...string) (longest int, text string) {
		var out bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: t.Output(), env: func(string) string { return "" }, outTerminal: true, width: width}
		if code := a.run(t.Context(), append(args, "--security", "none")); code != 0 {
			t.Fatal(code)
		}
		for line := range strings.Lines(out.String()) {
			longest = max(longest, len([]rune(strings.TrimSuffix(line, "\n"))))
		}
		return longest, out.String()
	}
	for width, want := range map[int]string{60: "STATUS", 90: "SOURCE TIME", 200: "SERVER TIME"} {
		longest, text := show(width, "read", url, "ns=2;s=Speed", "ns=2;s=Samples")
		header, _, _ := strings.Cut(text, "\n")
		if longest > width || !strings.HasSuffix(header, want) {
			t.Errorf("width %d: %d\n%s", width, longest, text)
		}
		if longest, text := show(width, "browse", url, "/Objects/Plant"); longest > width {
			t.Errorf("width %d: %d\n%s", width, longest, text)
		}
	}
}

// The program as a process: a signal ends serve cleanly, with its last line and code 0, and anything else
// with 130.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals cannot be sent to a process there")
	}
	isolated(t)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		serve := program(t, "serve", "--json", "--profile", "empty", "--listen", "opc.tcp://127.0.0.1:0", "--listen", "localhost:0")
		out, err := serve.StdoutPipe()
		if err == nil {
			err = serve.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for _, event := range []string{"listening", "stopped"} {
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"event":"`+event+`"`) {
				t.Errorf("%v: %q, want %s", signal, lines.Text(), event)
			}
			if event == "listening" {
				_ = serve.Process.Signal(signal)
			}
		}
		if more := lines.Scan(); more {
			t.Errorf("%q after the last line", lines.Text())
		}
		if err := serve.Wait(); err != nil {
			t.Errorf("serve after %v: %v", signal, err)
		}
		url, asked, _ := slowServer(t)
		read := program(t, "read", url, "ns=2;s=Slow", "--security", "none", "--json")
		if err := read.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		_ = read.Process.Signal(signal)
		_ = read.Wait()
		if code := read.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("read after %v: exit %d", signal, code)
		}
	}
}

// Errors of the client say what to do.
func TestHints(t *testing.T) {
	unknown := &uaclient.Error{Step: uaclient.StepTCP, Err: &net.DNSError{Err: "no such host", Name: "plant7"}}
	if h := hint(unknown); !strings.Contains(h, "name of the host") {
		t.Error(h)
	}
	for word, want := range map[string]string{"Aes256": "Aes256_Sha256_RsaPss", "Basic128": "Basic128Rsa15"} {
		_, _, stderr := isolated(t).run(t.Context(), "read", "localhost", "i=1", "--security", word)
		if !strings.HasSuffix(stderr, "did you mean "+want+"?\n") {
			t.Error(stderr)
		}
	}
	if code, out, _ := isolated(t).run(t.Context(), "--version"); code != 0 || !strings.HasPrefix(out, "actua ") || !strings.Contains(out, runtime.Version()) {
		t.Error(code, out)
	}
}

// What serve says to try works as it stands, in both profiles; a client that the empty profile does not
// trust learns what its administrator has to do.
func TestServeSaysWhatToTry(t *testing.T) {
	for _, profile := range []string{"demo", "empty"} {
		w := isolated(t)
		ctx, cancel := context.WithCancel(t.Context())
		r, out := io.Pipe()
		done := make(chan int, 1)
		go func() {
			a := &app{in: strings.NewReader(""), out: out, err: io.Discard, env: func(string) string { return "" }}
			done <- a.run(ctx, []string{"serve", "--profile", profile, "--listen", "127.0.0.1:0"})
			out.Close()
		}()
		lines := bufio.NewScanner(r)
		var args []string
		for lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C") {
			if command, ok := strings.CutPrefix(lines.Text(), "  actua "); ok {
				args = words(command)
			}
		}
		if len(args) < 2 {
			t.Fatalf("%s: nothing to try", profile)
		}
		if code, _, stderr := w.run(t.Context(), args...); code != 0 {
			t.Errorf("%s: %v: exit %d, %s", profile, args, code, stderr)
		}
		if profile == "empty" {
			code, _, stderr := w.run(t.Context(), "browse", args[1], "--trust")
			if code != exitNoServer || !strings.Contains(stderr, "step channel") || !strings.Contains(stderr, "trusted ones") {
				t.Errorf("exit %d, %s", code, stderr)
			}
		}
		cancel()
		go io.Copy(io.Discard, r)
		if code := <-done; code != 0 {
			t.Errorf("%s: exit %d", profile, code)
		}
	}
}
