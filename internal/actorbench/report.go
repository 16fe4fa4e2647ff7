// Package actorbench has the workloads of `actua bench actors`. Ping-pong and spawn are those of Akka.NET's own
// benchmark programs (src/benchmark/PingPong and SpawnBenchmark), with their counts, names and columns, so that
// their output can be laid beside ours; ask and fan-in are what those lack. Paths and digits are measured as
// BenchmarkDotNet does, and set beside the figures that Akka.NET's authors published.
package actorbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/actua/actua/actor"
)

// Usage is what a measured window has cost this process.
type Usage struct {
	Wall   time.Duration
	CPU    time.Duration // user and system time of all threads; 0 where the system does not tell
	Allocs uint64        // objects
	Bytes  uint64
}

// PerMessage is the usage divided by n messages: nanoseconds, processor seconds per million, objects, bytes.
func (u Usage) PerMessage(n int64) (ns, cpuPerMillion, allocs, bytes float64) {
	f := float64(max(n, 1))
	return float64(u.Wall) / f, u.CPU.Seconds() / f * 1e6, float64(u.Allocs) / f, float64(u.Bytes) / f
}

// meter is the beginning of a window.
type meter struct {
	at     time.Time
	cpu    time.Duration
	allocs uint64
	bytes  uint64
}

func startMeter() meter {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return meter{cpu: processorTime(), allocs: m.Mallocs, bytes: m.TotalAlloc, at: time.Now()}
}

// stop is the usage up to end, which is when the work ended; the rest of the figures are those of now.
func (m meter) stop(end time.Time) Usage {
	cpu := processorTime()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return Usage{Wall: end.Sub(m.at), CPU: cpu - m.cpu, Allocs: now.Mallocs - m.allocs, Bytes: now.TotalAlloc - m.bytes}
}

// settle leaves no work of an earlier measurement to the next one.
func settle() {
	runtime.GC()
	debug.FreeOSMemory()
}

// Machine is what the headers say of where a benchmark runs.
type Machine struct {
	OSVersion      string
	ProcessorCount int // GOMAXPROCS: Akka.NET's figure is also of what the process may use
	ClockMHz       int // 0: not known
	GOGC           string
	Threads        int // of the operating system
	Goroutines     int
}

// ReadMachine looks at the machine and this process.
func ReadMachine() Machine {
	samples := []metrics.Sample{{Name: "/sched/threads/total:threads"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(samples)
	m := Machine{OSVersion: osVersion(), ProcessorCount: runtime.GOMAXPROCS(0), ClockMHz: clockSpeed(), GOGC: "off", Goroutines: runtime.NumGoroutine()}
	if v := samples[0].Value; v.Kind() == metrics.KindUint64 {
		m.Threads = int(v.Uint64())
	}
	if v := samples[1].Value; v.Kind() == metrics.KindUint64 && v.Uint64() < 1<<31 {
		m.GOGC = strconv.FormatUint(v.Uint64(), 10)
	}
	return m
}

// Header are the lines that Akka.NET's programs begin with. Go has one garbage collector, so that line shows
// what can be set of it.
func (m Machine) Header(actors int, messages int64) string {
	clock := "not known"
	if m.ClockMHz > 0 {
		clock = fmt.Sprintf("%d MHZ", m.ClockMHz)
	}
	return fmt.Sprintf(`OSVersion:              %s
ProcessorCount:         %d
ClockSpeed:             %s
Actor Count:            %d
Messages sent/received: %d  (%s)
GC:                     GOGC=%s
Thread count:           %d, goroutines %d
`, m.OSVersion, m.ProcessorCount, clock, actors, messages, exponent(messages), m.GOGC, m.Threads, m.Goroutines)
}

// exponent is .NET's format 0e0.
func exponent(n int64) string {
	digits, e, _ := strings.Cut(strconv.FormatFloat(float64(n), 'e', 0, 64), "e")
	return digits + "e" + strings.TrimLeft(strings.TrimPrefix(e, "+"), "0") + map[bool]string{true: "0"}[n < 10]
}

// osVersion is the name of the system, with the kernel's release where a file tells it.
func osVersion() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		name += " " + strings.TrimSpace(string(b))
	}
	return name
}

// clockSpeed is the clock of the first processor in MHz, 0 where no file tells it.
func clockSpeed() int {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "cpu MHz" {
			mhz, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int(mhz)
		}
	}
	return 0
}

// ErrLate says that a workload did not end within the time that it may take: messages were lost, or an actor
// hangs.
var ErrLate = errors.New("the workload did not end in time")

// await waits for what ends a workload. It returns ErrLate after limit, and the context's error when it ends.
func await[T any](ctx context.Context, done <-chan T, limit time.Duration) (v T, err error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case v = <-done:
		return v, nil
	case <-ctx.Done():
		return v, ctx.Err()
	case <-late.C:
		return v, fmt.Errorf("%w (%v)", ErrLate, limit)
	}
}

// end shuts a system down; what its actors still do after a moment does not hold up the caller.
func end(s *actor.System) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.Shutdown(ctx) // a report about actors that hang; the workload has told of it already
}

// median is the middle of the values, or the mean of the two in the middle.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
