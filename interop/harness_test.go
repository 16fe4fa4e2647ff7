package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The matrix: every policy with the modes that go with it.
var (
	currentPolicies    = []string{"Basic256Sha256", "Aes128_Sha256_RsaOaep", "Aes256_Sha256_RsaPss"}
	deprecatedPolicies = []string{"Basic128Rsa15", "Basic256"}
	securedModes       = []string{"Sign", "SignAndEncrypt"}
	tokenKinds         = []string{"Anonymous", "UserName"}
)

// The user of our demo profile and of the node-opcua server.
const (
	userName = "operator"
	password = "operator"
)

// securityCase is one cell of the matrix.
type securityCase struct{ policy, mode, token string }

func (c securityCase) String() string { return c.policy + "/" + c.mode + "/" + c.token }

// matrix lists None (if wanted) and the policies in each mode, each with both kinds of token.
func matrix(none bool, policies ...string) (cases []securityCase) {
	for _, token := range tokenKinds {
		if none {
			cases = append(cases, securityCase{"None", "None", token})
		}
		for _, policy := range policies {
			for _, mode := range securedModes {
				cases = append(cases, securityCase{policy, mode, token})
			}
		}
	}
	return cases
}

// missing ends a test whose tool is not there: a failure where the suite is required, as in CI, a skip elsewhere.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("ACTUA_INTEROP") == "required" {
		t.Fatalf("%s; ACTUA_INTEROP=required forbids skipping (run install.sh)", why)
	}
	t.Skipf("%s; run install.sh", why)
}

func requireTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name+" is not installed")
	}
}

func requireNode(t *testing.T) {
	t.Helper()
	requireTool(t, "node")
	if _, err := os.Stat(filepath.Join("node_modules", "node-opcua-client")); err != nil {
		missing(t, "node_modules is not installed")
	}
}

// pkcs1Flag is the flag that Node.js needs to decrypt what Basic128Rsa15 encrypts: versions before OpenSSL's
// implicit rejection refuse RSA PKCS #1 v1.5 decryption without it, later ones do not know the flag.
var pkcs1Flag = sync.OnceValue(func() []string {
	const flag = "--security-revert=CVE-2023-46809"
	if exec.Command("node", flag, "-e", "0").Run() == nil {
		return []string{flag}
	}
	return nil
})

// buildActua builds our command once for all tests, and returns the file.
var buildActua = sync.OnceValues(func() (string, error) {
	file := filepath.Join(scratch, "actua")
	build := exec.Command("go", "build", "-o", file, "./cmd/actua")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cmd/actua: %w\n%s", err, out)
	}
	return file, nil
})

// scratch is a folder for the whole run.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "actua-interop-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	log.SetOutput(io.Discard) // gopcua's server tells its life there
	code := m.Run()
	if err := os.RemoveAll(scratch); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func actuaBinary(t *testing.T) string {
	t.Helper()
	file, err := buildActua()
	if err != nil {
		t.Fatal(err)
	}
	return file
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

// peer is a process that said it is ready.
type peer struct {
	url       string
	listening map[string]any // the line it said it with
	process   *exec.Cmd
	stdin     io.Closer
	stderr    *lockedBuffer
	lines     chan map[string]any
	exited    chan error
}

// startServer starts a program that prints {"event":"listening","url":…} when clients can connect. It ends with the test.
func startServer(t *testing.T, name string, args ...string) *peer {
	t.Helper()
	s := &peer{
		process: exec.Command(name, args...), stderr: &lockedBuffer{},
		lines: make(chan map[string]any, 100), exited: make(chan error, 1),
	}
	s.process.Stderr = s.stderr
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.stdin, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line map[string]any
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				select {
				case s.lines <- line:
				default: // nobody waits for so many lines
				}
			}
		}
		close(s.lines)
		s.exited <- s.process.Wait()
	}()
	t.Cleanup(func() { s.stop(t) })
	line, ok := s.wait("listening", 60*time.Second)
	if !ok {
		t.Fatalf("%s did not start listening:\n%s", filepath.Base(name), s.stderr)
	}
	s.listening = line
	s.url, _ = line["url"].(string)
	return s
}

// wait returns the first line with an event of this name.
func (s *peer) wait(event string, limit time.Duration) (map[string]any, bool) {
	deadline := time.After(limit)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return nil, false
			}
			if line["event"] == event {
				return line, true
			}
		case <-deadline:
			return nil, false
		}
	}
}

// stop asks the process to end as an operator would, and kills it when it does not.
func (s *peer) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Logf("%s had ended: %v\n%s", s.process.Path, err, s.stderr)
	}
	select {
	case err := <-s.exited:
		if err != nil {
			t.Errorf("%s ended with %v:\n%s", filepath.Base(s.process.Path), err, s.stderr)
		}
	case <-time.After(15 * time.Second):
		t.Errorf("%s did not end within 15 s of SIGTERM:\n%s", filepath.Base(s.process.Path), s.stderr)
		_ = s.process.Process.Kill()
		<-s.exited
	}
	_ = s.stdin.Close()
}

// startActua starts our server with the demo profile.
func startActua(t *testing.T, flags ...string) *peer {
	t.Helper()
	url := fmt.Sprintf("opc.tcp://127.0.0.1:%d", freePort(t))
	args := []string{"serve", "--listen", url, "--pki", t.TempDir(), "--json"}
	s := startServer(t, actuaBinary(t), append(args, flags...)...)
	s.url = url
	return s
}

// startNodeServer starts the node-opcua server with all policies.
func startNodeServer(t *testing.T) *peer {
	t.Helper()
	requireNode(t)
	port := freePort(t)
	args := append(slices.Clone(pkcs1Flag()), "node/server.js", "--port", fmt.Sprint(port), "--pki", t.TempDir(), "--allow-deprecated")
	s := startServer(t, "node", args...)
	s.url = fmt.Sprintf("opc.tcp://127.0.0.1:%d", port)
	return s
}

// runActua runs our command and returns its JSON lines, the exit code and what it said on standard error.
func runActua(t *testing.T, args ...string) (lines []map[string]any, code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, actuaBinary(t), append(args, "--json")...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("actua %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	for text := range strings.Lines(out.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("actua %s printed %q: %v", strings.Join(args, " "), text, err)
		}
		lines = append(lines, line)
	}
	return lines, code, errs.String()
}

// lockedBuffer collects what a process writes while tests may read it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is the end of it: node-opcua is talkative.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.b.Bytes()
	return string(text[max(0, len(text)-4000):])
}
