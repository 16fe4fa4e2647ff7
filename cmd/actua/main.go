// Command actua serves, browses, reads, writes and calls OPC UA nodes. docs/cli.md tells how.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/actua/actua/ua/uaclient"
)

func main() {
	// The first signal ends the work in good order, a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		a.readPassword = func() ([]byte, error) { return term.ReadPassword(int(os.Stdin.Fd())) }
		if before, err := term.GetState(int(os.Stdin.Fd())); err == nil {
			a.restore = func() { _ = term.Restore(int(os.Stdin.Fd()), before) }
		}
	}
	a.outTerminal = term.IsTerminal(int(os.Stdout.Fd()))
	if a.outTerminal {
		a.width, _, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	a.errTerminal = term.IsTerminal(int(os.Stderr.Fd()))
	a.color = a.outTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	code := a.run(ctx, os.Args[1:])
	os.Exit(code)
}

// Exit codes, as docs/cli.md lists them.
const (
	exitDone        = 0
	exitBadStatus   = 1 // the other side answered with a bad status
	exitUsage       = 2
	exitNoServer    = 3 // no connection
	exitOurPart     = 4 // port in use, unreadable file, disk full
	exitInterrupted = 130
)

// app is one run of the program with what it touches of the world.
type app struct {
	in           io.Reader
	out, err     io.Writer
	env          func(string) string
	readPassword func() ([]byte, error) // without echo; nil when nobody is there to type
	restore      func()                 // gives the terminal its echo back; may be nil
	color        bool
	outTerminal  bool // standard output is one
	width        int  // of that terminal in characters; 0 when not known
	errTerminal  bool // standard error is one

	json bool
	bad  bool // some status was bad, and it has been printed

	client *uaclient.Client // while there is a connection
	lost   error            // why the connection ended, when we did not end it
}

// run executes a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && a.bad {
		return exitBadStatus
	}
	if err == nil {
		return exitDone
	}
	failure := a.classify(ctx, err)
	if failure.text != "" {
		fmt.Fprintf(a.err, "%s: %s\n", cmd.CommandPath(), cleanLines(failure.text))
	}
	return failure.code
}

// exitError carries an exit code and the text for people.
type exitError struct {
	code int
	text string
	err  error
}

func (e *exitError) Error() string { return e.text }
func (e *exitError) Unwrap() error { return e.err }

// usage is a wrong command line: one sentence.
func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, text: fmt.Sprintf(format, args...)}
}

// ourPart is something that could not be done on this machine.
func ourPart(err error, format string, args ...any) error {
	return &exitError{code: exitOurPart, text: fmt.Sprintf(format, args...), err: err}
}

// classify finds the exit code of an error.
func (a *app) classify(ctx context.Context, err error) *exitError {
	var done *exitError
	switch {
	case errors.As(err, &done):
		return done
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, text: "interrupted", err: err}
	case errors.Is(err, syscall.EPIPE):
		return &exitError{code: exitOurPart, err: err} // whoever read the output has gone
	}
	return a.classifyClient(err)
}
