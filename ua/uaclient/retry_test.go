package uaclient_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// T01: a program that begins before its server does not stop: it hears of each failure, and has data within
// one wait of the server's start.
func TestDialRetriesUntilTheServerIsThere(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "opc.tcp://" + l.Addr().String()
	l.Close() // nobody listens there now

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	failed := make(chan error, 1000)
	type outcome struct {
		c   *uaclient.Client
		err error
	}
	done := make(chan outcome, 1)
	const longest = 200 * time.Millisecond
	go func() {
		c, err := uaclient.Dial(ctx, url, &uaclient.Config{Retry: &uaclient.Retry{
			First: 5 * time.Millisecond, Longest: longest, Failed: func(err error, _ time.Duration) { failed <- err },
		}})
		done <- outcome{c, err}
	}()
	for range 3 {
		if err := <-failed; uaclient.StepOf(err) != uaclient.StepTCP {
			t.Errorf("an absent server is told as %v", err)
		}
	}
	space := memspace.New("urn:late")
	node := space.AddVariable(space.Objects(), "Late", ua.Int32(7))
	server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	listener, err := server.Listen(url)
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	began := time.Now()
	o := <-done
	if o.err != nil {
		t.Fatal(o.err)
	}
	defer o.c.Close(ctx)
	if v, err := o.c.ReadValue(ctx, node.ID()); err != nil || v.Value.Int() != 7 {
		t.Errorf("%v, %v", v, err)
	}
	if took := time.Since(began); took > longest+2*time.Second {
		t.Errorf("data came %v after the server's start, waits are %v at most", took, longest)
	}
}

// T01: what another attempt cannot mend is told at once.
func TestDialDoesNotRetryForGood(t *testing.T) {
	r := startServer(t, nil)
	none := uaclient.Config{SecurityPolicy: "None", AllowPlainPassword: true}
	for name, test := range map[string]struct {
		url    string
		change func(c *uaclient.Config)
		want   ua.StatusCode
	}{
		"address":       {"opc.tcp://", func(*uaclient.Config) {}, ua.BadTcpEndpointUrlInvalid},
		"configuration": {r.url, func(c *uaclient.Config) { c.SessionTimeout = -1 }, ua.BadConfigurationError},
		"waits":         {r.url, func(c *uaclient.Config) { c.Retry.Longest = time.Nanosecond }, ua.BadConfigurationError},
		"password": {r.url, func(c *uaclient.Config) {
			config := r.config(t)
			config.Retry, config.User = c.Retry, uaclient.UserName{Name: "operator", Password: "wrong"}
			*c = *config
		}, ua.BadUserAccessDenied},
		"mode": {r.url, func(c *uaclient.Config) { c.SecurityPolicy, c.Mode = "auto", 9 }, ua.BadSecurityModeRejected},
		"certificate": {r.url, func(c *uaclient.Config) {
			_, identity := makeIdentities(t)
			*c = uaclient.Config{Retry: c.Retry, Identity: identity, SecurityPolicy: "Basic256Sha256"}
		}, ua.BadCertificateUntrusted},
	} {
		t.Run(name, func(t *testing.T) {
			config := none
			tries := 0
			config.Retry = &uaclient.Retry{First: time.Millisecond, Failed: func(error, time.Duration) { tries++ }}
			test.change(&config)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c, err := uaclient.Dial(ctx, test.url, &config)
			if err == nil {
				c.Close(ctx)
			}
			if ua.StatusOf(err) != test.want || tries != 0 || ctx.Err() != nil {
				t.Errorf("%v after %d failed attempts, %v wanted at once", err, tries, test.want)
			}
		})
	}
}

// absent is a network on which each attempt fails with the next error, the last one for ever.
func absent(errs ...error) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		err := errs[0]
		if len(errs) > 1 {
			errs = errs[1:]
		}
		return nil, err
	}
}

// The waits double up to the longest, a little less than that each; a server that is overloaded is left alone
// longer. The end of the context ends the dialling with the last error (T01).
func TestRetryWaits(t *testing.T) {
	refused := errors.New("connection refused")
	busy := fmt.Errorf("busy: %w", ua.BadTcpServerTooBusy)
	for name, test := range map[string]struct {
		retry uaclient.Retry
		errs  []error
		want  []time.Duration // at most; a tenth less at least
	}{
		"default":  {uaclient.Retry{}, []error{refused}, []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 30e9, 30e9}},
		"set":      {uaclient.Retry{First: 2e9, Longest: 5e9}, []error{refused}, []time.Duration{2e9, 4e9, 5e9, 5e9}},
		"overload": {uaclient.Retry{}, []error{busy, busy, busy, refused}, []time.Duration{4e9, 8e9, 16e9, 8e9, 16e9, 30e9}},
		"huge":     {uaclient.Retry{First: 1 << 61, Longest: 1<<63 - 1}, []error{busy}, []time.Duration{1<<63 - 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var waits []time.Duration
				retry := test.retry
				retry.Failed = func(err error, wait time.Duration) {
					if waits = append(waits, wait); len(waits) == len(test.want) {
						cancel()
					}
				}
				_, err := uaclient.Dial(ctx, "opc.tcp://plant7", &uaclient.Config{SecurityPolicy: "None", Retry: &retry, Dialer: absent(test.errs...)})
				if !errors.Is(err, context.Canceled) || uaclient.StepOf(err) != uaclient.StepTCP || !errors.Is(err, test.errs[len(test.errs)-1]) ||
					!strings.Contains(err.Error(), fmt.Sprintf("tried %d times", len(test.want))) {
					t.Errorf("ended with %v", err)
				}
				if !slices.EqualFunc(waits, test.want, func(got, most time.Duration) bool { return got <= most && got >= most-most/10-1 }) {
					t.Errorf("waits %v, about %v wanted", waits, test.want)
				}
			})
		})
	}
}

// T01: a peer that takes connections and says nothing holds up an attempt no longer than Attempt, and a
// deadline of the whole ends it.
func TestRetryAtASilentPeer(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	tries := 0
	began := time.Now()
	_, err = uaclient.Dial(ctx, "opc.tcp://"+l.Addr().String(), &uaclient.Config{Retry: &uaclient.Retry{
		First: time.Millisecond, Longest: time.Millisecond, Attempt: 100 * time.Millisecond, Failed: func(error, time.Duration) { tries++ },
	}})
	if !errors.Is(err, context.DeadlineExceeded) || uaclient.StepOf(err) != uaclient.StepHello || tries < 2 {
		t.Errorf("%v after %d attempts", err, tries)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}
