package uaclient

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/actua/actua/ua"
)

// Retry says how Dial tries again (T01). The zero value is a first wait of a second, which doubles up to
// half a minute. Each wait is up to a tenth shorter than that, so that many clients of one server
// do not come back all at once; a server that is overloaded or does not trust this client yet is left
// alone four times as long.
//
// What only a person can mend ends the dialling: a configuration or an address that is wrong, a login
// that is refused, a server certificate that is not trusted here, no endpoint that fits.
type Retry struct {
	First   time.Duration // wait after the first failure; default 1 s
	Longest time.Duration // no wait is longer; default 30 s, or First if that is more
	Attempt time.Duration // bounds each attempt; default Config.RequestTimeout
	// Failed hears of each attempt that failed, on the goroutine that dials, before the wait. Nil: nobody
	// does.
	Failed func(err error, wait time.Duration)
}

// checkRetry copies and completes Retry.
func (s *settings) checkRetry() error {
	if s.Retry == nil {
		return nil
	}
	r := *s.Retry
	s.Retry = &r
	defaultTo(&r.First, time.Second)
	defaultTo(&r.Longest, max(30*time.Second, r.First))
	if s.RequestTimeout > 0 {
		defaultTo(&r.Attempt, s.RequestTimeout)
	}
	if r.First < 0 || r.Attempt < 0 || r.Longest < r.First {
		return reason(ua.BadConfigurationError, "Retry: the times must be positive, and Longest not shorter than First")
	}
	return nil
}

// keepDialling dials until that succeeds, an error is for good, or the context ends. Then it returns
// the error of the last attempt, which is also that of the context.
func (s *settings) keepDialling(ctx context.Context, u *url.URL) (*Client, error) {
	r := s.Retry
	next := r.First
	for tries := 1; ; tries++ {
		attempt := *s
		c, err := attempt.dialWithin(ctx, r.Attempt, u)
		if err == nil || forGood(err) {
			return c, err
		}
		if ctx.Err() == nil {
			var wait time.Duration
			wait, next = r.wait(next, err)
			if r.Failed != nil {
				r.Failed(err, wait)
			}
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
			}
		}
		var last *Error
		if !errors.As(err, &last) {
			last = &Error{Step: StepTCP, Op: "Dial", Err: err}
		}
		return nil, &Error{Step: last.Step, Op: last.Op, Err: fmt.Errorf("%w (tried %d times until: %w)", last.Err, tries, ctx.Err())}
	}
}

func (s *settings) dialWithin(ctx context.Context, limit time.Duration, u *url.URL) (*Client, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return s.dial(ctx, u)
}

// wait is how long to wait after an error, and what the next wait begins with.
func (r *Retry) wait(now time.Duration, err error) (wait, next time.Duration) {
	wait = now
	if busy(err) {
		wait = r.capped(4 * now)
	}
	return wait - rand.N(wait/10+1), r.capped(2 * now)
}

// capped is at most Longest, also where doubling has overflowed.
func (r *Retry) capped(d time.Duration) time.Duration {
	if d <= 0 {
		return r.Longest
	}
	return min(d, r.Longest)
}

// forGood reports whether another attempt would fail in the same way until a person does something here.
func forGood(err error) bool {
	if StepOf(err) == StepCertificate {
		return true
	}
	return isOneOf(err, ua.BadConfigurationError, ua.BadTcpEndpointUrlInvalid, ua.BadSecurityPolicyRejected, ua.BadSecurityModeRejected,
		ua.BadUserAccessDenied, ua.BadIdentityTokenInvalid, ua.BadIdentityTokenRejected, ua.BadUserSignatureInvalid)
}

// busy reports whether the server would rather be left alone for a while.
func busy(err error) bool {
	return isOneOf(err, ua.BadTcpServerTooBusy, ua.BadServerTooBusy, ua.BadTooManySessions, ua.BadTooManyOperations,
		ua.BadTcpNotEnoughResources, ua.BadOutOfMemory, ua.BadResourceUnavailable, ua.BadSecurityChecksFailed, ua.BadCertificateUntrusted)
}

func isOneOf(err error, list ...ua.StatusCode) bool {
	for _, s := range list {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}
