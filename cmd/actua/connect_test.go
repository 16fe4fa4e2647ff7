package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
)

func TestExplainTranscript(t *testing.T) {
	transcript(t, isolated(t), "explain", testServer(t, plantSpace, nil))
}

// answering is a listener that sends some bytes to whoever has said something, and hangs up.
func answering(t *testing.T, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1000))
			_, _ = c.Write([]byte(text))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// identity makes the certificate of a server of another time or place.
func identity(t *testing.T, at time.Duration, host string) *uapki.Identity {
	id, err := uapki.NewIdentity(uapki.CertificateOptions{
		CommonName: "test server", ApplicationURI: "urn:test:server", HostNames: []string{host},
		Now: func() time.Time { return time.Now().Add(at) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Each way in which a connection fails: the step, the cause, what to change, and nothing after it.
func TestExplain(t *testing.T) {
	refusing := func(status ua.StatusCode) func(*uaserver.Config) {
		return func(c *uaserver.Config) { c.VerifyClient = func([][]byte, string) error { return status } }
	}
	serverPKI, err := uapki.Open(filepath.Join(t.TempDir(), "server"))
	if err != nil {
		t.Fatal(err)
	}
	year := -6 * 365 * 24 * time.Hour
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, test := range map[string]struct {
		url            string
		server         func(*uaserver.Config)
		args           string
		step, why, fix string
	}{
		"port closed":      {url: "127.0.0.1:1", step: "tcp", why: "nothing listens on port 1", fix: "start the server"},
		"web server":       {url: answering(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), step: "hello", why: "does not speak OPC UA", fix: "4840"},
		"hangs up":         {url: answering(t, ""), step: "hello", why: "closes it again", fix: "port"},
		"silent":           {url: silent.Addr().String(), args: "--timeout 200ms", step: "hello", why: "answers nothing within 200ms", fix: "--timeout"},
		"policy":           {server: func(c *uaserver.Config) { c.Policies = []string{"Basic256Sha256"} }, args: "--security Aes256_Sha256_RsaPss", step: "endpoints", why: "does not offer security policy", fix: "--security Basic256Sha256"},
		"only None":        {server: func(c *uaserver.Config) { c.Policies = []string{"None"} }, args: "--security encrypt", step: "endpoints", why: "does not offer", fix: "--security None"},
		"mode":             {server: func(c *uaserver.Config) { c.Modes = []ua.MessageSecurityMode{ua.MessageSecurityModeSign} }, args: "--security encrypt", step: "endpoints", why: "mode SignAndEncrypt", fix: "--mode Sign,"},
		"no users":         {server: func(c *uaserver.Config) { c.Users = nil }, args: "--user u --password p", step: "endpoints", why: "UserName", fix: "leave --user out"},
		"no anonymous":     {server: func(c *uaserver.Config) { c.AllowAnonymous = false }, step: "endpoints", why: "Anonymous", fix: "--user NAME"},
		"untrusted":        {step: "certificate", why: "not trusted here", fix: "actua cert trust"},
		"expired":          {server: func(c *uaserver.Config) { c.Identity = identity(t, year, "127.0.0.1") }, args: "--trust", step: "certificate", why: "is valid from", fix: "renewed"},
		"not yet":          {server: func(c *uaserver.Config) { c.Identity = identity(t, 48*time.Hour, "127.0.0.1") }, args: "--trust", step: "certificate", why: "is valid from", fix: "check the clocks"},
		"clock of ours":    {server: func(c *uaserver.Config) { c.Identity = identity(t, 48*time.Hour, "127.0.0.1"); c.Now = later48 }, args: "--trust", step: "certificate", why: "ahead of this machine", fix: "set the clock"},
		"other host":       {server: func(c *uaserver.Config) { c.Identity = identity(t, 0, "elsewhere") }, args: "--trust", step: "certificate", why: `not for "127.0.0.1", only for elsewhere`, fix: "use elsewhere in the URL"},
		"other URI":        {server: func(c *uaserver.Config) { c.ApplicationURI = ""; c.Identity = otherURI(t) }, args: "--trust", step: "certificate", why: "calls itself", fix: "application URI"},
		"refused":          {server: func(c *uaserver.Config) { c.VerifyClient, c.Store = nil, serverPKI }, args: "--trust", step: "channel", why: "it does not trust it yet", fix: "rejected/certs"},
		"refused silently": {server: refusing(ua.BadSecurityChecksFailed), args: "--trust", step: "channel", why: "most likely", fix: "rejected/certs"},
		"ours expired":     {server: refusing(ua.BadCertificateTimeInvalid), args: "--trust", step: "channel", why: "by the server's clock", fix: "actua cert create --replace"},
		"ours too weak":    {server: refusing(ua.BadCertificatePolicyCheckFailed), args: "--trust", step: "channel", why: "RSA 2048 bits", fix: "--bits"},
		"ours revoked":     {server: refusing(ua.BadCertificateRevoked), args: "--trust", step: "channel", why: "revoked", fix: "actua cert create"},
		"ours wrong":       {server: refusing(ua.BadCertificateUseNotAllowed), args: "--trust", step: "channel", why: "refuses this client's certificate", fix: "actua cert show"},
		"password":         {args: "--trust --user operator --password wrong", step: "activate", why: `the user "operator"`, fix: "--password"},
		"sessions":         {server: func(c *uaserver.Config) { c.Limits.MaxSessions = 1 }, args: "--security none", step: "session", why: "as many sessions", fix: "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			w := isolated(t)
			address := test.url
			if address == "" {
				address = testServer(t, nil, test.server)
			}
			if name == "sessions" {
				c, err := uaclient.Dial(t.Context(), address, &uaclient.Config{SecurityPolicy: "None"})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close(t.Context())
			}
			args := append([]string{"connect", address, "--explain", "--json"}, strings.Fields(test.args)...)
			code, out, stderr := w.run(t.Context(), args...)
			if code != exitNoServer || !strings.HasSuffix(stderr, "no connection: step "+test.step+" failed\n") {
				t.Errorf("exit %d, %s", code, stderr)
			}
			type line struct {
				Step     string
				OK       bool
				Took     float64
				Why, Fix *string
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			for i, text := range lines {
				var l line
				if err := json.Unmarshal([]byte(text), &l); err != nil {
					t.Fatal(text, err)
				}
				if last := i == len(lines)-1; l.OK == last || last && l.Step != test.step || l.OK != (l.Why == nil) || l.OK != (l.Fix == nil) {
					t.Fatal(out)
				} else if last && (!strings.Contains(*l.Why, test.why) || !strings.Contains(*l.Fix, test.fix)) {
					t.Error(text)
				}
			}
		})
	}
}

// Ctrl-C while a server is silent is no failure of a step.
func TestExplainInterrupted(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := silent.Accept(); err == nil {
			cancel()
			t.Cleanup(func() { c.Close() })
		}
	}()
	code, out, stderr := isolated(t).run(ctx, "connect", silent.Addr().String(), "--explain", "--json")
	if code != exitInterrupted || strings.Contains(out, `"ok":false`) || !strings.HasSuffix(stderr, "interrupted\n") {
		t.Error(code, out, stderr)
	}
}

// What is wrong with our own certificate is our own part, and is told as the step that it is.
func TestExplainOwnCertificate(t *testing.T) {
	w := isolated(t)
	address := testServer(t, nil, nil)
	store, err := openStore("", "client")
	if err != nil {
		t.Fatal(err)
	}
	old := uapki.CertificateOptions{Now: func() time.Time { return time.Now().Add(-100 * time.Hour) }, Validity: time.Hour}
	if _, _, err := store.LoadOrCreate(old); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := w.run(t.Context(), "connect", address, "--explain", "--trust")
	if code != exitOurPart || !strings.Contains(out, "FAILED  certificate") || !strings.Contains(out, "expired") || !strings.Contains(out, "actua cert create --replace") || !strings.Contains(out, "session      not tried") ||
		!strings.Contains(stderr, "this client's certificate") {
		t.Error(code, out, stderr)
	}
}

// Who only does what the command says comes from nothing to a connection that both sides trust.
func TestExplainLeadsToTrust(t *testing.T) {
	w := isolated(t)
	ctx, cancel := context.WithCancel(t.Context())
	lines, done := serveLines(t, ctx, "--profile", "empty", "--listen", "opc.tcp://127.0.0.1:0", "--json")
	var listening struct{ URL string }
	if err := json.Unmarshal([]byte(<-lines), &listening); err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("`actua (cert trust [^`]*)`")
	var followed []string
	for {
		code, out, stderr := w.run(t.Context(), "connect", listening.URL, "--explain")
		if code == 0 {
			break
		}
		fix := command.FindStringSubmatch(out)
		if fix == nil || len(followed) == 2 {
			t.Fatal(followed, out, stderr)
		}
		followed = append(followed, fix[1])
		if code, _, stderr := w.run(t.Context(), words(fix[1])...); code != 0 {
			t.Fatal(fix[1], stderr)
		}
	}
	if len(followed) != 2 || strings.HasSuffix(followed[0], "--server") || !strings.HasSuffix(followed[1], "--server") {
		t.Error(followed)
	}
	cancel()
	<-done
}

func later48() time.Time { return time.Now().Add(48 * time.Hour) }

// otherURI is a certificate for another application than its identity says.
func otherURI(t *testing.T) *uapki.Identity {
	id := *identity(t, 0, "127.0.0.1")
	id.ApplicationURI = "urn:another"
	return &id
}

// Causes that need another machine, or a server in trouble.
func TestReasons(t *testing.T) {
	x := &explainer{app: &app{}, flags: &clientFlags{timeout: time.Second}, url: &url.URL{Scheme: "opc.tcp", Host: "plant7:4840", Path: "/line"}}
	for name, test := range map[string]struct {
		step     uaclient.Step
		err      error
		ahead    time.Duration
		why, fix string
	}{
		"unknown host":  {uaclient.StepTCP, &net.DNSError{Name: "plant7", IsNotFound: true}, 0, `"plant7" is not known`, "spelling"},
		"name server":   {uaclient.StepTCP, &net.DNSError{Name: "plant7", Err: "server misbehaving"}, 0, "server misbehaving", "name server"},
		"unreachable":   {uaclient.StepTCP, syscall.EHOSTUNREACH, 0, "no way to plant7", "VPN"},
		"firewall":      {uaclient.StepTCP, ua.BadTimeout, 0, "does not answer within 1s", "firewall"},
		"strange":       {uaclient.StepTCP, errors.New("odd"), 0, "odd", "network"},
		"path":          {uaclient.StepHello, ua.BadTcpEndpointUrlInvalid, 0, `"/line"`, "path"},
		"version":       {uaclient.StepHello, ua.BadProtocolVersionUnsupported, 0, "version", "update"},
		"busy at once":  {uaclient.StepHello, ua.BadTcpServerTooBusy, 0, "too busy", "again"},
		"busy":          {uaclient.StepSession, ua.BadServerTooBusy, 0, "too busy", "again"},
		"stopping":      {uaclient.StepEndpoints, ua.BadShutdown, 0, "stopping", "wait"},
		"slow":          {uaclient.StepChannel, ua.BadTimeout, 0, "within 1s", "--timeout 60s"},
		"slow login":    {uaclient.StepActivate, ua.BadTimeout, 0, "within 1s", "log"},
		"clocks":        {uaclient.StepSession, ua.BadInvalidTimestamp, -2 * time.Hour, "2h0m0s behind", "clocks"},
		"anonymous":     {uaclient.StepActivate, ua.BadIdentityTokenRejected, 0, "anonymous", "--user NAME"},
		"anything else": {uaclient.StepSession, ua.BadInternalError, 0, "BadInternalError", "log of the server"},
	} {
		p := &uaclient.Progress{Step: test.step, ClockAhead: test.ahead, Err: &uaclient.Error{Step: test.step, Op: "Dial", Err: test.err}}
		if why, fix := x.reason(p); !strings.Contains(why, test.why) || !strings.Contains(fix, test.fix) {
			t.Errorf("%s: %s; %s", name, why, fix)
		}
	}
}
