//go:build race

package tcp

// raceEnabled: the race detector allocates by itself.
const raceEnabled = true
