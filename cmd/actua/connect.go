package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

func (a *app) connectCommand() *cobra.Command {
	f := &clientFlags{}
	explain := false
	cmd := &cobra.Command{
		Use:   "connect URL --explain",
		Short: "Connect step by step, and say why it fails and what to change",
		Long: `Connect to a server step by step with the flags given, close the session again,
and say of a step that fails why, and what to change. Nothing is tried after it.`,
		Example: "  actua connect localhost --explain\n  actua connect opc.tcp://plant7:4840 --explain --user operator",
		Args:    exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !explain {
				return usage("--explain is missing: %s", cmd.UseLine())
			}
			return a.explain(cmd, f, args[0])
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "a line for each step, with the reason and the remedy where it fails")
	f.register(cmd)
	return cmd
}

// explainer prints the steps of a connection as they end.
type explainer struct {
	app    *app
	flags  *clientFlags
	url    *url.URL
	done   map[uaclient.Step]bool
	before time.Duration // of the steps that were left out since the last line
	failed uaclient.Step
	err    error // why the output ended
}

func (a *app) explain(cmd *cobra.Command, f *clientFlags, address string) error {
	if _, err := checkURL(address); err != nil {
		return err
	}
	u, err := uaclient.ParseURL(address)
	if err != nil {
		return usage("URL: %v", err)
	}
	x := &explainer{app: a, flags: f, url: u, done: map[uaclient.Step]bool{}}
	f.trace = x.step
	_, err = a.dial(cmd.Context(), cmd, f, address)
	if err == nil {
		a.hangUp()
		if x.err == nil && !a.json {
			x.err = a.printf("\nThe connection works, and so will every other command with these flags.\n")
		}
		return x.err
	}
	x.rest()
	if x.err != nil {
		return x.err
	}
	if e := a.classify(cmd.Context(), err); e.code != exitNoServer {
		return e
	}
	return &exitError{code: exitNoServer, text: fmt.Sprintf("no connection: step %s failed", x.failed), err: err}
}

// step prints a step that has ended. TCP and Hello of the second connection, for the secured channel, are
// shown when they fail only.
func (x *explainer) step(p uaclient.Progress) {
	if errors.Is(p.Err, context.Canceled) || x.err != nil {
		return
	}
	if p.Err == nil && x.done[p.Step] && (p.Step == uaclient.StepTCP || p.Step == uaclient.StepHello) {
		x.before += p.Took
		return
	}
	took := p.Took + x.before
	var why, fix string
	if p.Err != nil {
		x.failed = p.Step
		why, fix = x.reason(&p)
	}
	x.before, x.done[p.Step] = 0, true
	ms := float64(took) / float64(time.Millisecond)
	if x.app.json {
		x.err = x.app.print(new(line).set("step", p.Step).set("ok", p.Err == nil).
			set("took", math.Round(ms*1000)/1000).text("why", why).text("fix", fix))
		return
	}
	if x.app.errTerminal {
		fmt.Fprint(x.app.err, "\r\x1b[K") // what shows that somebody waits
	}
	if p.Err == nil {
		text := fmt.Sprintf("%-11s %8.1f ms  %s", p.Step, ms, clean(x.detail(&p)))
		x.err = x.app.printf("%s      %s\n", x.app.paint(green, "ok"), strings.TrimRight(text, " "))
		return
	}
	x.err = x.app.printf("%s  %-11s %8.1f ms\n        why: %s\n        fix: %s\n",
		x.app.paint(red, "FAILED"), p.Step, ms, clean(why), clean(fix))
}

// rest names the steps that were not tried, for people.
func (x *explainer) rest() {
	if x.app.json || x.failed == "" {
		return
	}
	steps := []uaclient.Step{uaclient.StepTCP, uaclient.StepHello, uaclient.StepChannel, uaclient.StepEndpoints,
		uaclient.StepSession, uaclient.StepActivate}
	last := uaclient.StepEndpoints // also of the certificate and the secured channel
	if !x.done[last] || x.failed == uaclient.StepSession || x.failed == uaclient.StepActivate {
		last = x.failed
	}
	for _, step := range steps[slices.Index(steps, last)+1:] {
		x.err = errors.Join(x.err, x.app.printf("-       %-11s  not tried\n", step))
	}
}

// detail is what people see of a step that succeeded.
func (x *explainer) detail(p *uaclient.Progress) string {
	var chosen string
	if e := p.Endpoint; e != nil {
		chosen = policyName(e.SecurityPolicyURI)
		if e.SecurityMode != ua.MessageSecurityModeNone {
			chosen += ", " + e.SecurityMode.String()
		}
	}
	switch p.Step {
	case uaclient.StepTCP:
		return x.url.Host + " takes connections"
	case uaclient.StepHello:
		return "it speaks OPC UA"
	case uaclient.StepChannel:
		if p.Endpoint == nil {
			return "without security, to ask for the endpoints"
		}
		return chosen
	case uaclient.StepEndpoints:
		return fmt.Sprintf("%d offered; best that fits: %s", len(p.Offered), chosen)
	case uaclient.StepCertificate:
		leaf := leafOf(p.Endpoint.ServerCertificate)
		switch {
		case leaf == nil:
			return ""
		case x.flags.insecure:
			return thumbprint(leaf) + ", not verified"
		}
		return thumbprint(leaf) + ", trusted"
	case uaclient.StepSession:
		if skew := clockText(p.ClockAhead); skew != "" {
			return "note: " + skew
		}
	case uaclient.StepActivate:
		if x.flags.user != "" {
			return "user " + x.flags.user
		}
		return "anonymous"
	}
	return ""
}

// skewed is a difference of clocks worth a word; certificates and tokens suffer from hours, logs from less.
const skewed = time.Minute

// clockText says how far the server's clock is away, "" when it is close.
func clockText(ahead time.Duration) string {
	switch {
	case ahead > skewed:
		return "the server's clock is " + ahead.Round(time.Second).String() + " ahead of this machine's"
	case ahead < -skewed:
		return "the server's clock is " + (-ahead).Round(time.Second).String() + " behind this machine's"
	}
	return ""
}

// refusedHere is the file of a certificate among the rejected ones of an `actua serve` on this machine, "" if it
// is not there.
func refusedHere(thumb string) string {
	dir, err := storeDir("", "server")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "rejected", "certs")); err != nil {
		return ""
	}
	store, err := uapki.Open(dir)
	if err != nil {
		return ""
	}
	rejected, err := store.ListRejected()
	if err != nil {
		return ""
	}
	for _, e := range rejected {
		if thumbprint(e.Certificate) == thumb {
			return e.File
		}
	}
	return ""
}

// plain is the text of an error without the package that it comes from and without the name and number of
// its status behind it.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "uapki: ")
	if i := strings.LastIndex(text, ": Bad"); i > 0 {
		text = text[:i]
	}
	return text
}
