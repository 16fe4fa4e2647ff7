package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ours is the name of our adapter, nonBlocking that of a variant of it for the rows of ask. akka is Akka.NET, which runs
// nothing but its own RemotePingPong.
const (
	ours        = "actua"
	nonBlocking = "actua-nonblocking"
	akka        = "akka"
)

// report prints the tables and returns how many goals were missed. A goal whose runs are missing is one.
func report(w io.Writer, rs []record, rows []row) (short int) {
	short = goals(w, rs, rows)
	figures(w, rs, rows)
	failures(w, rs)
	return short
}

// good are the runs of one program in one row that have a result.
func good(rs []record, r row, peer string) (out []record) {
	for _, rec := range rs {
		if rec.Args == r.args && rec.Peer == peer && rec.Error == "" {
			out = append(out, rec)
		}
	}
	return out
}

// goals prints what was asked for and what was reached.
func goals(w io.Writer, rs []record, rows []row) (short int) {
	fmt.Fprintln(w, "| workload | figure | against | ours, min / median / max | goal | verdict |")
	fmt.Fprintln(w, "|---|---|---|--:|--:|---|")
	for _, r := range rows {
		for _, g := range r.goals {
			v := g.values(rs, r)
			against, sign := cmp.Or(g.against, "itself"), ">="
			if g.most {
				sign = "<="
			}
			what := g.what
			if g.of != "" {
				what = g.of + ": " + what
			}
			if g.note != "" {
				what += " (" + g.note + ")"
			}
			have, verdict := "", "not run"
			if len(v) > 0 {
				have = fmt.Sprintf("%s / **%s** / %s", number(slices.Min(v)), number(median(v)), number(slices.Max(v)))
				verdict = "PASS"
				if m := median(v); g.most && m > g.limit || !g.most && m < g.limit {
					verdict = "**short**"
				}
			}
			if verdict != "PASS" {
				short++
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s %s | %s |\n", r.title, what, against, have, sign, number(g.limit), verdict)
		}
	}
	return short
}

// values are our figure of each round, over the other's of the same round if there is another.
func (g goal) values(rs []record, r row) (v []float64) {
	mine := good(rs, r, cmp.Or(g.of, ours))
	if g.against == "" {
		for _, m := range mine {
			v = append(v, g.figure(m))
		}
		return v
	}
	theirs := good(rs, r, g.against)
	for _, m := range mine {
		// Files of several calls have each round more than once: the next of the same number belongs to it.
		i := slices.IndexFunc(theirs, func(t record) bool { return t.Round == m.Round })
		if i < 0 {
			continue
		}
		v = append(v, g.figure(m)/g.figure(theirs[i]))
		theirs = slices.Delete(theirs, i, i+1)
	}
	return v
}

// figures prints what each program did, in columns like those of the anchors.
func figures(w io.Writer, rs []record, rows []row) {
	for _, r := range rows {
		var peers []string
		for _, rec := range rs {
			if rec.Args == r.args && rec.Error == "" && !slices.Contains(peers, rec.Peer) {
				peers = append(peers, rec.Peer)
			}
		}
		if len(peers) == 0 {
			continue
		}
		extras := extraNames(rs, r)
		fmt.Fprintf(w, "\n**%s** (`%s`)\n\n", r.title, r.args)
		fmt.Fprintf(w, "| | n | a second, min / median / max | ns each | allocations | bytes | CPU s per million |%s\n", cells(extras))
		fmt.Fprintf(w, "|---|--:|--:|--:|--:|--:|--:|%s\n", strings.Repeat("--:|", len(extras)))
		for _, p := range peers {
			v := good(rs, r, p)
			rates := each(v, rate)
			fmt.Fprintf(w, "| %s | %d | %s / **%s** / %s | %s | %.2f | %.0f | %.3f |", p, len(v), large(slices.Min(rates)), large(median(rates)),
				large(slices.Max(rates)), number(median(each(v, nanos))), median(each(v, allocs)),
				median(each(v, func(r record) float64 { return r.Bytes })), median(each(v, func(r record) float64 { return r.CPUPerM })))
			for _, e := range extras {
				fmt.Fprintf(w, " %s |", number(median(each(v, extra(e)))))
			}
			fmt.Fprintln(w)
		}
	}
}

func cells(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(" " + strings.ReplaceAll(n, "_", " ") + " |")
	}
	return b.String()
}

// extraNames are the further figures of a row.
func extraNames(rs []record, r row) (names []string) {
	for _, rec := range rs {
		if rec.Args != r.args {
			continue
		}
		for n := range rec.Extra {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names
}

// failures lists the runs without a result.
func failures(w io.Writer, rs []record) {
	first := true
	for _, r := range rs {
		if r.Error == "" {
			continue
		}
		if first {
			fmt.Fprintf(w, "\nRuns without a result\n\n")
			first = false
		}
		fmt.Fprintf(w, "- %s %s, round %d: %s\n", r.Peer, r.Args, r.Round, r.Error)
	}
}

func each(rs []record, f func(record) float64) (v []float64) {
	for _, r := range rs {
		v = append(v, f(r))
	}
	return v
}

// median is the middle of the values, or the mean of the two in the middle.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// number has three digits that say something.
func number(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a > 0 && a < 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// large is a number of thousands or millions.
func large(v float64) string {
	switch {
	case v >= 1e6:
		return number(v/1e6) + " M"
	case v >= 1e3:
		return number(v/1e3) + " k"
	}
	return number(v)
}
