// Program mutate proves that tests bite: it breaks the product in the ways that the table lists, one at
// a time and in an overlay of the build, so that no file changes, and runs the tests that must fail.
// Usage: go run ./internal/mutate [-v] [-set publish|mailbox] [name ...], in the root of the module.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mutation is one way to break the product.
type mutation struct {
	name  string
	edits []edit
	pkg   string // whose tests must notice, such as ./ua/internal/subs
	// cases matches the full names of the tests and subtests that are run, each by itself.
	cases string
	// atLeast is how many of them must fail; 0 means all.
	atLeast int
	// race builds with the race detector.
	race bool
}

// edit replaces a piece of text that occurs once in the file.
type edit struct{ file, old, new string }

func main() {
	verbose := flag.Bool("v", false, "show what the tests that fail say")
	what := flag.String("set", "publish", "which mutations: publish, mailbox, or mailbox-1 and mailbox-2, its halves")
	flag.Parse()
	if err := run(*what, flag.Args(), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// set is a table, and what -test.run has to be to run all its cases.
type set struct {
	table []mutation
	tests string
}

// sets are the tables, by what they break.
func sets() map[string]set {
	half := len(mailboxTable) / 2 // so that two can be at work
	return map[string]set{
		"publish": {table, "."}, "mailbox": {mailboxTable, mailboxTests},
		"mailbox-1": {mailboxTable[:half], mailboxTests}, "mailbox-2": {mailboxTable[half:], mailboxTests},
	}
}

func run(what string, names []string, verbose bool) error {
	set, ok := sets()[what]
	if !ok {
		return fmt.Errorf("there is no set of mutations %q", what)
	}
	table := set.table
	for _, n := range names {
		if !slices.ContainsFunc(table, func(m mutation) bool { return m.name == n }) {
			return fmt.Errorf("there is no mutation %q", n)
		}
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := workshop{dir: dir, verbose: verbose, tests: set.tests, passing: map[string][]string{}}
	survived := 0
	for _, m := range table {
		if len(names) > 0 && !slices.Contains(names, m.name) {
			continue
		}
		failed, of, err := w.try(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		need, verdict := m.atLeast, "noticed"
		if need == 0 {
			need = of
		}
		if failed < need {
			verdict = "SURVIVED"
			survived++
		}
		fmt.Printf("%-9s %3d of %3d cases fail, %3d must: %s\n", verdict, failed, of, need, m.name)
	}
	if survived > 0 {
		return fmt.Errorf("%d mutations were not noticed", survived)
	}
	return nil
}

// workshop builds and runs test binaries.
type workshop struct {
	dir     string
	verbose bool
	tests   string
	passing map[string][]string // tests of the unbroken packages
	n       int
}

// try returns how many cases fail with the mutation, of how many that pass without.
func (w *workshop) try(m mutation) (failed, of int, err error) {
	cases, err := w.cases(m)
	if err != nil {
		return 0, 0, err
	}
	overlay, err := w.overlay(m)
	if err != nil {
		return 0, 0, err
	}
	broken, err := w.build(m.pkg, overlay, m.race)
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(broken)
	for _, c := range cases {
		out, err := w.test(broken, m.pkg, exact(c), "-test.timeout=20s")
		if err == nil {
			continue
		}
		if exit := new(exec.ExitError); !errors.As(err, &exit) {
			return 0, 0, err
		}
		failed++
		if w.verbose {
			fmt.Printf("--- %s, %s\n%s", m.name, c, out)
		}
	}
	return failed, len(cases), nil
}

// overlay writes the changed files, and the list of them that the go command reads.
func (w *workshop) overlay(m mutation) (string, error) {
	changed, err := m.apply(".")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range changed {
		w.n++
		to := filepath.Join(w.dir, fmt.Sprintf("%d.go", w.n))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		from, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[from] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	w.n++
	name := filepath.Join(w.dir, fmt.Sprintf("%d.json", w.n))
	return name, os.WriteFile(name, list, 0o600)
}

// apply returns the changed text of each file. Text that does not occur exactly once is an error.
func (m mutation) apply(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range m.edits {
		text, ok := out[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%q occurs %d times in %s: the mutation has to follow the product", e.old, n, e.file)
		}
		out[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return out, nil
}

// build compiles the tests of a package, with recycled memory overwritten.
func (w *workshop) build(pkg, overlay string, race bool) (string, error) {
	w.n++
	out := filepath.Join(w.dir, fmt.Sprintf("%d.test", w.n))
	args := []string{"test", "-c", "-vet=off", "-tags", "leasecheck", "-o", out}
	if race {
		args = append(args, "-race")
	}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if b, err := exec.Command("go", append(args, pkg)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, b)
	}
	return out, nil
}

// test runs a test binary in the folder of its package.
func (w *workshop) test(binary, pkg string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = pkg
	return cmd.CombinedOutput()
}

var passed = regexp.MustCompile(`(?m)^ *--- PASS: (\S+)`)

// cases lists the cases of a mutation, all of which pass in the unbroken product.
func (w *workshop) cases(m mutation) ([]string, error) {
	match, err := regexp.Compile(m.cases)
	if err != nil {
		return nil, err
	}
	if w.passing[m.pkg] == nil {
		healthy, err := w.build(m.pkg, "", false)
		if err != nil {
			return nil, err
		}
		out, err := w.test(healthy, m.pkg, "-test.v", "-test.run="+w.tests)
		if err != nil {
			return nil, fmt.Errorf("without the mutation: %w: %s", err, out)
		}
		for _, p := range passed.FindAllSubmatch(out, -1) {
			w.passing[m.pkg] = append(w.passing[m.pkg], string(p[1]))
		}
	}
	var cases []string
	for _, name := range w.passing[m.pkg] {
		if match.MatchString(name) {
			cases = append(cases, name)
		}
	}
	if len(cases) == 0 || len(cases) < m.atLeast {
		return nil, fmt.Errorf("%d tests match %q, %d have to fail", len(cases), m.cases, m.atLeast)
	}
	return cases, nil
}

// exact is the argument that runs one test or subtest.
func exact(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return "-test.run=" + strings.Join(parts, "/")
}
