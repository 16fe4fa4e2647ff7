package akka

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience is how long a node may take to start, and to do what it does at once on an idle machine.
const patience = 60 * time.Second

// scratch is a folder for the whole run.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "actua-akka-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Most of the time of most tests is waiting for others.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("6")
	}
	code := m.Run()
	if err := os.RemoveAll(scratch); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// buildActua builds our command once for all tests, and returns the file.
var buildActua = sync.OnceValues(func() (string, error) {
	if file := os.Getenv("ACTUA_AKKA_BINARY"); file != "" {
		return file, nil
	}
	file := filepath.Join(scratch, "actua")
	build := exec.Command("go", "build", "-o", file, "./cmd/actua")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cmd/actua: %w\n%s", err, out)
	}
	return file, nil
})

// event is one line that a node printed.
type event map[string]any

func (e event) text(key string) string { s, _ := e[key].(string); return s }

func (e event) String() string {
	b, _ := json.Marshal(map[string]any(e))
	return string(b)
}

// node is a running node.
type node struct {
	kind    kind
	name    string // of the actor system
	address string // akka.tcp://name@host:port
	uid     int
	args    []string
	t       *testing.T
	process *exec.Cmd
	stdin   io.WriteCloser
	exited  chan struct{}
	writing sync.Mutex

	mu      sync.Mutex
	events  []event
	noise   []string // what was printed and is no event
	ended   bool
	changed chan struct{} // closed and renewed with every line
}

var systems atomic.Int32

// systemName returns a name that no other test of this run uses.
func systemName(stem string) string { return stem + strconv.Itoa(int(systems.Add(1))) }

// start starts a node and waits until it is ready. It ends with the test.
func start(t *testing.T, k kind, name string, args ...string) *node {
	t.Helper()
	n := launch(t, k, name, args...)
	n.ready(t)
	return n
}

// startBoth starts the two nodes of a pair at the same time.
func startBoth(t *testing.T, p pair, args ...string) (a, b *node) {
	t.Helper()
	a = launch(t, p.a, systemName("A"), args...)
	b = launch(t, p.b, systemName("B"), args...)
	a.ready(t)
	b.ready(t)
	return a, b
}

// launch starts a node without waiting.
func launch(t *testing.T, k kind, name string, args ...string) *node {
	t.Helper()
	return launchWith(t, k, name, nil, args...)
}

// launchWith starts a node with more in its environment.
func launchWith(t *testing.T, k kind, name string, env []string, args ...string) *node {
	t.Helper()
	file, first := command(t, k)
	args = append([]string{"--system", name}, args...)
	n := &node{kind: k, name: name, t: t, args: args, changed: make(chan struct{}), exited: make(chan struct{})}
	n.process = exec.Command(file, append(slices.Clone(first), args...)...)
	// The runtime of .NET writes its crash reports there.
	n.process.Dir = scratch
	n.process.Env = append(os.Environ(), env...)
	stdout, err := n.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := n.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if n.stdin, err = n.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := n.process.Start(); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { n.read(stdout) })
	readers.Go(func() { n.read(stderr) })
	go func() {
		readers.Wait()
		_ = n.process.Wait()
		n.mu.Lock()
		n.ended = true
		n.wake()
		n.mu.Unlock()
		close(n.exited)
	}()
	t.Cleanup(n.end)
	return n
}

// ready waits until the node listens.
func (n *node) ready(t *testing.T) {
	t.Helper()
	e := n.expect(t, patience, "ready")
	n.address = e.text("address")
	uid, _ := e["uid"].(float64)
	n.uid = int(uid)
	if n.address == "" || n.uid <= 0 {
		t.Fatalf("%s: no address or no uid in %s", n.name, e)
	}
}

// end kills the process and shows what it said when the test failed.
func (n *node) end() {
	_ = n.process.Process.Kill()
	<-n.exited
	if n.t.Failed() {
		n.t.Logf("%s (%s), its last words:\n%s", n.name, n.kind, n.log())
	}
}

// log is the end of what the node printed.
func (n *node) log() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.noise[max(0, len(n.noise)-60):]
	for _, e := range n.events[max(0, len(n.events)-40):] {
		s := e.String()
		lines = append(lines, s[:min(len(s), 400)])
	}
	return strings.Join(lines, "\n")
}

func (n *node) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		n.mu.Lock()
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.text("event") != "" {
			n.events = append(n.events, e)
			n.wake()
		} else {
			n.noise = append(n.noise, lines.Text()[:min(len(lines.Text()), 2000)])
		}
		n.mu.Unlock()
	}
}

func (n *node) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// do sends a command: alternating keys and values.
func (n *node) do(cmd string, fields ...any) {
	m := map[string]any{"cmd": cmd}
	for i := 0; i+1 < len(fields); i += 2 {
		m[fields[i].(string)] = fields[i+1]
	}
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	n.writing.Lock()
	defer n.writing.Unlock()
	if _, err := n.stdin.Write(append(line, '\n')); err != nil && !errors.Is(err, os.ErrClosed) {
		n.t.Logf("%s: %s: %v", n.name, line, err)
	}
}

// mark is a place in the events: a search from there sees only what comes later.
func (n *node) mark() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.events)
}

// find waits for the first event since a mark that fits.
func (n *node) find(since int, limit time.Duration, fits func(event) bool) (event, bool) {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		n.mu.Lock()
		for ; since < len(n.events); since++ {
			if e := n.events[since]; fits(e) {
				n.mu.Unlock()
				return e, true
			}
		}
		changed, ended := n.changed, n.ended
		n.mu.Unlock()
		if ended {
			return nil, false
		}
		select {
		case <-changed:
		case <-deadline.C:
			return nil, false
		}
	}
}

// named fits events of a name with these fields: alternating keys and values. A function func(string) bool as value judges the field.
func named(name string, fields ...any) func(event) bool {
	return func(e event) bool {
		if e.text("event") != name {
			return false
		}
		for i := 0; i+1 < len(fields); i += 2 {
			key := fields[i].(string)
			if judge, ok := fields[i+1].(func(string) bool); ok {
				if !judge(e.text(key)) {
					return false
				}
			} else if e[key] != fields[i+1] {
				return false
			}
		}
		return true
	}
}

func containing(s string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, s) }
}

// expect waits for an event of this name with these fields, from the start of the node on.
func (n *node) expect(t *testing.T, limit time.Duration, name string, fields ...any) event {
	t.Helper()
	return n.expectSince(t, 0, limit, name, fields...)
}

func (n *node) expectSince(t *testing.T, since int, limit time.Duration, name string, fields ...any) event {
	t.Helper()
	e, ok := n.find(since, limit, named(name, fields...))
	if !ok {
		t.Fatalf("%s (%s): no event %s %v within %v", n.name, n.kind, name, fields, limit)
	}
	return e
}

// refuse fails when such an event comes within the time.
func (n *node) refuse(t *testing.T, since int, limit time.Duration, name string, fields ...any) {
	t.Helper()
	if e, ok := n.find(since, limit, named(name, fields...)); ok {
		t.Errorf("%s (%s): unwanted: %s", n.name, n.kind, e)
	}
}

var ids atomic.Int64

func nextID() string { return "id" + strconv.FormatInt(ids.Add(1), 10) }

// answer asks and returns the event reply or ask-failed.
func (n *node) answer(t *testing.T, to, typ string, value any, limit time.Duration) event {
	t.Helper()
	id := nextID()
	n.do("ask", "to", to, "type", typ, "value", value, "timeoutMs", limit.Milliseconds(), "id", id)
	e, ok := n.find(0, limit+patience, func(e event) bool {
		return e.text("id") == id || e.text("event") == "error" && strings.Contains(e.text("error"), id)
	})
	if !ok {
		t.Fatalf("%s (%s): neither an answer nor a failure from %s", n.name, n.kind, to)
	}
	return e
}

// ask asks with a string and wants it back. It tries again until the limit, as a service would while nodes start.
func (n *node) ask(t *testing.T, to string, limit time.Duration) {
	t.Helper()
	if err := n.tryAsk(t, to, limit); err != nil {
		t.Fatal(err)
	}
}

func (n *node) tryAsk(t *testing.T, to string, limit time.Duration) error {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		want := "hello " + nextID()
		e := n.answer(t, to, "string", want, 2*time.Second)
		if e.text("event") == "reply" && e.text("value") == want {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s (%s) got no answer from %s within %v, at last %s", n.name, n.kind, to, limit, e)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// spawn starts an echo actor under /user and returns its path for others.
func (n *node) spawn(t *testing.T, name string) string {
	t.Helper()
	id := nextID()
	n.do("start", "name", name, "id", id)
	n.expect(t, patience, "started", "id", id)
	return n.path("/user/" + name)
}

// path is a path of the node as others write it.
func (n *node) path(p string) string { return n.address + p }

// port is the port others dial.
func (n *node) port(t *testing.T) int {
	t.Helper()
	_, text, _ := strings.Cut(n.address, "@")
	_, p, err := net.SplitHostPort(text)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(p)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// watch makes the controller of the node watch a path and returns the path with the uid.
func (n *node) watch(t *testing.T, path string) string {
	t.Helper()
	n.ask(t, path, patience) // an Akka.NET node gives its first look-up five seconds, which a loaded machine uses up
	since := n.mark()
	n.do("watch", "path", path)
	e := n.expectSince(t, since, patience, "watching", "path", func(p string) bool { return withoutUID(p) == path })
	n.settle(t, path)
	return e.text("path")
}

// settle waits until a watch has most likely reached the other node. It takes a way of its own through the watching node, so
// an answered question alone does not prove it; what races on a .NET node is not judged.
func (n *node) settle(t *testing.T, path string) {
	t.Helper()
	n.ask(t, path, patience)
	time.Sleep(300 * time.Millisecond)
	n.ask(t, path, patience)
}

// terminated waits until the controller of the node is told of the end of an actor, or with address of the node of an actor. An
// Akka.NET node may be told by dead letters of its own before its watch has left; there only the path counts.
func (n *node) terminated(t *testing.T, since int, path string, address bool) {
	t.Helper()
	e := n.expectSince(t, since, patience, "terminated", "path", path)
	if n.kind == golang && (e["addressTerminated"] != address || !address && e["existence"] != true) {
		t.Errorf("%s was told %s, want addressTerminated %v", n.name, e, address)
	}
}

// gone waits until the process has ended.
func (n *node) gone(t *testing.T, limit time.Duration) {
	t.Helper()
	select {
	case <-n.exited:
	case <-time.After(limit):
		t.Fatalf("%s (%s) did not end within %v", n.name, n.kind, limit)
	}
}

// kill ends the process as a power cut would.
func (n *node) kill() {
	_ = n.process.Process.Kill()
	<-n.exited
}

func withoutUID(path string) string {
	s, _, _ := strings.Cut(path, "#")
	return s
}

// freePort returns a port that nobody listens on at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
