package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/internal/actorbench"
)

func (a *app) benchAskCommand() *cobra.Command {
	f := &benchFlags{}
	var callers []int
	cmd := &cobra.Command{
		Use:     "ask",
		Short:   "Questions to one actor, and their answers",
		Example: "  actua bench actors ask\n  actua bench actors ask --clients 8 --repeat 10000",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := allAboveZero("clients", callers); err != nil {
				return err
			}
			if most := slices.Max(callers); f.repeat < int64(most) {
				return usage("--repeat %d: less than one question for each of %d --clients", f.repeat, most)
			}
			return measured(a.benchAsk(cmd.Context(), f, callers))
		},
	}
	f.register(cmd, 5, "runs of each row", 100_000, "questions, of all callers together")
	cmd.Flags().IntSliceVar(&callers, "clients", []int{1, 64}, "goroutines that ask, a row each")
	cmd.Flags().Lookup("clients").DefValue = "1,64"
	return cmd
}

func (a *app) benchAsk(ctx context.Context, f *benchFlags, callers []int) error {
	var now stage
	stop := a.progress(now.String)
	defer stop()
	var t table
	t.add("callers", "n", "asks/s min / median / max", "p50 us", "p99 us", "p99.9 us", "allocs/ask", "B/ask", "CPU s per M asks")
	for _, n := range callers {
		b := actorbench.Ask{Callers: n, Asks: f.repeat, Limit: f.timeout}
		var runs []actorbench.AskResult
		for i := range f.rounds {
			now.set("%d callers, run %d of %d", n, i+1, f.rounds)
			r, err := b.Run(ctx)
			if err != nil {
				stop()
				return errors.Join(a.partly(&t), err)
			}
			runs = append(runs, r)
		}
		of := func(figure func(actorbench.AskResult) float64) float64 {
			return actorbench.SpreadOf(runs, figure).Median
		}
		at := func(q int) float64 {
			return of(func(r actorbench.AskResult) float64 { return float64(r.Latency[q]) / float64(time.Microsecond) })
		}
		plain := make([]actorbench.RateResult, len(runs))
		for i, r := range runs {
			plain[i] = r.RateResult
		}
		c := costOf(plain)
		rate := actorbench.SpreadOf(plain, actorbench.RateResult.Rate)
		if a.json {
			l := c.set((&line{}).set("callers", n).set("rounds", f.rounds), rate)
			if err := a.print(l.set("p50Us", round(at(0), 2)).set("p99Us", round(at(1), 2)).set("p999Us", round(at(2), 2))); err != nil {
				return err
			}
			continue
		}
		t.add(fmt.Sprint(n), fmt.Sprint(f.rounds), rate.String(), fmt.Sprintf("%.2f", at(0)), fmt.Sprintf("%.1f", at(1)), fmt.Sprintf("%.0f", at(2)), c.allocs(), c.bytesText(), c.cpuText())
	}
	stop()
	return a.partly(&t)
}

// partly prints the rows that there are.
func (a *app) partly(t *table) error {
	if a.json || len(t.rows) < 2 {
		return nil
	}
	return a.printf("%s", t)
}

// costs are medians over the runs of a row.
type costs struct{ ns, cpu, objects, bytes float64 }

func costOf(runs []actorbench.RateResult) (c costs) {
	median := func(pick func(ns, cpu, allocs, bytes float64) float64) float64 {
		return actorbench.SpreadOf(runs, func(r actorbench.RateResult) float64 { return pick(r.Usage.PerMessage(r.Messages)) }).Median
	}
	c.ns = median(func(ns, _, _, _ float64) float64 { return ns })
	c.cpu = median(func(_, cpu, _, _ float64) float64 { return cpu })
	c.objects = median(func(_, _, allocs, _ float64) float64 { return allocs })
	c.bytes = median(func(_, _, _, bytes float64) float64 { return bytes })
	return c
}

func (c costs) allocs() string    { return fmt.Sprintf("%.2f", c.objects) }
func (c costs) bytesText() string { return fmt.Sprintf("%.0f", c.bytes) }
func (c costs) cpuText() string   { return fmt.Sprintf("%.3f", c.cpu) }

// set adds the figures that all rows of rates have.
func (c costs) set(l *line, rate actorbench.Spread) *line {
	return l.set("perSecMin", math.Round(rate.Min)).set("perSecMedian", math.Round(rate.Median)).set("perSecMax", math.Round(rate.Max)).
		set("ns", round(c.ns, 2)).set("cpuSecondsPerMillion", round(c.cpu, 4)).set("allocsPerMessage", round(c.objects, 3)).set("bytesPerMessage", round(c.bytes, 2))
}

func (a *app) benchFanInCommand() *cobra.Command {
	f := &benchFlags{}
	b := actorbench.FanIn{Senders: 100, Credit: 100}
	cmd := &cobra.Command{
		Use:     "fan-in",
		Short:   "Many actors that send to one",
		Example: "  actua bench actors fan-in\n  actua bench actors fan-in --clients 10 --repeat 1000",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if b.Senders < 1 {
				return aboveZero("clients", b.Senders, 100)
			}
			if b.Credit < 1 {
				return aboveZero("credit", b.Credit, 100)
			}
			b.Each, b.Limit = f.repeat, f.timeout
			return measured(a.benchFanIn(cmd.Context(), b, f.rounds))
		},
	}
	f.register(cmd, 5, "how many runs", 20_000, "messages of each sender")
	cmd.Flags().IntVar(&b.Senders, "clients", b.Senders, "actors that send")
	cmd.Flags().Int64Var(&b.Credit, "credit", b.Credit, "messages that a sender sends before it waits for an acknowledgement")
	return cmd
}

func (a *app) benchFanIn(ctx context.Context, b actorbench.FanIn, rounds int) error {
	var now stage
	stop := a.progress(now.String)
	defer stop()
	var runs []actorbench.RateResult
	for i := range rounds {
		now.set("run %d of %d", i+1, rounds)
		r, err := b.Run(ctx)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	stop()
	c, rate := costOf(runs), actorbench.SpreadOf(runs, actorbench.RateResult.Rate)
	if a.json {
		return a.print(c.set((&line{}).set("senders", b.Senders).set("credit", b.Credit).set("rounds", rounds), rate))
	}
	var t table
	t.add("senders", "n", "msgs/s min / median / max", "ns/msg", "allocs/msg", "B/msg", "CPU s per M msgs")
	t.add(fmt.Sprint(b.Senders), fmt.Sprint(rounds), rate.String(), fmt.Sprintf("%.1f", c.ns), c.allocs(), c.bytesText(), c.cpuText())
	return a.partly(&t)
}
