//go:build race

package memspace

const raceEnabled = true
