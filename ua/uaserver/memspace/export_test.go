package memspace

// RaceEnabled tells external tests that the race detector is on.
const RaceEnabled = raceEnabled
