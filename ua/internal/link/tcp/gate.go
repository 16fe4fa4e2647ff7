package tcp

import "sync/atomic"

// keyWork is how many operations of all gates run or wait; see loop.wait.
var keyWork atomic.Int32

// Gate bounds how many operations with private keys are worked on at a time. One takes milliseconds of a
// processor, and whoever finds the port can order them: without a bound a flood of OpenSecureChannel
// requests would have hundreds of them take turns with the requests of everybody else. Those that wait
// occupy no processor. A nil Gate has no bound. It is safe for use by several goroutines.
type Gate struct {
	strangers chan struct{}
	known     chan struct{}
}

// NewGate returns a Gate for so many operations of strangers at a time, at least one, and as many of
// peers that have logged in, who therefore do not wait behind strangers.
func NewGate(n int) *Gate {
	n = max(n, 1)
	return &Gate{strangers: make(chan struct{}, n), known: make(chan struct{}, n)}
}

// Do runs an operation when it is its turn.
func (g *Gate) Do(known bool, operation func()) {
	if g == nil {
		operation()
		return
	}
	lane := g.strangers
	if known {
		lane = g.known
	}
	keyWork.Add(1)
	defer keyWork.Add(-1)
	lane <- struct{}{}
	defer func() { <-lane }()
	operation()
}
