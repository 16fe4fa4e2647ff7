//go:build !race

package uaserver

const raceEnabled = false
