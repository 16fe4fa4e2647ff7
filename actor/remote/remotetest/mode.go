// Package remotetest has what tests of remoting need instead of a good network: one in memory ([Network]), and one that
// makes any other worse ([Faults], Akka.NET's throttler and failure injector in one). Both have Dial and Listen for
// remote.Config, go by a clock that may be virtual, and decide by a seed: the same frames meet the same fate again.
package remotetest

import (
	"context"
	"math"
	"math/rand/v2"
	"net"
	"time"

	"github.com/actua/actua/actor"
)

// Mode is what happens to what goes one way. The zero value is a good network. What is lost is lost in whole frames, so
// that the rest can still be read.
type Mode struct {
	// Drop is the probability, from 0 to 1, with which a frame is lost.
	Drop float64
	// Blackhole loses all of them (Akka.NET's Blackhole). No connection can be made.
	Blackhole bool
	// Hold lets nothing arrive until it is taken back, and loses nothing: a pulled cable. Who sends waits when 256 KiB are
	// on their way. No connection can be made meanwhile.
	Hold bool
	// Delay is how long everything takes.
	Delay time.Duration
	// Jitter is how much longer it takes at most, by chance. The order stays.
	Jitter time.Duration
	// Rate is how many bytes arrive in a second; 0: no limit.
	Rate int
	// Burst is how many bytes may arrive at once after a pause before Rate counts (Akka.NET's TokenBucket).
	Burst int
}

// through reports whether a connection can be made.
func (m *Mode) through() bool { return !m.Hold && !m.Blackhole && m.Drop < 1 }

// Options are what a Network or Faults goes by. The zero value is good.
type Options struct {
	// Clock is what delays go by; nil is the machine's. Deadlines of connections and contexts are made from the machine's
	// time: as much as is left of them when they are set passes on this clock.
	Clock actor.Clock
	// Seed is for what happens by chance.
	Seed uint64
	// BigEndian is the order of the bytes in a frame's length.
	BigEndian bool
	// NoFrames is for connections with TLS: each write is a frame then, and a loss breaks the connection.
	NoFrames bool
	// Dial and Listen are what Faults makes worse; nil is TCP. A Network has no use for them.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
}

// machine is the machine's time.
type machine struct{}

type machineAlarm struct{ *time.Timer }

func (machine) Now() time.Time            { return time.Now() }
func (machine) Resolution() time.Duration { return 0 }
func (machine) NewAlarm(wake func()) actor.Alarm {
	t := time.AfterFunc(math.MaxInt64, wake)
	t.Stop()
	return machineAlarm{t}
}
func (a machineAlarm) Set(at time.Time) { a.Reset(time.Until(at)) }
func (a machineAlarm) Stop()            { a.Timer.Stop() }

// rule is the mode of what goes from one host to another; "" is any host.
type rule struct {
	from, to string
	mode     Mode
}

// rules are those that were set; the last that fits counts.
type rules []rule

// with has one more rule, which takes the place of those that it covers.
func (r rules) with(from, to string, m Mode) rules {
	out := make(rules, 0, len(r)+1)
	for _, x := range r {
		if (from != "" && from != x.from) || (to != "" && to != x.to) {
			out = append(out, x)
		}
	}
	return append(out, rule{from, to, m})
}

func (r rules) of(from, to string) Mode {
	for i := len(r) - 1; i >= 0; i-- {
		if x := &r[i]; (x.from == "" || x.from == from) && (x.to == "" || x.to == to) {
			return x.mode
		}
	}
	return Mode{}
}

// chance is the source of a link's luck: that of its name, so that other links make no difference.
func chance(seed uint64, name string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}
