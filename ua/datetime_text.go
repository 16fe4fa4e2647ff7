package ua

import (
	"fmt"
	"strings"
	"time"
)

// String is the time in UTC in the form of ISO 8601 with as many digits of a second as it takes, 7 at
// most, such as "2024-02-29T12:30:15.25Z" (Part 6, 5.4.2.6). No time is "0001-01-01T00:00:00Z",
// MaxDateTime "9999-12-31T23:59:59Z".
func (d DateTime) String() string {
	var buf [32]byte
	return string(d.appendText(buf[:0]))
}

// AppendText appends the text form; it returns no error.
func (d DateTime) AppendText(b []byte) ([]byte, error) { return d.appendText(b), nil }

// MarshalText is the text form; it returns no error.
func (d DateTime) MarshalText() ([]byte, error) { return d.appendText(nil), nil }

// UnmarshalText reads the text form as ParseDateTime does.
func (d *DateTime) UnmarshalText(text []byte) error {
	v, err := ParseDateTime(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

func (d DateTime) appendText(b []byte) []byte {
	return d.Time().AppendFormat(b, "2006-01-02T15:04:05.9999999Z")
}

// ParseDateTime reads a time of ISO 8601 with a zone, such as "2024-02-29T12:30:15.25Z" or
// "2024-02-29T13:30:15+01:00"; without a zone, or of a date alone, it is UTC. Times before 1601 are
// MinDateTime, those after 9999 MaxDateTime, also in the form with a sign and more digits, such as
// "+010000-01-01T00:00:00Z". The error is BadSyntaxError.
func ParseDateTime(s string) (DateTime, error) {
	text, bound := withPlainYear(s)
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			if bound >= 0 {
				return bound, nil
			}
			return NewDateTime(t), nil
		}
	}
	return 0, &textError{BadSyntaxError, fmt.Sprintf("%.100q is no time of the form 2006-01-02T15:04:05.9999999Z", s)}
}

// withPlainYear turns a year that has a sign or more than four digits into one of four digits. Where
// there is none, another year takes its place, so that the rest can be read, and bound is what the time
// stands for; else it is negative.
func withPlainYear(s string) (text string, bound DateTime) {
	digits := strings.TrimLeft(s, "+-")
	end := strings.IndexByte(digits, '-')
	if end < 4 || len(s)-len(digits) > 1 || end == 4 && len(digits) == len(s) || !isDigits(digits[:end]) {
		return s, -1
	}
	year, rest := strings.TrimLeft(digits[:end], "0"), digits[end:]
	switch {
	case s[0] == '-':
		return "2000" + rest, MinDateTime
	case len(year) > 4:
		return "2000" + rest, MaxDateTime
	}
	return strings.Repeat("0", 4-len(year)) + year + rest, -1
}
