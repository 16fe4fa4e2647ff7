package actorbench

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/actua/actua/actor"
)

// PathRow is one method of a path with one uid, ours beside Akka.NET's before and after pull request 6195.
// Method has the original's name. An Append form is set beside the original's form that makes a string, which
// is all that it has.
type PathRow struct {
	Method string     `json:"method"`
	UID    int32      `json:"uid"` // 0: the path has none
	Ours   Stats      `json:"ours"`
	PR     *Published `json:"akkaNet"`
	Base   *Published `json:"akkaNetBefore"`
}

// Results of what is measured; the compiler cannot drop what goes here.
var pathSink struct {
	path  actor.Path
	err   error
	text  string
	bytes []byte
	equal bool
	n     int
}

// Paths measures what Akka.NET's ActorPathBenchmarks do, with the same paths: the roots are those of
// "akka.tcp://system@127.0.0.1:1337", the child is "/parent/child" in it, built and not parsed, with uids 1, 100000 and
// 2147483647 and without one. It takes some four seconds. The only error is that of ctx.
func Paths(ctx context.Context) ([]PathRow, error) {
	address := parsed("akka.tcp://system@127.0.0.1:1337")
	other := parsed("akka.tcp://system@127.0.0.1:1338")
	root, root2 := actor.RootPath(address), actor.RootPath(address)
	dst := make([]byte, 0, 128)
	var rows []PathRow
	for _, uid := range []int32{1, 100000, 2147483647, 0} {
		child := root.Child("parent").Child("child").WithUID(uid)
		text := child.SerializationFormat()
		for _, m := range []struct {
			name, original string
			f              func(n int)
		}{
			{parse, parse, func(n int) {
				for range n {
					pathSink.path, pathSink.err = actor.ParsePath(text)
				}
			}},
			{concat, concat, func(n int) {
				for range n {
					pathSink.path = root.Child("parent").Child("child")
				}
			}},
			{equals, equals, func(n int) {
				for range n {
					pathSink.equal = root.Equal(root2)
				}
			}},
			{toString, toString, func(n int) {
				for range n {
					pathSink.text = child.String()
				}
			}},
			{serialization, serialization, func(n int) {
				for range n {
					pathSink.text = child.SerializationFormat()
				}
			}},
			{withAddress, withAddress, func(n int) {
				for range n {
					pathSink.text = child.SerializationFormatWithAddress(other)
				}
			}},
			{"Append", toString, func(n int) {
				for range n {
					pathSink.bytes = child.Append(dst[:0])
				}
			}},
			{"AppendSerializationFormat", serialization, func(n int) {
				for range n {
					pathSink.bytes = child.AppendSerializationFormat(dst[:0])
				}
			}},
			{"AppendSerializationFormatWithAddress", withAddress, func(n int) {
				for range n {
					pathSink.bytes = child.AppendSerializationFormatWithAddress(dst[:0], other)
				}
			}},
		} {
			s, err := measure(ctx, m.f)
			if err != nil {
				return nil, err
			}
			row := PathRow{Method: m.name, UID: uid, Ours: s}
			if p, ok := publishedPaths[pathKey{m.original, uid}]; ok {
				row.PR = &p
			}
			if p, ok := publishedBase[pathKey{m.original, uid}]; ok {
				row.Base = &p
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// parsed is the address with that text, which is one of ours and correct.
func parsed(text string) actor.Address {
	a, err := actor.ParseAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

// WritePathTable writes the rows as a table of fixed columns: ours, then Akka.NET's after the pull request, then
// before. Times are ns, memory is bytes an operation; "-" is nothing, "?" is not published. The error is that of w.
func WritePathTable(w io.Writer, rows []PathRow) error {
	t := newTable(w)
	fmt.Fprintln(t, "Method\tuid\tMean\tError\tStdDev\tAlloc\t|\tPR 6195 Mean\tError\tStdDev\tGen0\tAlloc\t|\tv1.4 Mean\tAlloc\t")
	for _, r := range rows {
		uid := "none"
		if r.UID != 0 {
			uid = strconv.Itoa(int(r.UID))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t|\t%s\t|\t%s\t\n", r.Method, uid, ours(r.Ours), published(r.PR, true), published(r.Base, false))
	}
	return t.Flush()
}

func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// ours is mean, error, deviation and bytes.
func ours(s Stats) string {
	return fmt.Sprintf("%.3f\t%.4f\t%.4f\t%s", s.MeanNs, s.ErrorNs, s.StdDevNs, allocated(s.AllocBytes))
}

// published is mean, in full also error, deviation and collections, and bytes.
func published(p *Published, full bool) string {
	if p == nil {
		p = &Published{}
	}
	known := func(v float64, digits int) string {
		if v == 0 {
			return "?"
		}
		return strconv.FormatFloat(v, 'f', digits, 64)
	}
	memory := allocated(p.AllocBytes)
	if p.MeanNs == 0 {
		memory = "?"
	}
	if !full {
		return known(p.MeanNs, 3) + "\t" + memory
	}
	gen0 := known(p.Gen0, 4)
	if p.ErrorNs != 0 && p.Gen0 == 0 {
		gen0 = "-"
	}
	return known(p.MeanNs, 3) + "\t" + known(p.ErrorNs, 4) + "\t" + known(p.StdDevNs, 4) + "\t" + gen0 + "\t" + memory
}

func allocated(n float64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " B"
}
