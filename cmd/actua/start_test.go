package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Report P09: the listening line of the demo profile, with the whole namespace 0, comes within 50 ms of
// the start of the process; the first start also makes a certificate. A machine that is busy may need
// several tries.
func TestServeListensWithin50ms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "actua")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const limit, tries = 50 * time.Millisecond, 30
	var best time.Duration
	for i := range tries {
		cmd := exec.Command(binary, "serve", "--listen", "opc.tcp://127.0.0.1:0", "--json", "--pki", filepath.Join(dir, "pki"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		took := time.Since(begin)
		if err != nil {
			t.Fatalf("no listening line: %v, %q", err, line)
		}
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue // it made the certificate
		}
		if best == 0 || took < best {
			best = took
		}
		if best <= limit {
			t.Logf("listening after %v", best)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("listening after %v at best, within %v wanted", best, limit)
}
