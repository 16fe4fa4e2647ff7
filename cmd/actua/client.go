package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
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

// clientFlags are those of every command that talks to a server.
type clientFlags struct {
	security, mode    string
	user, password    string
	userCert, userKey string
	pki               string
	insecure, trust   bool
	deprecated        bool
	timeout           time.Duration
	store             *uapki.Store
	trace             func(uaclient.Progress) // of `connect`
}

func (f *clientFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.security, "security", "auto", "security policy: auto, None, Basic256Sha256, Aes128_Sha256_RsaOaep, Aes256_Sha256_RsaPss; short: none, sign, encrypt")
	fs.StringVar(&f.mode, "mode", "", "message security: None, Sign or SignAndEncrypt (default: the best)")
	fs.StringVar(&f.user, "user", "", "user name (default: anonymous)")
	fs.StringVar(&f.password, "password", "", "password; also ACTUA_PASSWORD, or asked for on a terminal")
	fs.StringVar(&f.userCert, "user-cert", "", "certificate of the user (later version)")
	fs.StringVar(&f.userKey, "user-key", "", "private key of the user (later version)")
	fs.StringVar(&f.pki, "pki", "", "folder of the client's certificates (default: in the user's configuration folder)")
	fs.BoolVar(&f.insecure, "insecure", false, "do not verify the server's certificate")
	fs.BoolVar(&f.trust, "trust", false, "trust an unknown server certificate from now on")
	fs.BoolVar(&f.deprecated, "allow-deprecated", false, "allow Basic256 and Basic128Rsa15, which are no longer safe")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "how long to wait for the server")
}

// shortSecurity are the short forms of --security.
var shortSecurity = map[string]struct {
	policy string
	mode   ua.MessageSecurityMode
}{
	"none":    {"None", ua.MessageSecurityModeNone},
	"sign":    {"Basic256Sha256", ua.MessageSecurityModeSign},
	"encrypt": {"Basic256Sha256", ua.MessageSecurityModeSignAndEncrypt},
}

// config checks the flags. Nothing is opened and nobody is asked yet when they are wrong.
func (f *clientFlags) config(cmd *cobra.Command) (*uaclient.Config, error) {
	c := &uaclient.Config{
		ApplicationName: clientName, AllowDeprecated: f.deprecated, InsecureSkipVerify: f.insecure,
		RequestTimeout: f.timeout, Trace: f.trace, Log: slog.New(slog.DiscardHandler),
	}
	if f.timeout <= 0 {
		return nil, usage("--timeout %v: a time above zero is wanted, such as 10s", f.timeout)
	}
	if f.insecure && f.trust {
		return nil, usage("--insecure and --trust exclude each other: one ignores the certificate, the other stores it")
	}
	if f.userCert != "" || f.userKey != "" {
		return nil, usage("--user-cert and --user-key come with a later version; use --user and --password")
	}
	if err := f.checkSecurity(c); err != nil {
		return nil, err
	}
	if f.user == "" && cmd.Flags().Changed("password") {
		return nil, usage("--password needs --user")
	}
	return c, nil
}

func (f *clientFlags) checkSecurity(c *uaclient.Config) error {
	c.SecurityPolicy = "auto"
	if short, ok := shortSecurity[f.security]; ok {
		c.SecurityPolicy, c.Mode = short.policy, short.mode
	} else if f.security != "auto" {
		names := []string{"auto", "none", "sign", "encrypt"}
		for _, p := range uaclient.Policies() {
			names = append(names, p.Name)
			if !strings.EqualFold(p.Name, f.security) {
				continue
			}
			if c.SecurityPolicy = p.Name; p.Deprecated && !f.deprecated {
				return usage("--security %s is no longer safe; add --allow-deprecated if the server has nothing better", p.Name)
			}
		}
		if c.SecurityPolicy == "auto" {
			if strings.HasPrefix(f.security, "ECC_") {
				return usage("--security %s: elliptic curve policies come with a later version", f.security)
			}
			return usage("--security %s is no security policy%s", f.security, didYouMean(f.security, names))
		}
	}
	if f.mode == "" {
		return nil
	}
	modes := []ua.MessageSecurityMode{ua.MessageSecurityModeNone, ua.MessageSecurityModeSign, ua.MessageSecurityModeSignAndEncrypt}
	var names []string
	for _, m := range modes {
		names = append(names, m.String())
		if strings.EqualFold(m.String(), f.mode) {
			none := c.SecurityPolicy == "None"
			if c.SecurityPolicy != "auto" && none != (m == ua.MessageSecurityModeNone) || c.Mode != 0 && c.Mode != m {
				return usage("--mode %s does not go with --security %s", f.mode, f.security)
			}
			c.Mode = m
			return nil
		}
	}
	return usage("--mode %s is no mode%s", f.mode, didYouMean(f.mode, names))
}

// login takes the user of the flags; the password may have to be typed.
func (f *clientFlags) login(ctx context.Context, a *app, cmd *cobra.Command, c *uaclient.Config) error {
	if f.user == "" {
		return nil
	}
	password, err := f.askPassword(ctx, a, cmd)
	if err != nil {
		return err
	}
	c.User = uaclient.UserName{Name: f.user, Password: password}
	return nil
}

func (f *clientFlags) askPassword(ctx context.Context, a *app, cmd *cobra.Command) (string, error) {
	if cmd.Flags().Changed("password") {
		return f.password, nil
	}
	if p := a.env("ACTUA_PASSWORD"); p != "" {
		return p, nil
	}
	if a.readPassword == nil {
		return "", usage("--user needs --password or ACTUA_PASSWORD when nobody can be asked")
	}
	fmt.Fprintf(a.err, "Password of %s: ", clean(f.user))
	type typed struct {
		text []byte
		err  error
	}
	answer := make(chan typed, 1)
	go func() {
		p, err := a.readPassword()
		answer <- typed{p, err}
	}()
	select {
	case t := <-answer:
		fmt.Fprintln(a.err)
		if t.err != nil {
			return "", ourPart(t.err, "the password could not be read: %v", t.err)
		}
		return string(t.text), nil
	case <-ctx.Done(): // Ctrl-C does not end the reading, which has also switched the echo off
		if a.restore != nil {
			a.restore()
		}
		fmt.Fprintln(a.err)
		return "", ctx.Err()
	}
}

// storeDir is a folder of certificates, the default one of "client" or "server" when dir is "".
func storeDir(dir, role string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	base, err := os.UserConfigDir()
	if err != nil {
		return "", ourPart(err, "there is no configuration folder for this user (%v): give one with --pki DIR", err)
	}
	return filepath.Join(base, "actua", "pki", role), nil
}

// openStore opens the folder of certificates.
func openStore(dir, role string) (*uapki.Store, error) {
	dir, err := storeDir(dir, role)
	if err != nil {
		return nil, err
	}
	store, err := uapki.Open(dir)
	if err != nil {
		return nil, ourPart(err, "%v: give another folder with --pki DIR", err)
	}
	return store, nil
}

// dial connects with the flags' settings.
func (a *app) dial(ctx context.Context, cmd *cobra.Command, f *clientFlags, address string) (*uaclient.Client, error) {
	config, err := f.config(cmd)
	if err != nil {
		return nil, err
	}
	if _, err := checkURL(address); err != nil {
		return nil, err
	}
	if err := f.login(ctx, a, cmd, config); err != nil {
		return nil, err
	}
	if config.SecurityPolicy != "None" || config.User != nil {
		if f.store, err = openStore(f.pki, "client"); err != nil {
			return nil, err
		}
		config.PKI = f.store
	}
	config.VerifyServer = func(_ context.Context, cert *uaclient.ServerCertificate) error { return a.verify(f, cert) }
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	stop := a.progress(func() string { return "connecting to " + address })
	defer stop()
	a.client, err = uaclient.Dial(ctx, address, config)
	var refused *uaclient.CertificateError
	if uaclient.StepOf(err) == uaclient.StepCertificate && !errors.As(err, &refused) && f.store != nil {
		// Either the server sends no certificate that can be read, or our own cannot be.
		own := uapki.CertificateOptions{CommonName: config.ApplicationName}
		if _, _, ownErr := f.store.LoadOrCreate(own); ownErr != nil {
			return nil, ourPart(ownErr, "this client's certificate: %v", ownErr)
		}
	}
	return a.client, err
}

// checkURL refuses addresses that cannot be dialled: that is wrong usage, not a missing server.
func checkURL(address string) (string, error) {
	u, err := uaclient.ParseURL(address)
	if err != nil {
		text := err.Error()
		if i := strings.LastIndex(text, ": Bad"); i > 0 {
			text = text[:i]
		}
		return "", usage("URL: %s", text)
	}
	return u.String(), nil
}

// hangUp closes the session also when the command was interrupted.
func (a *app) hangUp() {
	c := a.client
	a.client, a.lost = nil, c.Err()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// noAnswer are errors that tell of a lost connection or of silence, not of an answer: statuses such as
// BadTimeout are also what servers say about their devices.
var noAnswer = []error{
	context.DeadlineExceeded, context.Canceled, ua.BadConnectionClosed, ua.BadSecureChannelClosed, ua.BadSecureChannelIdInvalid,
	ua.BadServerHalted, ua.BadShutdown, ua.BadSessionClosed, ua.BadSessionIdInvalid,
}

// answered reports whether an error is what the server said about a node, and not the end of the
// connection, of its patience or of ours.
func (a *app) answered(err error) bool {
	lost := a.lost
	if a.client != nil {
		lost = a.client.Err()
	}
	return !slices.ContainsFunc(noAnswer, func(e error) bool { return errors.Is(err, e) }) &&
		(lost == nil || !errors.Is(err, lost))
}

// classifyClient finds the exit code of an error of the client.
func (a *app) classifyClient(err error) *exitError {
	var e *uaclient.Error
	if !errors.As(err, &e) {
		return &exitError{code: exitOurPart, text: err.Error(), err: err}
	}
	if e.Step != uaclient.StepService {
		return &exitError{code: exitNoServer, text: err.Error() + hint(e), err: err}
	}
	if !a.answered(err) {
		text := err.Error() + " (the connection ended during the work)"
		if errors.Is(err, context.DeadlineExceeded) {
			text = err.Error() + longer
		}
		return &exitError{code: exitNoServer, text: text, err: err}
	}
	return &exitError{code: exitBadStatus, text: err.Error(), err: err}
}

// longer is the hint for those that did not wait long enough.
const longer = " (--timeout sets how long to wait)"

// hint tells what to do about the usual failures of a connection.
func hint(e *uaclient.Error) string {
	var refused *uaclient.CertificateError
	var unknownHost *net.DNSError
	switch {
	case errors.As(e.Err, &refused):
		return ""
	case errors.As(e.Err, &unknownHost):
		return " (is the name of the host right?)"
	case e.Step == uaclient.StepTCP && !errors.Is(e.Err, ua.BadTimeout):
		return " (is the server running, and is the port right?)"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return longer
	case errors.Is(e.Err, ua.BadUserAccessDenied) || errors.Is(e.Err, ua.BadIdentityTokenRejected) && e.Step == uaclient.StepActivate:
		return " (check --user and --password)"
	case errors.Is(e.Err, ua.BadIdentityTokenRejected) && e.Step == uaclient.StepEndpoints:
		return " (`actua connect URL --explain` says how to log in)"
	case errors.Is(e.Err, ua.BadCertificateUntrusted):
		return " (the server does not trust this client's certificate yet: its administrator moves it from the rejected ones to the trusted ones; `actua connect URL --explain` says more)"
	case errors.Is(e.Err, ua.BadSecurityChecksFailed):
		return " (the server may not trust this client's certificate yet: its administrator finds it among the rejected ones and moves it to the trusted ones; `actua connect URL --explain` says more)"
	}
	return ""
}
