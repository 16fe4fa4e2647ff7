package remote

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

func skipRace(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
}

// hitter sends a message as often as it is to, in a window, and takes it back.
type hitter struct {
	to           *actor.Ref
	msg          any
	window, left int
	back         int
	done         *sync.WaitGroup
}

func (h *hitter) Receive(ctx *actor.Context, msg any) {
	if n, ok := msg.(int); ok {
		h.left, h.back = n, n
		for range min(h.window, n) {
			h.left--
			ctx.Tell(h.to, h.msg)
		}
		return
	}
	if h.back--; h.back == 0 {
		h.done.Done()
	}
	if h.left > 0 {
		h.left--
		ctx.Tell(h.to, h.msg)
	}
}

// pingPong makes clients of two nodes on loopback TCP; the function has each send n messages, and waits for the echoes.
func pingPong(t testing.TB, clients, window int, msg any) func(n int) {
	t.Helper()
	a, b := newLoopNode(t, nil), newLoopNode(t, nil)
	var done sync.WaitGroup
	var from []*actor.Ref
	for i := range clients {
		name := fmt.Sprint("echo", i)
		b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), name)
		to := a.to(t, b.address.String(), "/user/"+name)
		id, err := actor.Ask[actor.ActorIdentity](t.Context(), to, actor.Identify{MessageID: "x"})
		if err != nil {
			t.Fatal(err)
		}
		h := &hitter{to: id.Subject, msg: msg, window: window, done: &done}
		from = append(from, a.sys.MustSpawn(actor.NewProps(func() actor.Actor { return h }), fmt.Sprint("benchmark", i)))
	}
	return func(n int) {
		done.Add(clients)
		for _, r := range from {
			r.Tell(n)
		}
		done.Wait()
	}
}

// cost is what f allocates.
func cost(f func()) (allocs, bytes float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
}

// TestAllocRemote: a message to another node costs its receiver the body and its box, and nothing else.
func TestAllocRemote(t *testing.T) {
	skipRace(t)
	for _, clients := range []int{1, 10} {
		run := pingPong(t, clients, 50, "hit")
		run(5000)
		n := 100_000 / clients
		allocs, bytes := cost(func() { run(n) })
		messages := float64(2 * n * clients)
		t.Logf("%d clients: %.3f allocations and %.1f bytes a message", clients, allocs/messages, bytes/messages)
		if allocs/messages > 2.02 || bytes/messages > 64 {
			t.Errorf("%d clients: %.3f allocations and %.1f bytes a message", clients, allocs/messages, bytes/messages)
		}
	}
}

// TestAllocRemotePayload: of a large body no more than one copy is made.
func TestAllocRemotePayload(t *testing.T) {
	skipRace(t)
	for _, size := range []int{1 << 10, 64 << 10} {
		for _, msg := range []any{strings.Repeat("x", size), make([]byte, size)} {
			run := pingPong(t, 1, 10, msg)
			run(1000)
			n := 64 << 20 / size
			if n > 5000 {
				n = 5000
			}
			allocs, bytes := cost(func() { run(n) })
			received := float64(2 * n * size)
			t.Logf("%T of %d bytes: %.2f bytes allocated a byte received, %.2f allocations a message", msg, size, bytes/received, allocs/float64(2*n))
			if bytes/received > 1.5 {
				t.Errorf("%T of %d bytes: %.2f bytes allocated a byte received", msg, size, bytes/received)
			}
		}
	}
}

// TestAllocRemoteSend: whoever sends allocates nothing.
func TestAllocRemoteSend(t *testing.T) {
	skipRace(t)
	address, _, come := rawListener(t, true)
	a := newLoopNode(t, nil)
	to := a.to(t, address, "/user/x")
	from := a.sys.MustSpawn(actor.FromFunc(func(*actor.Context, any) {}), "from")
	to.TellFrom("dial", from)
	p := wait(t, come)
	go io.Copy(io.Discard, p.r)
	for name, msg := range map[string]any{"string": "hit", "integer": int32(5), "long": int64(1) << 40, "bytes": make([]byte, 100), "1 KiB": strings.Repeat("x", 1024)} {
		for range 1000 {
			to.TellFrom(msg, from)
		}
		time.Sleep(10 * time.Millisecond)
		if n := testing.AllocsPerRun(5000, func() { to.TellFrom(msg, from) }); n != 0 {
			t.Errorf("%s: %.0f allocations a message", name, n)
		}
	}
}

// BenchmarkRemotePingPong is Akka.NET's RemotePingPong: an operation is one message, there or back.
func BenchmarkRemotePingPong(b *testing.B) {
	for _, clients := range []int{1, 10, 30} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			run := pingPong(b, clients, 50, "hit")
			run(1000)
			b.ReportAllocs()
			b.ResetTimer()
			run(b.N/(2*clients) + 1)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
		})
	}
}

// Ten times fifty messages of 64 KiB at once are more than a socket takes; nothing is lost, nor copied into ever larger
// buffers.
func TestAllocRemoteBurst(t *testing.T) {
	const size, clients, n = 64 << 10, 10, 100
	run := pingPong(t, clients, 50, make([]byte, size)) // waits until all have come back
	_, bytes := cost(func() { run(n) })
	t.Logf("%.2f bytes allocated a byte received", bytes/(2*n*clients*size))
	if most := 3.0; !raceEnabled && bytes > most*2*n*clients*size { // the buffers of the first burst count, in so few messages
		t.Errorf("%.2f bytes allocated a byte received", bytes/(2*n*clients*size))
	}
}
