package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/internal/plant"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// The user of the demo profile, so that a login can be tried. It is printed at the start.
const (
	demoUser     = "operator"
	demoPassword = "operator"
)

type serveFlags struct {
	listen              []string
	pki, profile, stats string
	deprecated          bool
}

// benchOff is what the bench profile does without.
var benchOff = []string{"admission limits", "lock-out", "certificate trust", "diagnostics", "auditing"}

// laterServeFlags are known, so that scripts get a sentence, but do not do anything yet.
var laterServeFlags = []string{"config", "nodeset", "lenient", "diag", "audit", "print-config", "reverse"}

func (a *app) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a small plant that moves, or an empty address space",
		Long: `Serve OPC UA until Ctrl-C. Without any flag it is the demo profile, a small
plant whose values move, on port 4840. The server's certificate is made at the
first start and kept.`,
		Example: "  actua serve\n  actua serve --listen opc.tcp://localhost:4841 --profile empty",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("%q is one argument too many: %s [flags]", args[0], cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range laterServeFlags {
				if cmd.Flags().Changed(name) {
					return usage("--%s comes with a later version of actua", name)
				}
			}
			return a.serve(cmd.Context(), f)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&f.listen, "listen", []string{"opc.tcp://:4840"}, "address to listen on; may be repeated")
	fs.StringVar(&f.pki, "pki", "", "folder of the server's certificates (default: in the user's configuration folder)")
	fs.StringVar(&f.profile, "profile", "demo", "what to serve: demo, empty, or bench for a load generator")
	fs.StringVar(&f.stats, "stats", "", "HOST:PORT of a page with figures of the process's memory, as JSON over HTTP")
	fs.BoolVar(&f.deprecated, "allow-deprecated", false, "offer Basic256 and Basic128Rsa15 too, which are no longer safe")
	for _, name := range laterServeFlags {
		switch name {
		case "lenient", "print-config":
			fs.Bool(name, false, "later version")
		case "nodeset":
			fs.StringArray(name, nil, "later version")
		default:
			fs.String(name, "", "later version")
		}
		fs.Lookup(name).Hidden = true
	}
	return cmd
}

func (f *serveFlags) check() error {
	switch f.profile {
	case "demo", "empty", "bench":
	case "o6":
		return usage("--profile %s comes with a later version of actua", f.profile)
	default:
		return usage("--profile %s is no profile%s", f.profile, didYouMean(f.profile, []string{"demo", "empty", "bench"}))
	}
	if f.stats != "" && !isAddress(f.stats) {
		return usage("--stats %s is no address; such as localhost:6840", f.stats)
	}
	seen := map[string]bool{}
	for i, text := range f.listen {
		if !strings.Contains(text, "://") {
			if net.ParseIP(text) != nil && strings.Contains(text, ":") {
				text = "[" + text + "]"
			}
			text = "opc.tcp://" + text
			f.listen[i] = text
		}
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || !isPort(u.Port()):
			return usage("--listen %s is no address; such as opc.tcp://0.0.0.0:4840", text)
		case u.User != nil:
			return usage("--listen %s: an address to listen on has no user", u.Redacted())
		case u.Scheme == "opc.https" || u.Scheme == "https" || u.Scheme == "opc.wss":
			return usage("--listen %s: %s:// comes with a later version of actua, listen on opc.tcp://", text, u.Scheme)
		case u.Scheme != "opc.tcp":
			return usage("--listen %s does not begin with opc.tcp://", text)
		case seen[u.Host] && u.Port() != "0":
			return usage("--listen %s is given twice", text)
		}
		seen[u.Host] = true
	}
	return nil
}

// isPort accepts no port too: it is the default one.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// serve runs the server until the context ends.
func (a *app) serve(ctx context.Context, f *serveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	config, store, err := a.serverConfig(f)
	if err != nil {
		return err
	}
	uri := "urn:actua:" + f.profile
	if f.profile == "bench" {
		uri = config.Identity.ApplicationURI // that of namespace 1
	}
	space := memspace.New(uri)
	var demo *plant.Plant
	switch f.profile {
	case "demo":
		demo, err = plant.Build(space)
	case "bench":
		err = plant.BuildBench(space)
	}
	if err != nil {
		return ourPart(err, "the nodes of profile %s could not be built: %v", f.profile, err)
	}
	page, err := listenStats(f.stats)
	if err != nil {
		return err
	}
	defer serveStats(page)()
	listeners, err := listen(f.listen)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		config.URLs = append(config.URLs, advertised(l))
	}
	config.Nodes = []uaserver.NodeManager{space}
	server, err := uaserver.New(*config)
	if err != nil {
		closeAll(listeners)
		return ourPart(err, "%v", err)
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
	}
	if demo != nil {
		moving, stop := context.WithCancel(ctx)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			demo.Run(moving)
		}()
		defer func() { stop(); <-stopped }()
	}
	if err := a.announce(f, config, store, server, listeners); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case <-ctx.Done():
	case err := <-failed:
		return ourPart(err, "the server stopped: %v", errors.Join(err, server.Close()))
	}
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return ourPart(err, "the server did not stop cleanly: %v", err)
	}
	if a.json {
		return a.print(new(line).set("event", "stopped"))
	}
	return a.printf("stopped\n")
}

// serverConfig opens the certificates and says what is offered to whom.
func (a *app) serverConfig(f *serveFlags) (*uaserver.Config, *uapki.Store, error) {
	store, err := openStore(a, f.pki, "server")
	if err != nil {
		return nil, nil, err
	}
	id, _, err := store.LoadOrCreate(uapki.CertificateOptions{CommonName: "actua server"})
	if err != nil {
		return nil, nil, ourPart(err, "%v", err)
	}
	config := &uaserver.Config{
		ApplicationName: "actua " + f.profile, Identity: id, Store: store, AllowAnonymous: true,
		AllowDeprecated: f.deprecated, Logger: slog.New(slog.NewTextHandler(a.err, nil)),
	}
	switch f.profile {
	case "demo":
		config.VerifyClient = uaserver.AcceptAnyClient
		config.Users = map[string]string{demoUser: demoPassword}
	case "bench":
		config.VerifyClient = uaserver.AcceptAnyClient
		config.DiagnosticsOff = true
		config.Limits = uaserver.Limits{
			MaxSessions: 5000, MaxChannels: -1, MaxHandshakes: -1, MaxReceiveMemory: -1, MaxLoginFailures: -1,
		}
	}
	if f.deprecated {
		for _, p := range uaclient.Policies() {
			config.Policies = append(config.Policies, p.Name)
		}
	}
	return config, store, nil
}

// listen opens all addresses, or none.
func listen(addresses []string) ([]net.Listener, error) {
	var all []net.Listener
	for _, address := range addresses {
		l, err := listenOn(address)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

func listenOn(address string) (net.Listener, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, usage("--listen %s is no address", address)
	}
	port := u.Port()
	if port == "" {
		port = uaclient.DefaultPort
	}
	l, err := net.Listen("tcp", net.JoinHostPort(u.Hostname(), port))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, ourPart(err, "another program listens on %s already: stop it, or choose another port with --listen opc.tcp://%s", address, net.JoinHostPort(u.Hostname(), nextPort(port)))
	case errors.Is(err, syscall.EACCES):
		return nil, ourPart(err, "listening on %s is not permitted: choose a port above 1023 with --listen", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, ourPart(err, "%s is no address of this machine: --listen opc.tcp://:4840 takes all", address)
	}
	return nil, ourPart(err, "cannot listen on %s: %v", address, err)
}

// nextPort is a port to try when this one is taken.
func nextPort(port string) string {
	n, _ := strconv.Atoi(port)
	if n >= 1<<16-1 {
		return uaclient.DefaultPort
	}
	return strconv.Itoa(n + 1)
}

// advertised is the URL of a listener for clients on other machines.
func advertised(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil && name != "" {
			host = name
		}
	}
	return "opc.tcp://" + net.JoinHostPort(host, port)
}

// reachable is the URL of a listener for a client on this machine.
func reachable(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		host = "localhost"
	}
	return "opc.tcp://" + net.JoinHostPort(host, port)
}

// announce prints that clients can connect, and how.
func (a *app) announce(f *serveFlags, config *uaserver.Config, store *uapki.Store, server *uaserver.Server, listeners []net.Listener) error {
	first := reachable(listeners[0])
	switch f.profile {
	case "demo":
		fmt.Fprintln(a.err, "warning: the demo profile accepts any client certificate")
	case "bench":
		fmt.Fprintln(a.err, "warning: the bench profile accepts any client certificate and is for measuring only")
	}
	endpoints := server.Endpoints()
	if a.json {
		list := []json.RawMessage{}
		for i := range endpoints {
			list = append(list, endpointLine(&endpoints[i]).object())
		}
		l := new(line).set("event", "listening").set("url", first).set("endpoints", list)
		if f.profile == "bench" {
			l.set("off", benchOff)
		}
		return a.print(l)
	}
	var b strings.Builder
	b.WriteString(a.paint(bold, "actua serves the "+f.profile+" profile") + "\n\n")
	b.WriteString(endpointTable(endpoints))
	fmt.Fprintf(&b, "certificates %s\n", store.Dir())
	if f.profile == "bench" {
		fmt.Fprintf(&b, "off          %s\n", strings.Join(benchOff, ", "))
	}
	if f.profile == "demo" {
		fmt.Fprintf(&b, "user         %s, password %s (or anonymous)\n", demoUser, demoPassword)
	}
	if config.VerifyClient != nil {
		fmt.Fprintf(&b, "\nTry it in another window:\n\n  actua browse %s --trust\n\n", first)
		b.WriteString("--trust stores this server's certificate: compare the thumbprint first. Ctrl-C stops the server.\n")
	} else {
		fmt.Fprintf(&b, "\nTry it in another window:\n\n  actua browse %s --security none\n\n", first)
		b.WriteString("With security, a client is refused until its certificate is moved from rejected/certs to trusted/certs\n" +
			"of the folder above. Ctrl-C stops the server.\n")
	}
	return a.printf("%s", b.String())
}
