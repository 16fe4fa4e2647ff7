// Command compare runs the workloads of ../../../shared/bench-actor on our runtime, on protoactor and on the
// bound "mini", alternating run by run, and prints Markdown tables with the ratios and what they should be.
//
// Each run is a process of its own. A ratio is the median of the ratios inside the rounds: whatever else the
// machine does in a round slows all of them, so ratios hold where absolute figures wander.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"actorbench/harness"
)

// record is one finished run, a line of the file of results.
type record struct {
	harness.Result
	Plan  string `json:"plan"`
	Args  string `json:"args"`
	Round int    `json:"round"`
	Error string `json:"error,omitempty"`
}

// options are the flags.
type options struct {
	bin    string
	rounds int
	procs  int
	peers  []string
	plans  []string
	out    string
	from   string
	limit  time.Duration
	akka   string
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rs, err := o.records(ctx)
	if len(rs) > 0 {
		short := report(os.Stdout, rs, o.rows())
		fmt.Fprintf(os.Stderr, "%d goals are short\n", short)
		if err == nil && short > 0 {
			os.Exit(1)
		}
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "compare: interrupted; the tables are of the runs before")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(4)
	}
}

// parse reads and checks the flags.
func parse(args []string) (*options, error) {
	var o options
	var peers, plans string
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.StringVar(&o.bin, "bin", "bin", "folder of the programs, each under its peer's name")
	f.IntVar(&o.rounds, "rounds", 5, "runs of each program in each row")
	f.IntVar(&o.procs, "procs", 2, "GOMAXPROCS of the programs")
	f.StringVar(&peers, "peers", "protoactor,mini,mini-pool,akka,actua,actua-nonblocking", "who runs; mini-pool is mini with its worker pool, actua-nonblocking asks an actor that is declared not to wait")
	f.StringVar(&plans, "plans", "all", "which rows: "+strings.Join(planNames(), ", "))
	f.StringVar(&o.out, "out", "", "append each run to this file as a line of JSON")
	f.StringVar(&o.from, "from", "", "run nothing; print the tables of such a file")
	f.StringVar(&o.akka, "akka", "", "the program akka-peer, if it is not in the folder of -bin")
	f.DurationVar(&o.limit, "limit", 2*time.Minute, "longest time of one run")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is one argument too many", f.Arg(0))
	}
	if o.rounds < 1 || o.procs < 1 {
		return nil, fmt.Errorf("-rounds and -procs begin at 1")
	}
	o.peers = strings.Split(peers, ",")
	if plans == "all" {
		o.plans = planNames()
	} else {
		o.plans = strings.Split(plans, ",")
	}
	for _, p := range o.plans {
		if !slices.Contains(planNames(), p) {
			return nil, fmt.Errorf("-plans: there is no %q; there are %s", p, strings.Join(planNames(), ", "))
		}
	}
	return &o, nil
}

// rows are those of the plans that were asked for.
func (o *options) rows() []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !slices.Contains(o.plans, r.plan) })
}

// records runs everything, or reads what another call has run.
func (o *options) records(ctx context.Context) ([]record, error) {
	if o.from != "" {
		return read(o.from)
	}
	var out *os.File
	if o.out != "" {
		var err error
		if out, err = os.OpenFile(o.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
			return nil, err
		}
		defer out.Close()
	}
	var all []record
	rows := o.rows()
	started := time.Now()
	for round := 1; round <= o.rounds; round++ {
		for _, r := range rows {
			for _, p := range o.peers {
				if r.skip(p) {
					continue
				}
				rec := o.run(ctx, r, p, round)
				if ctx.Err() != nil {
					return all, ctx.Err()
				}
				all = append(all, rec)
				what := fmt.Sprintf("%.0f/s", rec.Rate)
				if rec.Error != "" {
					what = "FAILED: " + rec.Error
				}
				fmt.Fprintf(os.Stderr, "%5.0f s, round %d of %d: %s %s: %s\n", time.Since(started).Seconds(), round, o.rounds, p, r.args, what)
				if out != nil {
					line, err := json.Marshal(rec)
					if err == nil {
						_, err = out.Write(append(line, '\n'))
					}
					if err != nil {
						return all, err
					}
				}
			}
		}
	}
	return all, nil
}

// read takes the lines of a file that -out has written.
func read(name string) ([]record, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []record
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, len(all)+1, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 && lines.Err() == nil {
		return nil, fmt.Errorf("%s has no results", name)
	}
	return all, lines.Err()
}

// run runs one program once.
func (o *options) run(ctx context.Context, r row, peer string, round int) record {
	rec := record{Plan: r.plan, Args: r.args, Round: round}
	program, env := peer, append([]string{"GOMAXPROCS=" + strconv.Itoa(o.procs)}, r.env...)
	switch peer {
	case "mini-pool":
		program, env = "mini", append(env, "MINI_SCHED=pool")
	case nonBlocking:
		program, env = ours, append(env, "ACTUA_ASK=nonblocking")
	}
	var args []string
	switch {
	case r.plan == spawnBenchmark:
		program = "spawn-" + program
	case peer == akka:
		program, args = "akka-peer", akkaArgs(r.args)
	default:
		args = append([]string{"-s"}, strings.Fields(r.args)...)
		args = append(args, "-limit", o.limit.String())
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit+10*time.Second)
	defer cancel()
	var stderr strings.Builder
	path := filepath.Join(o.bin, program)
	if peer == akka && o.akka != "" {
		path = o.akka
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Env, c.Stderr = append(os.Environ(), env...), &stderr
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err == nil {
		if peer == akka {
			err = rec.takeAkka(string(out))
		} else {
			err = rec.take(r, string(out))
		}
	}
	if err != nil {
		rec.Error = strings.TrimSpace(err.Error() + ": " + lastLine(stderr.String()))
	}
	rec.Peer = peer
	return rec
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

var spawnLine = regexp.MustCompile(`(?m)^Run (\d+) result: (\d+) in (\d+) ms$`)

// take reads what a program has printed: the harness's line, or the lines of SpawnBenchmark.
func (rec *record) take(r row, out string) error {
	if r.plan != spawnBenchmark {
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(line, "{") {
				return json.Unmarshal([]byte(line), &rec.Result)
			}
		}
		return fmt.Errorf("no result")
	}
	var ms []float64
	for _, m := range spawnLine.FindAllStringSubmatch(out, -1) {
		if m[2] != spawnSum {
			return fmt.Errorf("run %s counted %s, not %s", m[1], m[2], spawnSum)
		}
		d, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return err
		}
		ms = append(ms, d)
	}
	if len(ms) != 5 {
		return fmt.Errorf("%d runs instead of 5", len(ms))
	}
	m := median(ms)
	rec.Msgs, rec.Secs = spawnActors, m/1e3
	rec.Rate, rec.NsPerMsg = spawnActors/m*1e3, m*1e6/spawnActors
	return nil
}
