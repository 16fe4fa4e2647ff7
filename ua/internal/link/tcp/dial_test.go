package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// TestDialFails names the step and the true cause (reports S10, S27 and S28).
func TestDialFails(t *testing.T) {
	server := linktest.Identity(t, "rsa2048b")
	client := linktest.Identity(t, "rsa2048")
	policy, _ := secpol.ByName("Basic256Sha256")
	old, _ := secpol.ByName("Basic128Rsa15")
	good := ClientConfig{Policy: policy, Identity: client, ServerChain: server.Chain}
	with := func(change func(c *ClientConfig)) ClientConfig { c := good; change(&c); return c }
	status := func(s ua.StatusCode) func(*OpenRequest) error {
		return func(*OpenRequest) error { return fmt.Errorf("because of a test: %w", s) }
	}
	for name, c := range map[string]struct {
		server ServerConfig
		client ClientConfig
		step   string
		want   ua.StatusCode
	}{
		"path":            {ServerConfig{CheckURL: func(string) error { return ua.BadTcpEndpointUrlInvalid }}, good, StepHello, ua.BadTcpEndpointUrlInvalid},
		"not trusted":     {ServerConfig{Open: status(ua.BadCertificateUntrusted)}, good, StepChannel, ua.BadCertificateUntrusted},
		"expired":         {ServerConfig{Open: status(ua.BadCertificateTimeInvalid)}, good, StepChannel, ua.BadCertificateTimeInvalid},
		"no status":       {ServerConfig{Open: func(*OpenRequest) error { return errors.New("x") }}, good, StepChannel, ua.BadSecurityChecksFailed},
		"policy":          {ServerConfig{Open: status(ua.BadSecurityPolicyRejected)}, with(func(c *ClientConfig) { c.Policy = old }), StepChannel, ua.BadSecurityPolicyRejected},
		"mode":            {ServerConfig{Open: status(ua.BadSecurityModeRejected)}, good, StepChannel, ua.BadSecurityModeRejected},
		"mode None":       {ServerConfig{}, with(func(c *ClientConfig) { c.Mode = ua.MessageSecurityModeNone }), StepChannel, ua.BadSecurityModeRejected},
		"other server":    {ServerConfig{}, with(func(c *ClientConfig) { c.ServerChain = linktest.Identity(t, "rsa3072").Chain }), StepChannel, ua.BadCertificateInvalid},
		"wrong key":       {ServerConfig{}, with(func(c *ClientConfig) { c.Identity = &Identity{Chain: client.Chain, Key: server.Key} }), StepChannel, ua.BadSecurityChecksFailed},
		"key too long":    {ServerConfig{}, with(func(c *ClientConfig) { c.Policy, c.Identity = old, linktest.Identity(t, "rsa4096") }), StepChannel, ua.BadCertificatePolicyCheckFailed},
		"no certificate":  {ServerConfig{}, with(func(c *ClientConfig) { c.Identity = nil }), StepChannel, ua.BadSecurityPolicyRejected},
		"no server chain": {ServerConfig{}, with(func(c *ClientConfig) { c.ServerChain = nil }), StepChannel, ua.BadCertificateInvalid},
		"nobody there": {ServerConfig{}, with(func(c *ClientConfig) {
			c.Dialer = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }
		}), StepTCP, ua.BadConnectionRejected},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Identity = func() *uasc.Identity { return server }
			l := inMemory(t, c.server)
			if c.client.Dialer == nil {
				c.client.Dialer = l.Dial
			}
			c.client.Log = quiet
			_, err := Dial(t.Context(), anyURL, &c.client)
			var step *StepError
			if !errors.As(err, &step) || step.Step != c.step || !errors.Is(err, c.want) || ua.StatusOf(err) != c.want {
				t.Errorf("%v (status %v), want step %s and %v", err, ua.StatusOf(err), c.step, c.want)
			}
		})
	}
	for _, url := range []string{"", "opc.tcp://", "http://host", "opc.tcp://[::1", "host:4840"} {
		if _, err := Dial(t.Context(), url, nil); !errors.Is(err, ua.BadTcpEndpointUrlInvalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"opc.tcp://host":             "host:4840",
		"opc.tcp://host:1/path":      "host:1",
		"opc.tcp://[fe80::1]:5":      "[fe80::1]:5",
		"opc.tcp://[::1]/path":       "[::1]:4840",
		"opc.tcp://127.0.0.1:48404/": "127.0.0.1:48404",
	} {
		if got, err := address(url); got != want || err != nil {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
}

// TestServersThatHangUp are devices that close without a word at some point (reports S01 and S28).
func TestServersThatHangUp(t *testing.T) {
	for name, c := range map[string]struct {
		server func(p *linktest.Peer)
		step   string
		text   string
		want   ua.StatusCode
	}{
		"at once":              {func(p *linktest.Peer) {}, StepHello, "during Hello", ua.BadConnectionClosed},
		"at OpenSecureChannel": {func(p *linktest.Peer) { p.AcceptHello(uacp.Limits{}); p.Chunk() }, StepChannel, "closed the connection during OpenSecureChannel", ua.BadConnectionClosed},
		"with a reason": {func(p *linktest.Peer) {
			p.AcceptHello(uacp.Limits{})
			p.Raw(uacp.Errorf(ua.BadTcpServerTooBusy, "later").Append(nil))
		}, StepChannel, "later", ua.BadTcpServerTooBusy},
		"another version": {func(p *linktest.Peer) {
			p.Chunk()
			p.Raw((&uacp.Acknowledge{ProtocolVersion: 3, ReceiveBufferSize: 8192, SendBufferSize: 8192}).Append(nil))
		}, StepHello, "version 3", ua.BadProtocolVersionUnsupported},
		"web server": {func(p *linktest.Peer) { p.Chunk(); p.Raw([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, StepHello, "HTTP", ua.BadTcpMessageTypeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := linktest.Pipe(linktest.Faults{})
			go func() {
				c.server(linktest.NewPeer(t, b))
				b.Close()
			}()
			_, err := Handshake(t.Context(), a, anyURL, &ClientConfig{Log: quiet})
			var step *StepError
			if !errors.As(err, &step) || step.Step != c.step || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Error(err)
			}
		})
	}
}

// TestDialContext ends a dial with its context at every step, and not the connection (report T05).
func TestDialContext(t *testing.T) {
	base := runtime.NumGoroutine()
	hole := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	silent := func(context.Context, string, string) (net.Conn, error) {
		a, _ := linktest.Pipe(linktest.Faults{})
		return a, nil
	}
	for name, dialer := range map[string]func(context.Context, string, string) (net.Conn, error){"black hole": hole, "silent": silent} {
		within(t, time.Second, func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := Dial(ctx, anyURL, &ClientConfig{Dialer: dialer}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		})
		within(t, time.Second, func() {
			if _, err := Dial(t.Context(), anyURL, &ClientConfig{Dialer: dialer, HandshakeTimeout: 100 * time.Millisecond}); !errors.Is(err, ua.BadTimeout) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	waitGoroutines(t, base)
	l := inMemory(t, ServerConfig{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	cfg := on(l)
	c, err := Dial(ctx, anyURL, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	time.Sleep(50 * time.Millisecond)
	read(t, c, 100)
	c.Close(context.Background())
}

// TestChains sends leaf, intermediate and root from either side, in all combinations (report S06).
func TestChains(t *testing.T) {
	policy, _ := secpol.ByName("Aes256_Sha256_RsaPss")
	for _, server := range []*Identity{linktest.Identity(t, "rsa2048b"), linktest.ChainIdentity(t, "rsa2048b")} {
		for _, client := range []*Identity{linktest.Identity(t, "rsa2048"), linktest.ChainIdentity(t, "rsa2048")} {
			var chain [][]byte
			l := inMemory(t, ServerConfig{
				Identity: func() *uasc.Identity { return server },
				Open:     func(o *OpenRequest) error { chain = o.ClientChain; return nil },
			})
			cfg := on(l)
			cfg.Policy, cfg.Identity, cfg.ServerChain = policy, client, server.Chain[:1]
			read(t, dial(t, anyURL, cfg), 1000)
			if len(chain) != len(client.Chain) {
				t.Errorf("the server has %d certificates, want %d", len(chain), len(client.Chain))
			}
		}
	}
}
