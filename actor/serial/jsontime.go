package serial

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// durationCodec is for time.Duration, a TimeSpan. What is below its ticks of 100 ns is cut off.
type durationCodec struct{}

func (durationCodec) write(w *jsonWriter, p unsafe.Pointer) {
	w.buf = append(appendTimeSpan(append(w.buf, '"'), *(*time.Duration)(p)), '"')
}
func (durationCodec) zero(p unsafe.Pointer) bool { return *(*time.Duration)(p)/100 == 0 }
func (durationCodec) net(n *netNames) netName    { return n.core("System.TimeSpan") }

func (durationCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	at := r.i
	d, ok := parseTimeSpan(string(r.string()))
	if !ok && r.err == nil {
		r.failAt(at, "no TimeSpan that a time.Duration can hold (292 years)", nil)
	}
	*(*time.Duration)(p) = d
}

// timeCodec is for time.Time: a DateTime or a DateTimeOffset.
type timeCodec struct{ offset bool }

func (c *timeCodec) write(w *jsonWriter, p unsafe.Pointer) {
	t := *(*time.Time)(p)
	if y := t.Year(); y < 1 || y > 9999 {
		w.fail(fmt.Errorf("serial: the year %d has no place in a DateTime", y))
		return
	}
	w.buf = append(appendDateTime(append(w.buf, '"'), t, c.offset), '"')
}
func (c *timeCodec) zero(p unsafe.Pointer) bool { return (*time.Time)(p).IsZero() }
func (c *timeCodec) net(n *netNames) netName {
	if c.offset {
		return n.core("System.DateTimeOffset")
	}
	return n.core("System.DateTime")
}

func (c *timeCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	at := r.i
	t, ok := parseDateTime(r.string())
	if !ok && r.err == nil {
		r.failAt(at, "no date and time in the form of ISO 8601", nil)
	}
	if c.offset && t.Location() == Unspecified {
		t = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	*(*time.Time)(p) = t
}

// appendTimeSpan writes [-][d.]hh:mm:ss[.fffffff] (.NET: TimeSpan, format c).
func appendTimeSpan(dst []byte, d time.Duration) []byte {
	ticks := int64(d / 100)
	if ticks < 0 {
		dst = append(dst, '-')
		ticks = -ticks
	}
	const second = int64(1e7)
	s := ticks / second
	if days := s / 86400; days > 0 {
		dst = append(strconv.AppendInt(dst, days, 10), '.')
	}
	dst = append(appendDigits(dst, s/3600%24, 2), ':')
	dst = append(appendDigits(dst, s/60%60, 2), ':')
	dst = appendDigits(dst, s%60, 2)
	if f := ticks % second; f > 0 {
		dst = appendDigits(append(dst, '.'), f, 7)
	}
	return dst
}

// appendDigits writes v with leading zeros.
func appendDigits(dst []byte, v int64, n int) []byte {
	for i := n - 1; i >= 0; i-- {
		p := int64(1)
		for range i {
			p *= 10
		}
		dst = append(dst, '0'+byte(v/p%10))
	}
	return dst
}

// parseTimeSpan reads what appendTimeSpan writes, without a fraction of fixed length: d, hh:mm, [d.]hh:mm:ss[.f].
func parseTimeSpan(s string) (time.Duration, bool) {
	text, negative := strings.CutPrefix(s, "-")
	parts := strings.Split(text, ":")
	var days, fraction string
	switch len(parts) {
	case 1:
		days, parts = text, []string{"0", "0", "0"}
	case 2:
		parts = append(parts, "0")
	case 3:
		if i := strings.IndexByte(parts[2], '.'); i >= 0 {
			parts[2], fraction = parts[2][:i], parts[2][i+1:]
			if fraction == "" || len(fraction) > 7 {
				return 0, false
			}
		}
	default:
		return 0, false
	}
	if i := strings.IndexByte(parts[0], '.'); i >= 0 {
		days, parts[0] = parts[0][:i], parts[0][i+1:]
		if days == "" {
			return 0, false
		}
	}
	var n [5]int64
	limit := [5]int64{math.MaxInt32, 23, 59, 59, 9999999}
	fields := [5]string{days, parts[0], parts[1], parts[2], fraction}
	if fraction != "" {
		fields[4] += "0000000"[len(fraction):]
	}
	for i, f := range fields {
		if f == "" && (i == 0 || i == 4) {
			continue
		}
		v, err := strconv.ParseUint(f, 10, 31)
		if n[i] = int64(v); err != nil || n[i] > limit[i] {
			return 0, false
		}
	}
	const most = math.MaxInt64 / int64(time.Second)
	seconds := ((n[0]*24+n[1])*60+n[2])*60 + n[3]
	if seconds > most {
		return 0, false
	}
	d := time.Duration(seconds)*time.Second + time.Duration(n[4]*100)
	if d < 0 {
		return 0, false
	}
	if negative {
		d = -d
	}
	return d, true
}

// appendDateTime writes a time as Newtonsoft.Json does: ISO 8601 with up to 7 digits of a second. A DateTime ends in
// Z where it is UTC, in the offset where it is not, in nothing where its kind is Unspecified; a DateTimeOffset
// in the offset always.
func appendDateTime(dst []byte, t time.Time, offset bool) []byte {
	dst = t.AppendFormat(dst, "2006-01-02T15:04:05")
	if f := int64(t.Nanosecond() / 100); f > 0 {
		dst = appendDigits(append(dst, '.'), f, 7)
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	switch loc := t.Location(); {
	case offset:
		return t.AppendFormat(dst, "-07:00")
	case loc == Unspecified:
		return dst
	case loc == time.UTC:
		return append(dst, 'Z')
	}
	return t.AppendFormat(dst, "-07:00")
}

// parseDateTime reads ISO 8601 as .NET writes it.
func parseDateTime(b []byte) (time.Time, bool) {
	if len(b) < len("2006-01-02T15:04:05") || len(b) > 40 {
		return time.Time{}, false
	}
	s := string(b)
	if t, err := time.ParseInLocation("2006-01-02T15:04:05", s, Unspecified); err == nil {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, false
	}
	if s[len(s)-1] != 'Z' {
		// The zone of this process has no place in a message: keep the offset only.
		_, seconds := t.Zone()
		t = t.In(time.FixedZone("", seconds))
	}
	return t, true
}

// looksLikeDate reports whether Newtonsoft.Json takes a text without a known type for a DateTime.
func looksLikeDate(b []byte) bool {
	return len(b) >= 19 && b[4] == '-' && b[7] == '-' && b[10] == 'T' && b[13] == ':' && b[16] == ':'
}
