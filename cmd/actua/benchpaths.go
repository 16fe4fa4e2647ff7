package main

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/actua/actua/internal/actorbench"
)

func (a *app) benchPathsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "paths",
		Short: "Paths of actors, made, parsed and written",
		Long: `Akka.NET's ActorPathBenchmarks, with the same paths, and the Append methods, which need no
memory. Beside ours stands what Akka.NET's authors published, on their machine, with their
change 6195 and before it.`,
		Args: nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := measuring(cmd.Context(), a, "paths", actorbench.Paths)
			if err != nil {
				return err
			}
			if !a.json {
				var text bytes.Buffer
				if err := actorbench.WritePathTable(&text, rows); err != nil {
					return err
				}
				return a.printf("%s", &text)
			}
			for _, r := range rows {
				l := operation((&line{}).set("method", r.Method).set("uid", r.UID), r.Ours)
				if err := a.print(l.set("akkaNet", published(r.PR)).set("akkaNetBefore", published(r.Base))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a *app) benchDigitsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "digits",
		Short: "Numbers counted and written, and a path's wire form in four ways",
		Long: `Akka.NET's SpanHackBenchmarks: the length of a number in digits, and its digits. Beside
ours stands what Akka.NET's authors published, on their machine. Then a path with its uid,
written naively, fresh, as a cached prefix with digits, and from the cache.`,
		Args: nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := measuring(cmd.Context(), a, "digits", actorbench.Digits)
			if err != nil {
				return err
			}
			if !a.json {
				var text bytes.Buffer
				if err := actorbench.WriteDigitTable(&text, rows); err != nil {
					return err
				}
				return a.printf("%s", &text)
			}
			for _, r := range rows {
				l := operation((&line{}).set("method", r.Method).set("value", r.Value), r.Ours)
				if err := a.print(l.set("akkaNet", published(r.PR))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// measuring runs measurements under a line of progress.
func measuring[R any](ctx context.Context, a *app, what string, f func(context.Context) ([]R, error)) ([]R, error) {
	var now stage
	now.set("measuring %s", what)
	defer a.progress(now.String)()
	return f(ctx)
}

// operation adds the figures of a single operation.
func operation(l *line, s actorbench.Stats) *line {
	return l.set("meanNs", round(s.MeanNs, 3)).set("errorNs", round(s.ErrorNs, 4)).set("stdDevNs", round(s.StdDevNs, 4)).
		set("allocBytes", s.AllocBytes).set("allocs", s.Allocs)
}

// published is what Akka.NET's authors have published: null where they have not.
func published(p *actorbench.Published) any {
	if p == nil || p.MeanNs == 0 {
		return nil
	}
	known := func(v float64) any {
		if v == 0 {
			return nil
		}
		return v
	}
	return (&line{}).set("meanNs", p.MeanNs).set("errorNs", known(p.ErrorNs)).set("stdDevNs", known(p.StdDevNs)).
		set("gen0Per1000", known(p.Gen0)).set("allocBytes", p.AllocBytes).object()
}
