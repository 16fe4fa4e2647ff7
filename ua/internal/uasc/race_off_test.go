//go:build !race

package uasc

const raceEnabled = false
