package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// The README from nothing: the commands as they stand there, as processes, in a new folder and with a
// new home, from the start of the server to the encrypted session of a user; and what a newcomer does
// wrong on the way. Only the program is built beforehand, and the port is a free one.
func TestReadmeFromNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "actua")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	home, folder := filepath.Join(dir, "home"), filepath.Join(dir, "folder")
	for _, d := range []string{home, folder} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	start := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir, cmd.Env = folder, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := strings.Replace(l.Addr().String(), "127.0.0.1", "localhost", 1)
	l.Close()
	run := func(args ...string) (int, string) {
		out, err := start(args...).CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode(), string(out)
		} else if err != nil {
			t.Fatal(err)
		}
		return 0, string(out)
	}

	// Too early.
	if code, out := run("connect", address, "--explain"); code != exitNoServer || !strings.Contains(out, "start the server there") {
		t.Errorf("without a server: exit %d\n%s", code, out)
	}
	commands := regexp.MustCompile(`(?m)^go run ./cmd/actua +(\w.*?)( +#.*)?$`).FindAllStringSubmatch(string(readme), -1)
	if len(commands) < 6 || commands[0][1] != "serve" {
		t.Fatalf("the README has the commands %q", commands)
	}
	server := start("serve", "--listen", "opc.tcp://"+address)
	printed := &growing{ready: make(chan struct{}), until: "Ctrl-C stops the server"}
	server.Stdout, server.Stderr = printed, printed
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	defer func() {
		if err := server.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("serve: %v\n%s", err, printed)
		}
	}()
	select {
	case <-printed.ready:
	case err := <-ended:
		t.Fatalf("serve: %v\n%s", err, printed)
	}
	thumb := regexp.MustCompile(`[0-9A-F]{40}`).FindString(printed.String())

	// Without --trust the thumbprint that the server printed is shown, and nothing is trusted.
	if code, out := run("read", address, "i=2258"); code != exitNoServer || thumb == "" || !strings.Contains(out, thumb) || !strings.Contains(out, "--trust") {
		t.Errorf("first contact: exit %d\n%s", code, out)
	}
	for _, c := range commands[1:] {
		args := words(strings.ReplaceAll(c[1], "localhost:4840", address))
		code, out := run(args...)
		if code != 0 || out == "" {
			t.Errorf("%s: exit %d\n%s", c[1], code, out)
		}
		if args[0] == "connect" && (!strings.Contains(out, "activate") || !strings.Contains(out, "user operator") || !strings.Contains(out, "SignAndEncrypt") || !strings.Contains(out, thumb)) {
			t.Errorf("%s is no encrypted session of a user:\n%s", c[1], out)
		}
	}
	if code, out := run("connect", address, "--explain", "--user", "operator", "--password", "wrong"); code != exitNoServer || !strings.Contains(out, "FAILED  activate") {
		t.Errorf("wrong password: exit %d\n%s", code, out)
	}
	// The line that the server printed to try works as it stands.
	try := regexp.MustCompile(`(?m)^  actua (browse .*)$`).FindStringSubmatch(printed.String())
	if try == nil {
		t.Fatalf("serve prints no command to try:\n%s", printed)
	}
	if code, out := run(words(try[1])...); code != 0 || !strings.Contains(out, "Plant") {
		t.Errorf("%s: exit %d\n%s", try[1], code, out)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("the commands left %v in the folder (%v)", left, err)
	}
}

// growing collects what a process writes, and tells when a text is in it.
type growing struct {
	mu    sync.Mutex
	b     bytes.Buffer
	ready chan struct{}
	until string
}

func (g *growing) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := bytes.Contains(g.b.Bytes(), []byte(g.until))
	n, err := g.b.Write(p)
	if !before && bytes.Contains(g.b.Bytes(), []byte(g.until)) {
		close(g.ready)
	}
	return n, err
}

func (g *growing) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.String()
}
