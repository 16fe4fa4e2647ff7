package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/internal/actorbench"
)

// comesLater is a command below another one whose name is taken, but that does not exist yet.
func comesLater(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("command %q comes with a later version of actua", strings.TrimPrefix(cmd.CommandPath(), "actua "))
		},
	}
}

// group is a command that only has others below it.
func group(name, short, long, example string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, Example: example, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, c := range cmd.Commands() {
				if !c.Hidden {
					names = append(names, c.Name())
				}
			}
			return usage("there is no command %s %q%s", strings.TrimPrefix(cmd.CommandPath(), "actua "), args[0], didYouMean(args[0], names))
		},
	}
	cmd.AddCommand(below...)
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

func (a *app) benchCommand() *cobra.Command {
	return group("bench", "Measure what actors cost", `Measure what actors cost on this machine.`,
		"  actua bench actors ping-pong", a.benchActorsCommand(), comesLater("server"))
}

func (a *app) benchActorsCommand() *cobra.Command {
	return group("actors", "The benchmarks of actor runtimes", `The benchmarks of actor runtimes: ping-pong and spawn are those of Akka.NET, with its
counts and columns. Figures of two runtimes can only be compared when both ran on one
machine, one after the other.`,
		"  actua bench actors ping-pong\n  actua bench actors ask --clients 1,8 --rounds 3 --json",
		a.benchPingPongCommand(), a.benchSpawnCommand(), a.benchAskCommand(), a.benchFanInCommand(), a.benchPathsCommand(), a.benchDigitsCommand(), a.benchRemoteCommand())
}

// mostRepeat would take an hour and more; above it counts of messages could overflow.
const mostRepeat = 1_000_000_000_000

// benchFlags are those that several of the benchmarks have.
type benchFlags struct {
	repeat  int64
	rounds  int
	timeout time.Duration
}

func (f *benchFlags) register(cmd *cobra.Command, rounds int, roundsText string, repeat int64, repeatText string) {
	fs := cmd.Flags()
	fs.IntVar(&f.rounds, "rounds", rounds, roundsText)
	if repeat > 0 {
		fs.Int64Var(&f.repeat, "repeat", repeat, repeatText)
	}
	fs.DurationVar(&f.timeout, "timeout", 5*time.Minute, "longest time of one run; one that takes longer has failed")
}

func (f *benchFlags) check(cmd *cobra.Command) error {
	switch {
	case f.rounds < 1:
		return aboveZero("rounds", f.rounds, 5)
	case cmd.Flags().Lookup("repeat") != nil && f.repeat < 1:
		return aboveZero("repeat", f.repeat, 1000)
	case f.repeat > mostRepeat:
		return usage("--repeat %d: at most %d", f.repeat, int64(mostRepeat))
	case f.timeout <= 0:
		return usage("--timeout %v: a time above zero is wanted, such as 10s", f.timeout)
	}
	return nil
}

// aboveZero is the error of a flag whose number is too small.
func aboveZero[N int | int64](flag string, have N, such int) error {
	return usage("--%s %d: a number above zero is wanted, such as %d", flag, have, such)
}

// allAboveZero checks a list of numbers.
func allAboveZero(flag string, numbers []int) error {
	if len(numbers) == 0 {
		return usage("--%s: a number is wanted, or several with commas between", flag)
	}
	for _, n := range numbers {
		if n < 1 {
			return aboveZero(flag, n, 8)
		}
	}
	return nil
}

// measured makes an error of a workload one with an exit code: a run that loses messages has failed its own
// verdict.
func measured(err error) error {
	if errors.Is(err, actorbench.ErrLate) {
		return &exitError{code: exitBadStatus, text: fmt.Sprintf("%v: messages were lost, or the machine is too slow for --timeout", err), err: err}
	}
	return err
}

// stage is the text of the progress line of several measurements.
type stage struct{ text atomic.Pointer[string] }

func (s *stage) set(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.text.Store(&text)
}

func (s *stage) String() string {
	if t := s.text.Load(); t != nil {
		return *t
	}
	return ""
}

// round keeps figures in JSON to what is measured.
func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}

// cost adds what a measurement has cost to a line.
func (l *line) cost(u actorbench.Usage, n int64) *line {
	_, cpu, allocs, bytes := u.PerMessage(n)
	return l.set("cpuSeconds", round(u.CPU.Seconds(), 6)).set("cpuSecondsPerMillion", round(cpu, 4)).
		set("allocsPerMessage", round(allocs, 3)).set("bytesPerMessage", round(bytes, 2))
}
