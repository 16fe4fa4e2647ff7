package uaclient_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// Every step of Dial is told, in its order, and the one that failed with the error that Dial returns.
func TestTrace(t *testing.T) {
	const plain = "tcp hello channel endpoints"
	secured := newStub(t, nil)
	identity := secured.secure()
	store := secured.trusting()
	late := func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.ActivateSessionRequest); ok {
			return &ua.ServiceFault{ResponseHeader: ua.ResponseHeader{
				ServiceResult: ua.BadUserAccessDenied, Timestamp: ua.NewDateTime(time.Now().Add(-3 * time.Hour)),
			}}
		}
		return nil
	}
	refused := newStub(t, func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.CreateSessionRequest); ok {
			return fault(ua.BadTooManySessions)
		}
		return nil
	})
	for name, test := range map[string]struct {
		url    string
		config uaclient.Config
		steps  string
		failed bool
	}{
		"no server":   {"opc.tcp://127.0.0.1:1", uaclient.Config{}, "tcp", true},
		"no policy":   {secured.url, uaclient.Config{SecurityPolicy: "Aes256_Sha256_RsaPss"}, plain, true},
		"untrusted":   {secured.url, uaclient.Config{Identity: identity}, plain + " certificate", true},
		"no identity": {secured.url, uaclient.Config{InsecureSkipVerify: true}, plain + " certificate certificate", true},
		"no session":  {refused.url, uaclient.Config{}, plain + " session", true},
		"no login":    {newStub(t, late).url, uaclient.Config{}, plain + " session activate", true},
		"none":        {secured.url, uaclient.Config{SecurityPolicy: "None"}, plain + " session activate", false},
		"secured": {secured.url, uaclient.Config{Identity: identity, PKI: store},
			plain + " certificate tcp hello channel session activate", false},
	} {
		var steps []string
		var last uaclient.Progress
		test.config.Trace = func(p uaclient.Progress) {
			if last.Err != nil || p.Took < 0 {
				t.Errorf("%s: %v after %v", name, p, last)
			}
			steps, last = append(steps, string(p.Step)), p
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		c, err := uaclient.Dial(ctx, test.url, &test.config)
		cancel()
		if err == nil {
			c.Close(t.Context())
		}
		if got := strings.Join(steps, " "); got != test.steps || (err != nil) != test.failed || last.Err != err {
			t.Errorf("%s: %s, want %s; %v", name, got, test.steps, err)
		}
		if known := slices.Contains(steps, "endpoints"); known != (last.Offered != nil) {
			t.Errorf("%s: offered %v", name, last.Offered)
		}
		if d := last.ClockAhead + 3*time.Hour; name == "no login" && (d < -time.Minute || d > time.Minute) {
			t.Errorf("the server's clock is ahead by %v", last.ClockAhead)
		}
	}
}
