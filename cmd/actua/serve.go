package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaserver"
)

// serverName is the common name in the server's certificate, clientName in the client's.
const serverName, clientName = "actua server", "actua"

type serveFlags struct {
	listen, nodesets            []string
	pki, profile, stats, config string
	deprecated, print, lenient  bool
	diag                        int
	changed                     func(flag string) bool
}

// benchOff is what the bench profile does without.
var benchOff = []string{"admission limits", "lock-out", "certificate trust", "diagnostics", "auditing"}

// laterServeFlags are known, so that scripts get a sentence, but do not do anything yet.
var laterServeFlags = []string{"audit", "reverse"}

func (a *app) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a small plant that moves, or what a file says",
		Long: `Serve OPC UA until Ctrl-C. Without any flag it is the demo profile, a small
plant whose values move, on port 4840. The server's certificate is made at the
first start and kept. A configuration file says everything else: --print-config
writes one with every key explained.`,
		Example: "  actua serve\n  actua serve --listen opc.tcp://localhost:4841 --profile empty\n" +
			"  actua serve --profile empty --nodeset Opc.Ua.Di.NodeSet2.xml\n" +
			"  actua serve --print-config > plant.yaml\n  actua serve --config plant.yaml",
		Args: nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range laterServeFlags {
				if cmd.Flags().Changed(name) {
					return usage("--%s comes with a later version of actua", name)
				}
			}
			f.changed = cmd.Flags().Changed
			return a.serve(cmd.Context(), f)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&f.listen, "listen", []string{"opc.tcp://:4840"}, "address to listen on; may be repeated")
	fs.StringArrayVar(&f.nodesets, "nodeset", nil, "NodeSet2 file to serve as well; may be repeated, in any order")
	fs.BoolVar(&f.lenient, "lenient", false, "leave out what is wrong in nodesets, and list it")
	fs.StringVar(&f.pki, "pki", "", "folder of the server's certificates (default: in the user's configuration folder)")
	fs.StringVar(&f.profile, "profile", "demo", "what to serve: demo, empty, or bench for a load generator")
	fs.StringVar(&f.stats, "stats", "", "HOST:PORT of a page with figures of memory and publishing, as JSON over HTTP")
	fs.BoolVar(&f.deprecated, "allow-deprecated", false, "offer Basic256 and Basic128Rsa15 too, which are no longer safe")
	fs.StringVar(&f.config, "config", "", "a configuration file, in place of a profile; other flags go before it")
	fs.BoolVar(&f.print, "print-config", false, "write the configuration to standard output, with every key explained, and end")
	fs.IntVar(&f.diag, "diag", 0, "1 counts what sessions and subscriptions do, for clients to read")
	for _, name := range laterServeFlags {
		fs.String(name, "", "later version")
		fs.Lookup(name).Hidden = true
	}
	return cmd
}

// serve runs the server until the context ends.
func (a *app) serve(ctx context.Context, f *serveFlags) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	if f.print {
		return a.printf("%s", set.String())
	}
	config, store, err := a.serverConfig(f, set)
	if err != nil {
		return err
	}
	space, demo, err := buildNodes(set, config.Identity.ApplicationURI)
	if err != nil {
		return err
	}
	if err := a.importNodesets(set, space); err != nil {
		return err
	}
	page, err := listenStats(set.Stats)
	if err != nil {
		return err
	}
	figures := &statsPage{}
	defer serveStats(page, figures)()
	listeners, err := listen(set.Listen)
	if err != nil {
		return err
	}
	if config.URLs = set.Advertise; len(config.URLs) == 0 {
		for _, l := range listeners {
			config.URLs = append(config.URLs, advertised(l))
		}
	}
	config.Nodes = []uaserver.NodeManager{space}
	server, err := uaserver.New(*config)
	if err != nil {
		closeAll(listeners)
		return ourPart(err, "%v", err)
	}
	figures.server.Store(server)
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- server.Serve(l) }()
	}
	if demo != nil {
		demo.Emit(func(e uaserver.Event) { server.Emit(e) })
		moving, stop := context.WithCancel(ctx)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			demo.Run(moving)
		}()
		defer func() { stop(); <-stopped }()
	}
	if err := a.announce(f, set, store, server, listeners); err != nil {
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
