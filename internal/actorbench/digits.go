package actorbench

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/internal/digits"
)

// DigitRow is one way to count or write a number, or to render a path that ends with one. The first kind has
// Akka.NET's SpanHacks of pull request 6195 beside it, by its names.
type DigitRow struct {
	Method string     `json:"method"`
	Value  int64      `json:"value"` // the number, or the path's uid
	Ours   Stats      `json:"ours"`
	PR     *Published `json:"akkaNet"`
}

// Digits measures the character count and the formatting of the numbers of Akka.NET's SpanHackBenchmarks, and
// then the ways to put the wire form of a path into a buffer: naively (fmt, the elements joined), fresh from its
// parts, as a cached prefix with the uid's digits behind it, and as a copy of the cached whole. It takes some
// three seconds. The only error is that of ctx.
func Digits(ctx context.Context) ([]DigitRow, error) {
	var rows []DigitRow
	add := func(method string, value int64, f func(n int)) error {
		s, err := measure(ctx, f)
		if err != nil {
			return err
		}
		row := DigitRow{Method: method, Value: value, Ours: s}
		if p, ok := publishedDigits[digitKey{method, value}]; ok {
			row.PR = &p
		}
		rows = append(rows, row)
		return nil
	}
	values := []int64{-1, 0, 1, 1000, 2147483647, 9223372036854775807}
	for _, v := range values {
		if err := add(charCount, v, func(n int) {
			for range n {
				pathSink.n = digits.Count(v)
			}
		}); err != nil {
			return nil, err
		}
	}
	buf := make([]byte, digits.Max)
	for _, v := range values {
		if err := add(tryFormat, v, func(n int) {
			for range n {
				pathSink.n, pathSink.equal = digits.FormatAt(buf, 0, v)
			}
		}); err != nil {
			return nil, err
		}
	}
	for _, r := range renderings() {
		if err := add(r.method, r.value, r.f); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

type rendering struct {
	method string
	value  int64
	f      func(n int)
}

// renderings are of "akka.tcp://sys@127.0.0.1:8080/user/foo/bar#uid".
func renderings() (out []rendering) {
	address := parsed("akka.tcp://sys@127.0.0.1:8080")
	names := []string{"user", "foo", "bar"}
	path := actor.RootPath(address).Join(names...)
	prefix := path.Append(nil)
	protocol, system, host, port := address.Protocol(), address.System(), address.Host(), address.Port()
	dst := make([]byte, 0, 128)
	for _, uid := range []int32{1, 100000, 2147483647} {
		withUID := path.WithUID(uid)
		whole := withUID.AppendSerializationFormat(nil)
		out = append(out,
			rendering{"Render naive (fmt)", int64(uid), func(n int) {
				for range n {
					pathSink.text = fmt.Sprintf("%s://%s@%s:%d/%s#%d", protocol, system, host, port, strings.Join(names, "/"), uid)
				}
			}},
			rendering{"Render fresh (append)", int64(uid), func(n int) {
				for range n {
					pathSink.bytes = withUID.AppendSerializationFormat(dst[:0])
				}
			}},
			rendering{"Render prefix and digits", int64(uid), func(n int) {
				for range n {
					b := append(append(dst[:0], prefix...), '#')
					pathSink.bytes = digits.Append(b, int64(uid))
				}
			}},
			rendering{"Render cached whole", int64(uid), func(n int) {
				for range n {
					pathSink.bytes = append(dst[:0], whole...)
				}
			}})
	}
	return out
}

// WriteDigitTable writes the rows as a table of fixed columns: ours, then Akka.NET's. Times are ns, memory is
// bytes an operation; "-" is nothing, "?" is not published. The error is that of w.
func WriteDigitTable(w io.Writer, rows []DigitRow) error {
	t := newTable(w)
	fmt.Fprintln(t, "Method\tValue\tMean\tError\tStdDev\tAlloc\t|\tPR 6195 Mean\tAlloc\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%s\t|\t%s\t\n", r.Method, r.Value, ours(r.Ours), published(r.PR, false))
	}
	return t.Flush()
}
