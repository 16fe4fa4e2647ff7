package main

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Ctrl-C in the middle ends a benchmark at once, with exit code 130 and the rows that were measured before.
func TestBenchActorsInterrupted(t *testing.T) {
	w := &world{t: t}
	for _, args := range []string{
		"ping-pong --clients 2 --repeat 100000000000", "spawn --rounds 1000", "ask --clients 2 --repeat 100000000",
		"fan-in --repeat 10000000000", "remote-ping-pong --repeat 10000000000",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		begin := time.Now()
		code, _, stderr := w.run(ctx, append([]string{"bench", "actors"}, strings.Fields(args)...)...)
		cancel()
		if code != exitInterrupted || !strings.Contains(stderr, "interrupted") {
			t.Errorf("%s: exit %d, %s", args, code, stderr)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: ended after %v", args, took)
		}
	}
}

// A run that does not end in time has failed its own verdict.
func TestBenchActorsLate(t *testing.T) {
	w := &world{t: t}
	for _, args := range []string{
		"ping-pong --clients 1 --repeat 100000000000", "spawn --level 7", "ask --clients 1 --repeat 100000000", "fan-in --repeat 10000000000",
		"remote-ping-pong --clients 1 --repeat 10000000000",
	} {
		code, _, stderr := w.run(t.Context(), append(strings.Fields("bench actors "+args), "--timeout", "20ms")...)
		if code != exitBadStatus || !strings.Contains(stderr, "--timeout") {
			t.Errorf("%s: exit %d, %s", args, code, stderr)
		}
	}
}

// benchNumbers hides what differs from run to run.
var benchNumbers = regexp.MustCompile(`-?\d[\d.,]*( [kM]\b)?|\boff\b`)

// The text has the original's lines and columns.
func TestBenchActorsText(t *testing.T) {
	w := &world{t: t}
	for args, want := range map[string]string{
		"ping-pong --clients 2 --repeat 2000 --throughput 30 --rounds 2": `OSVersion: SYSTEM
ProcessorCount: N
ClockSpeed: N MHZ
Actor Count: N
Messages sent/received: N (NeN)
GC: GOGC=N
Thread count: N goroutines N

ActorBase first start time: N ms
ReceiveActor first start time: N ms

ActorBase ReceiveActor ActorBase ReceiveActor
Throughput, Msgs/sec, Start [ms], Total [ms], Msgs/sec, Start [ms], Total [ms], CPU [s], Alloc [B/msg], CPU [s], Alloc [B/msg]
N N N N N N N N N N N
N N N N N N N N N N N
Done..
`,
		"spawn --level 3 --rounds 2": `GC: GOGC=N
Start run N
Run N result: N in N ms
CPU N s, N bytes and N objects allocated an actor
Start run N
Run N result: N in N ms
CPU N s, N bytes and N objects allocated an actor
`,
		"ask --clients 1,2 --repeat 100 --rounds 2": `callers n asks/s min / median / max pN us pN us pN us allocs/ask B/ask CPU s per M asks
N N N / N / N N N N N N N
N N N / N / N N N N N N N
`,
		"remote-ping-pong --clients 1,2 --repeat 100 --rounds 2": `OSVersion: SYSTEM
ProcessorCount: N
ClockSpeed: N MHZ
Actor Count: N
Messages sent/received per client: N (NeN)
GC: GOGC=N
Thread count: N goroutines N

Num clients, Total [msg], Msgs/sec, Total [ms], Start Threads, End Threads, CPU [s], Alloc [B/msg]
N N N N N N N N
N N N N N N N N
N N N N N N N N
N N N N N N N N
Done..
`,
		"ping-pong --clients 1 --repeat 200 --throughput 5 --async": `OSVersion: SYSTEM
ProcessorCount: N
ClockSpeed: N MHZ
Actor Count: N
Messages sent/received: N (NeN)
GC: GOGC=N
Thread count: N goroutines N

ActorBase first start time: N ms
ReceiveActor first start time: N ms
AsyncActor first start time: N ms

ActorBase ReceiveActor AsyncActor ActorBase ReceiveActor AsyncActor
Throughput, Msgs/sec, Start [ms], Total [ms], Msgs/sec, Start [ms], Total [ms], Msgs/sec, Start [ms], Total [ms], CPU [s], Alloc [B/msg], CPU [s], Alloc [B/msg], CPU [s], Alloc [B/msg]
N N N N N N N N N N N N N N N N
Done..
`,
		"fan-in --clients 3 --repeat 200 --rounds 2": `senders n msgs/s min / median / max ns/msg allocs/msg B/msg CPU s per M msgs
N N N / N / N N N N N
`,
	} {
		code, out, stderr := w.run(t.Context(), append([]string{"bench", "actors"}, strings.Fields(args)...)...)
		got := regexp.MustCompile(`OSVersion:.*`).ReplaceAllString(out, "OSVersion: SYSTEM")
		got = strings.ReplaceAll(got, "not known", "1 MHZ")
		got = regexp.MustCompile(` +`).ReplaceAllString(benchNumbers.ReplaceAllString(got, "N"), " ")
		got = regexp.MustCompile(`(?m)^ | $`).ReplaceAllString(got, "")
		if code != exitDone || stderr != "" || got != want {
			t.Errorf("%s: exit %d, %s\n%s", args, code, stderr, got)
		}
	}
}

// With --json a row is an object with these keys.
func TestBenchActorsJSON(t *testing.T) {
	const cost = "cpuSeconds cpuSecondsPerMillion allocsPerMessage bytesPerMessage"
	const rates = "perSecMin perSecMedian perSecMax ns cpuSecondsPerMillion allocsPerMessage bytesPerMessage"
	w := &world{t: t}
	for _, c := range []struct {
		args, keys, below string
		rows              int
	}{
		{"ping-pong --clients 2 --repeat 2000 --throughput 1,30", "throughput actorBase receiveActor", "actorBase: msgsPerSec startMs totalMs " + cost, 2},
		{"ping-pong --clients 1 --repeat 200 --throughput 30 --async", "throughput actorBase receiveActor asyncActor", "asyncActor: msgsPerSec startMs totalMs " + cost, 1},
		{"spawn --level 3 --rounds 2", "run result ms actors " + cost, "", 2},
		{"ask --clients 1,2 --repeat 100 --rounds 1", "callers rounds " + rates + " p50Us p99Us p999Us", "", 2},
		{"remote-ping-pong --clients 1,2 --repeat 100", "clients messages msgsPerSec totalMs startThreads endThreads " + cost, "", 2},
		{"fan-in --clients 3 --repeat 200 --rounds 1", "senders credit rounds " + rates, "", 1},
	} {
		code, out, stderr := w.run(t.Context(), append(strings.Fields("bench actors "+c.args), "--json")...)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if code != exitDone || stderr != "" || len(lines) != c.rows {
			t.Errorf("%s: exit %d, %s%s", c.args, code, out, stderr)
			continue
		}
		for _, l := range lines {
			var row map[string]json.RawMessage
			if err := json.Unmarshal([]byte(l), &row); err != nil {
				t.Fatal(l, err)
			}
			hasKeys(t, l, row, c.keys)
			if name, keys, ok := strings.Cut(c.below, ": "); ok {
				var inner map[string]json.RawMessage
				if err := json.Unmarshal(row[name], &inner); err != nil {
					t.Fatal(l, err)
				}
				hasKeys(t, l, inner, keys)
			}
		}
	}
}

func hasKeys(t *testing.T, line string, row map[string]json.RawMessage, keys string) {
	t.Helper()
	want := strings.Fields(keys)
	for _, k := range want {
		if v, ok := row[k]; !ok || string(v) == "null" {
			t.Errorf("no %s in %s", k, line)
		}
	}
	if len(row) != len(want) {
		t.Errorf("%d keys instead of %d in %s", len(row), len(want), line)
	}
}

// Every line of the list of scenarios is a command line that is understood.
func TestActorScenarios(t *testing.T) {
	list, err := os.ReadFile("../../internal/load/actors.scenarios")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for l := range strings.Lines(string(list)) {
		args := strings.Fields(l)
		if len(args) == 0 || strings.HasPrefix(l, "#") {
			continue
		}
		n++
		cmd, rest, err := (&app{}).rootCommand().Find(args)
		if err != nil || cmd.HasSubCommands() {
			t.Errorf("%s: no such command (%v)", l, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil || cmd.Flags().NArg() > 0 {
			t.Errorf("%s: %v %v", l, err, cmd.Flags().Args())
		}
	}
	if n < 8 {
		t.Errorf("only %d scenarios", n)
	}
}

// Paths and digits stand beside what was published; what was not is null. Their text is run as a command of docs/cli.md.
func TestBenchActorsOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	w := &world{t: t}
	const ours = "meanNs errorNs stdDevNs allocBytes allocs akkaNet"
	for name, c := range map[string]struct {
		keys string
		rows int
	}{
		"paths":  {"method uid akkaNetBefore " + ours, 36},
		"digits": {"method value " + ours, 24},
	} {
		code, out, stderr := w.run(t.Context(), "bench", "actors", name, "--json")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if code != exitDone || stderr != "" || len(lines) != c.rows {
			t.Errorf("%s: exit %d, %d rows, %s", name, code, len(lines), stderr)
			continue
		}
		for _, l := range lines {
			var row map[string]any
			if err := json.Unmarshal([]byte(l), &row); err != nil {
				t.Fatal(l, err)
			}
			for _, k := range strings.Fields(c.keys) {
				if _, ok := row[k]; !ok {
					t.Errorf("no %s in %s", k, l)
				}
			}
			if row["meanNs"].(float64) <= 0 {
				t.Error(l)
			}
		}
		if p, ok := lines[0], `"akkaNet":{"meanNs":`; !strings.Contains(p, ok) {
			t.Errorf("no %s in %s", ok, p)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if code, out, _ := w.run(ctx, "bench", "actors", name); code != exitInterrupted || out != "" {
			t.Errorf("%s, interrupted: exit %d, %s", name, code, out)
		}
		cancel()
	}
}
