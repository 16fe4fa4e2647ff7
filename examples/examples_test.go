// Package examples runs the examples, so that they stay true.
package examples

import (
	"bufio"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// build compiles an example and returns the program's path.
func build(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	if runtime.GOOS == "windows" {
		out += ".exe"
	}
	if text, err := exec.Command("go", "build", "-o", out, "./"+name).CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, text)
	}
	return out
}

// wants fails unless the output of an example has each of the lines.
func wants(t *testing.T, out []byte, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+string(out), "\n"+l) {
			t.Errorf("no line begins with %q in:\n%s", l, out)
		}
	}
}

func TestServerAndClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	address := "opc.tcp://" + l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := exec.CommandContext(ctx, build(t, "server"), address)
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan bool, 1)
	go func() {
		seen := false
		for lines := bufio.NewScanner(log); lines.Scan(); {
			seen = seen || strings.Contains(lines.Text(), "to 42")
		}
		wrote <- seen
	}()
	client := build(t, "client")
	var out []byte
	for try := 0; ; try++ { // until the server listens
		if out, err = exec.CommandContext(ctx, client, address).CombinedOutput(); err == nil || try == 50 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("client: %v\n%s", err, out)
	}
	wants(t, out, "Object     Server", "Variable   Speed", "Method     Double", "Speed is 42", "Double(21) is 42")
	out, err = exec.CommandContext(ctx, build(t, "subscribe"), address).CombinedOutput()
	if err != nil {
		t.Fatalf("subscribe: %v\n%s", err, out)
	}
	wants(t, out, "ns=2;s=Speed every", "i=2253 every", "Speed is 42")
	if n := strings.Count(string(out), "\nSpeed is 42."); n < 1 {
		t.Errorf("no change in:\n%s", out)
	}
	if runtime.GOOS == "windows" {
		server.Process.Kill()
	} else {
		server.Process.Signal(os.Interrupt)
	}
	if !<-wrote {
		t.Error("the server's callback did not see the write")
	}
	if err := server.Wait(); err != nil && runtime.GOOS != "windows" {
		t.Errorf("server: %v", err)
	}
}

func TestSecure(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), build(t, "secure")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wants(t, out, "SignAndEncrypt state Running")
}

func TestValues(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), build(t, "values")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wants(t, out, "21.5 21.5 [1, 2, 3, 4] [[1, 2, 3], [4, 5, 6]] [2 3]", "true false", "ns=2;s=Line1.Speed 2 Line1.Speed", "[2, 3] Good", "100")
}

func TestNodeset(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), build(t, "nodeset")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wants(t, out, "urn:example:pumps 1.0.0 from pump.xml", "Speed was 21.5", "High is 50", "Speed is 30")
}

// TestServerIsShort holds the promise of the README: a server with a variable and a method in at most
// twenty lines.
func TestServerIsShort(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "server/main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > 22 {
				t.Errorf("function %s has %d lines", fn.Name.Name, n)
			}
		}
	}
}
