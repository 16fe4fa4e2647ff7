package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/actua/actua/internal/config"
	"github.com/actua/actua/internal/plant"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// settings is the configuration that the flags ask for: a profile or a file, and other flags before it.
func (f *serveFlags) settings() (*config.Config, error) {
	var c *config.Config
	switch {
	case f.changed("config") && f.changed("profile"):
		return nil, usage("--config and --profile exclude each other: the file says what is served")
	case f.changed("config"):
		text, err := os.ReadFile(f.config)
		if err != nil {
			return nil, ourPart(err, "the configuration cannot be read: %v", err)
		}
		if c, err = config.Parse(f.config, text, didYouMean); err != nil {
			return nil, configError(err)
		}
	case f.profile == "o6":
		return nil, usage("--profile %s comes with a later version of actua", f.profile)
	case !slices.Contains(config.Profiles(), f.profile):
		return nil, usage("--profile %s is no profile%s", f.profile, didYouMean(f.profile, config.Profiles()))
	default:
		c = config.Profile(f.profile)
	}
	if f.changed("listen") {
		if _, why := config.CheckListen(f.listen); why != "" {
			return nil, usage("--listen %s", why)
		}
		c.Listen = f.listen
	}
	if f.changed("stats") {
		if f.stats != "" && !config.IsAddress(f.stats) {
			return nil, usage("--stats %s is no address; such as localhost:6840", f.stats)
		}
		c.Stats = f.stats
	}
	if f.changed("diag") {
		if f.diag != 0 && f.diag != 1 {
			return nil, usage("--diag %d is neither 0 nor 1", f.diag)
		}
		c.Diagnostics = f.diag == 1
	}
	if f.changed("pki") {
		c.PKI = f.pki
	}
	if c.Nodesets = append(c.Nodesets, f.nodesets...); f.lenient {
		c.Lenient = true
	}
	if f.changed("allow-deprecated") {
		c.Security.AllowDeprecated = f.deprecated
	}
	return c, nil
}

// configError makes wrong usage of what is wrong in a configuration file.
func configError(err error) error {
	var e *config.Error
	if errors.As(err, &e) {
		return usage("%v", e)
	}
	return err
}

// serverConfig opens the certificates and says what is offered to whom.
func (a *app) serverConfig(f *serveFlags, set *config.Config) (*uaserver.Config, *uapki.Store, error) {
	store, err := openStore(set.PKI, "server")
	if err != nil {
		return nil, nil, err
	}
	id, _, err := store.LoadOrCreate(uapki.CertificateOptions{CommonName: serverName, ApplicationURI: set.Application.URI})
	switch {
	case err != nil && set.Application.URI != "" && errors.Is(err, ua.BadCertificateUriInvalid):
		return nil, nil, usage("%v", &config.Error{File: f.config, Line: set.Line("application.uri"), Text: fmt.Sprintf(
			"application.uri: the certificate in %s was made for another URI: write that one, or choose another folder with pki", store.Dir())})
	case err != nil:
		return nil, nil, ourPart(err, "%v", err)
	}
	c := &uaserver.Config{
		ApplicationName: set.Application.Name, Identity: id, Store: store,
		Policies: set.Security.Policies, AllowDeprecated: set.Security.AllowDeprecated,
		AllowAnonymous: set.Users.Anonymous, Diagnostics: set.Diagnostics, Limits: set.Limits,
		Logger: slog.New(slog.NewTextHandler(a.err, nil)),
	}
	if c.Limits.IdleTimeout < 0 {
		c.Limits.IdleTimeout = 0 // none but the token's lifetime
	}
	if set.Security.AllowDeprecated {
		for _, p := range uaclient.Policies() {
			if p.Deprecated && !slices.Contains(c.Policies, p.Name) {
				c.Policies = append(slices.Clone(c.Policies), p.Name)
			}
		}
	}
	for _, name := range set.Security.Modes {
		mode := ua.MessageSecurityModeSign
		if name == "SignAndEncrypt" {
			mode = ua.MessageSecurityModeSignAndEncrypt
		}
		c.Modes = append(c.Modes, mode)
	}
	if set.Security.Clients == config.ClientsAny {
		c.VerifyClient = uaserver.AcceptAnyClient
	}
	if c.Users, err = a.accounts(f, set); err != nil {
		return nil, nil, err
	}
	return c, store, nil
}

// accounts are the users with their passwords, some of which are in the environment.
func (a *app) accounts(f *serveFlags, set *config.Config) (map[string]string, error) {
	users := map[string]string{}
	for i, u := range set.Users.Accounts {
		if users[u.Name] = u.Password; u.PasswordEnv == "" {
			continue
		}
		if users[u.Name] = a.env(u.PasswordEnv); users[u.Name] == "" {
			path := fmt.Sprintf("users.accounts[%d].password-env", i)
			return nil, usage("%v", &config.Error{File: f.config, Line: set.Line(path),
				Text: fmt.Sprintf("the environment variable %s, the password of %s, is not set", u.PasswordEnv, u.Name)})
		}
	}
	return users, nil
}

// buildNodes makes the address space; the plant is nil when nothing moves.
func buildNodes(set *config.Config, applicationURI string) (space *memspace.Space, demo *plant.Plant, err error) {
	uris := set.Namespaces
	if len(uris) == 0 {
		uris = []string{applicationURI}
	}
	space = memspace.New(uris[0], uris[1:]...)
	switch set.Plant {
	case config.PlantDemo:
		demo, err = plant.Build(space)
	case config.PlantBench:
		err = plant.BuildBench(space)
	}
	if err != nil {
		return nil, nil, ourPart(err, "the plant %s could not be built: %v", set.Plant, err)
	}
	return space, demo, configError(set.AddVariables(space))
}

// announce prints that clients can connect, and how.
func (a *app) announce(f *serveFlags, set *config.Config, store *uapki.Store, server *uaserver.Server, listeners []net.Listener) error {
	first := reachable(listeners[0])
	what, bench := "the "+f.profile+" profile", f.config == "" && f.profile == "bench"
	if f.config != "" {
		what = f.config
	}
	anybody := set.Security.Clients == config.ClientsAny
	switch {
	case bench:
		fmt.Fprintln(a.err, "warning: the bench profile accepts any client certificate and is for measuring only")
	case anybody:
		fmt.Fprintf(a.err, "warning: %s accepts any client certificate\n", what)
	}
	off := benchOff
	if set.Diagnostics {
		off = slices.DeleteFunc(slices.Clone(off), func(what string) bool { return what == "diagnostics" })
	}
	endpoints := server.Endpoints()
	if a.json {
		list := []json.RawMessage{}
		for i := range endpoints {
			list = append(list, endpointLine(&endpoints[i]).object())
		}
		l := new(line).set("event", "listening").set("url", first).set("endpoints", list)
		if bench {
			l.set("off", off)
		}
		return a.print(l)
	}
	var b strings.Builder
	b.WriteString(a.paint(bold, "actua serves "+what) + "\n\n")
	b.WriteString(endpointTable(endpoints))
	fmt.Fprintf(&b, "certificates %s\n", store.Dir())
	if bench {
		fmt.Fprintf(&b, "off          %s\n", strings.Join(off, ", "))
	}
	if f.config == "" {
		for _, u := range set.Users.Accounts {
			fmt.Fprintf(&b, "user         %s, password %s (or anonymous)\n", u.Name, u.Password)
		}
	}
	b.WriteString("\nTry it in another window:\n\n  actua browse " + first)
	if !set.Users.Anonymous {
		b.WriteString(" --user " + set.Users.Accounts[0].Name)
	}
	const stores = "--trust stores this server's certificate: compare the thumbprint first. "
	const stop = "Ctrl-C stops the server.\n"
	trust := "a client is refused until its certificate is trusted: `actua cert trust THUMBPRINT" + (&certFlags{pki: set.PKI, server: true}).again() +
		"`,\nor move its file from rejected/certs to trusted/certs of the folder above."
	switch {
	case !slices.ContainsFunc(set.Security.Policies, func(p string) bool { return p != "None" }):
		b.WriteString("\n\nThis server offers no security: whoever is in the network can read and change everything. " + stop)
	case anybody:
		b.WriteString(" --trust\n\n" + stores + stop)
	case slices.Contains(set.Security.Policies, "None"):
		b.WriteString(" --security none\n\nWith security, " + trust + " " + stop)
	default:
		b.WriteString(" --trust\n\nBesides, " + trust + "\n" + stores + stop)
	}
	return a.printf("%s", b.String())
}
