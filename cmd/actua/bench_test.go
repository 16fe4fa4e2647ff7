package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// freeAddress is one that nobody listens on; another program could take it, but none does in a test.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// started is what the listening line says.
type started struct {
	URL       string
	Off       []string
	Endpoints []struct{ URL, Policy, Mode string }
}

// startServe runs actua serve until the test ends or stop is called, which returns the exit code.
func startServe(t *testing.T, args ...string) (s started, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lines, done := serveLines(t, ctx, append([]string{"--json"}, args...)...)
	text, ok := <-lines
	if !ok {
		cancel()
		t.Fatalf("serve %v ended with %d", args, <-done)
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() int {
		if ended {
			return 0
		}
		ended = true
		cancel()
		<-lines
		return <-done
	}
	t.Cleanup(func() { stop() })
	return s, stop
}

// The bench profile has its nodes in namespace 1, takes any client certificate, says what is off, and has
// the statistics page.
func TestBenchProfile(t *testing.T) {
	w := isolated(t)
	page := freeAddress(t)
	s, stop := startServe(t, "--profile", "bench", "--listen", "127.0.0.1:0", "--stats", page)
	if want := []string{"admission limits", "lock-out", "certificate trust", "diagnostics", "auditing"}; !slices.Equal(s.Off, want) {
		t.Errorf("off: %q", s.Off)
	}
	for _, security := range []string{"none", "encrypt"} {
		code, out, stderr := w.run(context.Background(), "read", s.URL, "ns=1;i=1099", "ns=1;i=3999", "ns=1;i=13999",
			"ns=1;i=199999", "--json", "--trust", "--security", security)
		if code != 0 || strings.Count(out, "Double") != 2 {
			t.Errorf("exit %d, %s %s", code, out, stderr)
		}
	}
	if code, out, _ := w.run(context.Background(), "browse", s.URL, "ns=1;i=500", "--json", "--security", "none"); code != 0 || strings.Count(out, "\n") != 100 {
		t.Errorf("exit %d, %d children of i=500", code, strings.Count(out, "\n"))
	}
	if code, out, _ := w.run(context.Background(), "read", s.URL, "i=2294", "i=2275", "i=2277", "--json", "--security", "none"); code != 1 ||
		!strings.Contains(out, `"value":false`) || strings.Count(out, "BadNotReadable") != 2 {
		t.Errorf("diagnostics: exit %d, %s", code, out)
	}
	collections := [2]float64{}
	for i, query := range []string{"", "?gc=1"} {
		r, err := http.Get("http://" + page + "/" + query)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		figures := map[string]any{}
		if err := json.Unmarshal(text, &figures); err != nil || len(figures) != 6 {
			t.Fatalf("%s: %v", text, err)
		}
		for _, name := range []string{"Mallocs", "TotalAlloc", "HeapAlloc", "PauseTotalNs", "NumGC"} {
			if _, ok := figures[name]; !ok {
				t.Errorf("no %s in %s", name, text)
			}
		}
		collections[i] = figures["NumGC"].(float64)
		publish, _ := figures["Publish"].(map[string]any)
		for _, name := range []string{"Subscriptions", "MonitoredItems", "Retained", "Candidates", "Late", "Discarded", "MessagesHeld"} {
			if n, ok := publish[name].(float64); !ok || n != 0 {
				t.Errorf("%s is %v in %s", name, publish[name], text)
			}
		}
		pools, _ := publish["Pools"].(map[string]any)
		for _, name := range []string{"Messages", "DataChanges", "Events", "Fields", "Buffers"} {
			pool, _ := pools[name].(map[string]any)
			if bound, _ := pool["Bound"].(float64); bound < 1024 {
				t.Errorf("pool %s: %v", name, pool)
			}
		}
	}
	if collections[1] <= collections[0] {
		t.Errorf("?gc=1 collects nothing: %v", collections)
	}
	if r, err := http.Post("http://"+page, "text/plain", nil); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v %v", r, err)
	}
	if code, _, stderr := w.run(context.Background(), "serve", "--profile", "empty", "--listen", "127.0.0.1:0", "--stats", page); code != exitOurPart ||
		!strings.Contains(stderr, "another address for --stats") {
		t.Errorf("the page's address is taken: exit %d, %s", code, stderr)
	}
	if code := stop(); code != exitDone {
		t.Error(code)
	}
	if _, err := http.Get("http://" + page); err == nil {
		t.Error("the statistics page outlives the server")
	}
	s, stop = startServe(t, "--profile", "bench", "--listen", "127.0.0.1:0", "--diag", "1")
	defer stop()
	if slices.Contains(s.Off, "diagnostics") || len(s.Off) != 4 {
		t.Errorf("with --diag 1: off %q", s.Off)
	}
	if code, out, stderr := w.run(context.Background(), "read", s.URL, "i=2294", "i=2290", "i=3707", "--json", "--security", "none"); code != 0 || !strings.Contains(out, `"value":true`) {
		t.Errorf("--diag 1: exit %d, %s%s", code, out, stderr)
	}
}
