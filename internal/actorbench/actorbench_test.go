package actorbench

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A workload that is cut off ends with the reason, and leaves no goroutine behind.
func TestCutOff(t *testing.T) {
	long := time.Hour
	before := runtime.NumGoroutine()
	for name, run := range map[string]func(ctx context.Context, limit time.Duration) error{
		"ping-pong": func(ctx context.Context, limit time.Duration) error {
			_, err := PingPong{Clients: 2, Repeat: 1 << 50, Window: 1000, Limit: limit}.Run(ctx, ActorBase, 30)
			return err
		},
		"fan-in": func(ctx context.Context, limit time.Duration) error {
			_, err := FanIn{Senders: 10, Each: 1 << 50, Credit: 100, Limit: limit}.Run(ctx)
			return err
		},
		"ask": func(ctx context.Context, limit time.Duration) error {
			_, err := Ask{Callers: 3, Asks: 1 << 40, Limit: limit}.Run(ctx)
			return err
		},
		"spawn": func(ctx context.Context, limit time.Duration) error {
			s, err := Spawn{Level: 6, Limit: limit}.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			_, err = s.Run(ctx)
			return err
		},
	} {
		if err := run(t.Context(), time.Millisecond); !errors.Is(err, ErrLate) {
			t.Errorf("%s: %v instead of ErrLate", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := run(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v instead of the context's error", name, err)
		}
		cancel()
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines instead of %d\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// What does not divide is left out of the count, and a share smaller than the window is all there is.
func TestPingPongCounts(t *testing.T) {
	for _, v := range Variants(true) {
		for _, p := range []PingPong{
			{Clients: 3, Repeat: 100, Window: 1000}, {Clients: 1, Repeat: 1, Window: 1}, {Clients: 4, Repeat: 40_000, Window: 7},
		} {
			p.Limit = time.Minute
			r, err := p.Run(t.Context(), v, 5)
			if err != nil {
				t.Fatal(err)
			}
			want := p.Repeat / int64(p.Clients) * int64(p.Clients) * 2
			if r.Messages != want || r.Start <= 0 || r.Total < r.Start+r.Usage.Wall {
				t.Errorf("%v: %+v", p, r)
			}
		}
		if d, err := DefaultPingPong(2).FirstStart(t.Context(), v); err != nil || d <= 0 {
			t.Error(d, err)
		}
	}
}

// The original's figures: 15,000,000 round trips, 21 rows.
func TestPingPongIsTheOriginals(t *testing.T) {
	p := DefaultPingPong(2)
	if p.messages() != 30_000_000 || p.Window != 1000 {
		t.Errorf("%+v", p)
	}
	if rows := Throughputs(); len(rows) != 21 || rows[0] != 1 || rows[20] != 900 {
		t.Error(rows)
	}
	if h := p.Header(); !strings.Contains(h, "\nMessages sent/received: 30000000  (3e7)\n") || !strings.Contains(h, "\nActor Count:            4\n") {
		t.Error(h)
	}
	r := PingPongResult{Messages: 1000, MsgsPerSec: 24_000_000, Start: 1234 * time.Microsecond, Total: 98765 * time.Microsecond,
		Usage: Usage{CPU: 1500 * time.Millisecond, Bytes: 500}}
	if l := PingPongLine(30, []PingPongResult{r, r}); l != "        30, 24000000,       1.23,      98.77,  24000000,       1.23,      98.77,     1.50,          0.50,     1.50,          0.50" {
		t.Errorf("%q", l)
	}
	if c := PingPongColumns(Variants(true)); !strings.Contains(c, "\nThroughput, Msgs/sec, Start [ms], Total [ms],  Msgs/sec, Start [ms], Total [ms],  Msgs/sec, Start [ms], Total [ms],  CPU [s]") ||
		strings.Count(c, "AsyncActor") != 2 {
		t.Error(c)
	}
	for n, want := range map[int64]string{1: "1e0", 10: "1e1", 30_000_000: "3e7", 2_000_000_000_000: "2e12"} {
		if got := exponent(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestSpawn(t *testing.T) {
	if b := (Spawn{Level: 7}); b.Actors() != 1_111_111 || b.Sum() != 499_999_500_000 {
		t.Error(b.Actors(), b.Sum())
	}
	for level := 1; level <= 4; level++ {
		b := Spawn{Level: level, Limit: time.Minute}
		s, err := b.Open()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			r, err := s.Run(t.Context())
			if err != nil || r.Sum != b.Sum() || r.Actors != b.Actors() {
				t.Errorf("level %d: %+v %v, the sum is %d", level, r, err, b.Sum())
			}
		}
		s.Close()
	}
	r := SpawnResult{Sum: 45, Usage: Usage{Wall: 1999 * time.Microsecond}}
	if l := SpawnLine(5, r); l != "Run 5 result: 45 in 1 ms" {
		t.Error(l)
	}
}

func TestRates(t *testing.T) {
	f, err := FanIn{Senders: 7, Each: 1001, Credit: 100, Limit: time.Minute}.Run(t.Context())
	if err != nil || f.Messages != 7007 || f.Rate() <= 0 {
		t.Errorf("%+v %v", f, err)
	}
	a, err := Ask{Callers: 3, Asks: 100, Limit: time.Minute}.Run(t.Context())
	if err != nil || a.Messages != 99 || a.Latency[0] <= 0 || a.Latency[0] > a.Latency[1] || a.Latency[1] > a.Latency[2] {
		t.Errorf("%+v %v", a, err)
	}
	s := SpreadOf([]float64{3, 1, 2_500_000, 40_000}, func(v float64) float64 { return v })
	if s.String() != "1.00 / 20.0 k / 2.50 M" || SpreadOf(nil, func(float64) float64 { return 1 }) != (Spread{}) {
		t.Error(s)
	}
}

// The machine's figures are there on Linux, and harmless elsewhere.
func TestMachine(t *testing.T) {
	m := ReadMachine()
	if m.ProcessorCount < 1 || m.Threads < 1 || m.Goroutines < 1 || m.GOGC == "" || m.OSVersion == "" {
		t.Errorf("%+v", m)
	}
	meter := startMeter()
	keep := make([][]byte, 0, 1000)
	for range 1000 {
		keep = append(keep, make([]byte, 1000))
	}
	u := meter.stop(time.Now())
	if _, _, allocs, bytes := u.PerMessage(1000); allocs < 1 || allocs > 2 || bytes < 1000 || bytes > 1200 {
		t.Errorf("%+v for %d slices of 1000 bytes", u, len(keep))
	}
}
