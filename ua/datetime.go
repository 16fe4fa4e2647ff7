package ua

import (
	"time"

	"github.com/actua/actua/ua/uabin"
)

// DateTime is a point in time: the number of 100 ns intervals since 1601-01-01 UTC (Part 6, 5.2.2.5).
// 0 stands for "no time" and everything before 1601; MaxDateTime for 9999-12-31T23:59:59 and all
// that comes later.
type DateTime int64

// Bounds of a DateTime (Part 6, 5.2.2.5).
const (
	MinDateTime DateTime = 0
	MaxDateTime DateTime = 1<<63 - 1

	ticksPerSecond = 10_000_000
	// unixEpoch is 1970-01-01 in ticks.
	unixEpoch DateTime = 116_444_736_000_000_000
	// lastTick is 9999-12-31T23:59:59 in ticks: from here on a DateTime is encoded as MaxDateTime.
	lastTick DateTime = 2_650_467_743_990_000_000
)

// NewDateTime converts a time, rounding down to 100 ns. The zero time and everything before 1601
// give MinDateTime, everything from the last second of 9999 on MaxDateTime.
func NewDateTime(t time.Time) DateTime {
	sec := t.Unix()
	switch {
	case sec < -int64(unixEpoch)/ticksPerSecond:
		return MinDateTime
	case sec >= int64(lastTick-unixEpoch)/ticksPerSecond:
		return MaxDateTime
	}
	return unixEpoch + DateTime(sec*ticksPerSecond+int64(t.Nanosecond()/100))
}

// Now is the current time as a DateTime.
func Now() DateTime { return NewDateTime(time.Now()) }

// Time converts to a time in UTC: the zero time for MinDateTime and below, 9999-12-31T23:59:59 for
// the last second of the range and above.
func (d DateTime) Time() time.Time {
	switch {
	case d <= MinDateTime:
		return time.Time{}
	case d >= lastTick:
		d = lastTick
	}
	u := int64(d - unixEpoch)
	sec, tick := u/ticksPerSecond, u%ticksPerSecond
	if tick < 0 {
		sec, tick = sec-1, tick+ticksPerSecond
	}
	return time.Unix(sec, tick*100).UTC()
}

// IsZero reports whether d stands for "no time": 0, or a negative number, as some peers send
// (Part 6, 5.2.2.5).
func (d DateTime) IsZero() bool { return d <= MinDateTime }

// AppendBinary appends the time as an Int64; values out of range are written as MinDateTime and
// MaxDateTime (Part 6, 5.2.2.5).
func (d DateTime) AppendBinary(b []byte) []byte { return uabin.AppendInt64(b, d.onWire()) }

func (d DateTime) onWire() int64 {
	switch {
	case d < MinDateTime:
		d = MinDateTime
	case d >= lastTick:
		d = MaxDateTime
	}
	return int64(d)
}

// DecodeBinary reads an Int64 and clamps it to the range of a DateTime.
func (d *DateTime) DecodeBinary(r *uabin.Reader) { *d = clamped(r.Uint64()) }

// clamped is the time that an Int64 on the wire stands for.
func clamped(ticks uint64) DateTime {
	switch {
	case ticks < uint64(lastTick):
		return DateTime(ticks)
	case int64(ticks) < 0:
		return MinDateTime
	}
	return MaxDateTime
}
