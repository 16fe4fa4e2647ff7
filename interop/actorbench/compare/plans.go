package main

import (
	"fmt"
	"slices"
)

// SpawnBenchmark of Akka.NET: its name as a plan, how many actors a run makes, and what they add up to.
const (
	spawnBenchmark = "spawnbenchmark"
	spawnActors    = 1_111_111
	spawnSum       = "499999500000"
)

// goal is what a row must reach.
type goal struct {
	what    string               // the figure
	of      string               // whose; "" for ours
	against string               // whose figure ours is divided by; "" for the figure itself
	figure  func(record) float64 // of one run
	limit   float64
	most    bool // limit is the largest value allowed; else the smallest
	note    string
}

// row is one workload.
type row struct {
	plan  string
	title string
	args  string // of the harness
	only  []string
	env   []string // of the programs
	goals []goal
}

// skip reports whether a peer takes no part.
func (r row) skip(peer string) bool {
	if len(r.only) > 0 {
		return !slices.Contains(r.only, peer)
	}
	return peer == akka || peer == nonBlocking && r.plan != "ask"
}

func rate(r record) float64   { return r.Rate }
func nanos(r record) float64  { return r.NsPerMsg }
func allocs(r record) float64 { return r.Allocs }

func extra(name string) func(record) float64 {
	return func(r record) float64 { return r.Extra[name] }
}

// times wants a multiple of a peer's rate.
func times(peer string, limit float64, note string) goal {
	return goal{what: "rate", against: peer, figure: rate, limit: limit, note: note}
}

// none wants no allocation a message. The harness's own goroutines and timers allocate a little.
var none = goal{what: "allocations a message", figure: allocs, limit: 0.005, most: true}

// What the best library of the anchors, which cannot be had as a module, reached as a multiple of protoactor and of
// mini in one alternating series: tell-only from one and from eight goroutines. Protoactor has become faster with Go
// and machine than mini has, so the two say different things; the truth lies between.
const (
	bestTell1, bestTell1OfMini = 8.64 / 4.82, 8.64 / 19.8
	bestTell8, bestTell8OfMini = 7.06 / 2.48, 7.06 / 8.63
)

// rows are the "Speed and memory" in its order. A run takes the fastest program some tenths of a second: in
// less, the system has often not yet found out that there is a second processor for it.
var rows = []row{
	{plan: "pingpong", title: "ping-pong, 2 pairs, 1000 in flight", args: "pingpong -n 2 -msgs 20000000",
		goals: []goal{times("protoactor", 4, ""), times("mini", 0.55, ""), none}},
	{plan: "pingpong", title: "ping-pong, 4 pairs, 1000 in flight", args: "pingpong -n 4 -msgs 10000000",
		goals: []goal{times("protoactor", 4, ""), times("mini", 0.55, ""), none}},
	{plan: "pingpong", title: "ping-pong, 8 pairs, 1000 in flight", args: "pingpong -n 8 -msgs 5000000",
		goals: []goal{times("protoactor", 4, ""), times("mini", 0.55, ""), none}},
	{plan: "pairs50k", title: "ping-pong, 50,000 pairs, 10 in flight", args: "pingpong -n 50000 -window 10 -msgs 600",
		goals: []goal{times("mini", 0.5, "")}},
	{plan: "pingpong1", title: "ping-pong, 1 pair, 1 in flight", args: "pingpong -n 1 -window 1 -msgs 5000000",
		goals: []goal{{what: "time a message", against: "protoactor", figure: nanos, limit: 0.35, most: true}, none}},
	{plan: "pingpong1", title: "ping-pong, 4 pairs, 1 in flight", args: "pingpong -n 4 -window 1 -msgs 2000000",
		goals: []goal{{what: "time a message", against: "protoactor", figure: nanos, limit: 0.5, most: true}, none}},
	{plan: "fanin", title: "fan-in, 100 actors to one", args: "fanin -n 100 -msgs 200000",
		goals: []goal{times("protoactor", 3, "")}},
	{plan: "tell", title: "tell-only, 1 goroutine", args: "tell -n 1 -msgs 20000000",
		goals: []goal{times("protoactor", 1.8, ""), times("protoactor", 1.8*bestTell1, "1.8 of the best of the anchors"),
			times("mini", 1.8*bestTell1OfMini, "1.8 of the best of the anchors")}},
	{plan: "tell", title: "tell-only, 8 goroutines", args: "tell -n 8 -msgs 20000000",
		goals: []goal{times("protoactor", 1.1, ""), times("protoactor", 1.1*bestTell8, "1.1 of the best of the anchors"),
			times("mini", 1.1*bestTell8OfMini, "1.1 of the best of the anchors")}},
	{plan: "ask", title: "ask, 1 caller", args: "ask -n 1 -msgs 1000000",
		goals: []goal{times("protoactor", 3.9, ""), {what: "rate", of: nonBlocking, against: "protoactor", figure: rate, limit: 3.9}, {what: "allocations an ask", figure: allocs, limit: 2.005, most: true}}},
	{plan: "ask", title: "ask, 64 callers", args: "ask -n 64 -msgs 1000000",
		goals: []goal{times("protoactor", 2.6, ""), {what: "rate", of: nonBlocking, against: "protoactor", figure: rate, limit: 2.6}, {what: "allocations an ask", figure: allocs, limit: 2.005, most: true}}},
	{plan: "spawn", title: "spawn 100,000", args: "spawn -n 100000", only: []string{"protoactor", "mini", "actua"},
		goals: []goal{times("protoactor", 1.5, "")}},
	{plan: "spawn1m", title: "1,000,000 idle actors", args: "spawn -n 1000000", only: []string{"protoactor", "mini", "actua"},
		goals: []goal{times("protoactor", 1.5, ""), {what: "heap bytes an actor", figure: extra("heap_per_actor"), limit: 480, most: true},
			{what: "goroutines", figure: extra("goroutines"), limit: 10, most: true, note: "those of the process, none an actor"}}},
	remote1(1, 10, 0.5),
	remote1(10, 6, 0.65),
	remote1(30, 6, 0.6),
	remote2(1, 0.5), remote2(5, 0.5), remote2(10, 0.65), remote2(15, 0.6), remote2(20, 0.6), remote2(25, 0.6), remote2(30, 0.6),
	payload("16 B", "remote -n 10 -msgs 200000 -payload 16", ahead,
		goal{what: "allocations a message", figure: allocs, limit: 2.02, most: true}),
	payload("1 KiB", "remote -n 10 -msgs 50000 -payload 1024", times("protoactor", 1.7, "of the anchors"), copies(1024, 1.1)),
	payload("64 KiB", "remote -n 10 -msgs 2000 -payload 65536", times("protoactor", 1, "of the anchors"), copies(65536, 1.5)),
	{plan: spawnBenchmark, title: "SpawnBenchmark, 1,111,111 actors", args: "SpawnBenchmark", only: []string{"protoactor", "actua"},
		goals: []goal{times("protoactor", 1, "")}},
}

// reader has mini's connections run the actors themselves, as ours do: its best way. With payloads of 64 KiB it then
// stops for good, as both sides wait for the other to read.
var reader = []string{"MINI_MODE=reader"}

// The remote goals that all rows have.
var (
	ahead = times("protoactor", 1, "")

	remoteCosts = []goal{
		{what: "allocations a message", figure: allocs, limit: 2.02, most: true, note: "both sides"},
		{what: "bytes a message", figure: func(r record) float64 { return r.Bytes }, limit: 64, most: true, note: "both sides"},
	}
)

// remote1 is RemotePingPong with two systems in one process, as Akka.NET has it.
func remote1(clients int, ofAkka, ofMini float64) row {
	return row{plan: "remote1", title: fmt.Sprintf("RemotePingPong, one process, %d clients", clients),
		args: fmt.Sprintf("remote1 -n %d -msgs 200000", clients), only: []string{akka, "mini", ours}, env: reader,
		goals: append([]goal{times(akka, ofAkka, ""), times("mini", ofMini, "")}, remoteCosts...)}
}

// remote2 is the same with two processes.
func remote2(clients int, ofMini float64) row {
	return row{plan: "remote", title: fmt.Sprintf("RemotePingPong, two processes, %d clients", clients),
		args: fmt.Sprintf("remote -n %d -msgs 200000", clients), only: []string{"protoactor", "mini", ours}, env: reader,
		goals: append([]goal{times("mini", ofMini, ""), ahead}, remoteCosts...)}
}

func payload(size, args string, goals ...goal) row {
	r := row{plan: "payload", title: "payload " + size + ", two processes, 10 clients", args: args,
		only: []string{"protoactor", "mini", ours}, goals: goals}
	if size != "64 KiB" {
		r.env = reader
	}
	return r
}

// copies bounds the bytes that are allocated for each byte of a payload.
func copies(size int, most float64) goal {
	return goal{what: "payload bytes allocated a byte received", limit: most, most: true,
		figure: func(r record) float64 { return r.Bytes / float64(size) }}
}

// planNames are the names for -plans in the order of the rows.
func planNames() []string {
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.plan) {
			names = append(names, r.plan)
		}
	}
	return names
}
