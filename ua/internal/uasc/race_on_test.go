//go:build race

package uasc

// raceEnabled: the race detector makes sync.Pool drop buffers at random.
const raceEnabled = true
