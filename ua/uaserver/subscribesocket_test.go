package uaserver

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/subs"
)

func (w *wire) header() ua.RequestHeader { return ua.RequestHeader{AuthenticationToken: w.token} }

// subscribe makes a subscription with one item, on node 1.
func (w *wire) subscribe(t testing.TB, space *testSpace) uint32 {
	t.Helper()
	var sub ua.CreateSubscriptionResponse
	if err := w.call(&ua.CreateSubscriptionRequest{RequestHeader: w.header(), RequestedPublishingInterval: 20, PublishingEnabled: true}, &sub); err != nil {
		t.Fatal(err)
	}
	var items ua.CreateMonitoredItemsResponse
	if err := w.call(&ua.CreateMonitoredItemsRequest{RequestHeader: w.header(), SubscriptionID: sub.SubscriptionID, ItemsToCreate: []ua.MonitoredItemCreateRequest{{
		ItemToMonitor:  ua.ReadValueID{NodeID: space.id(1), AttributeID: uint32(ua.AttributeValue)},
		MonitoringMode: ua.MonitoringModeReporting, RequestedParameters: ua.MonitoringParameters{SamplingInterval: 20},
	}}}, &items); err != nil || items.Results[0].StatusCode != ua.Good {
		t.Fatal(err, items.Results)
	}
	return sub.SubscriptionID
}

func (w *wire) transfer(t testing.TB, sub uint32) ua.StatusCode {
	t.Helper()
	var p ua.TransferSubscriptionsResponse
	if err := w.call(&ua.TransferSubscriptionsRequest{RequestHeader: w.header(), SubscriptionIDs: []uint32{sub}, SendInitialValues: true}, &p); err != nil {
		t.Fatal(err)
	}
	return p.Results[0].StatusCode
}

// Anonymous clients are told apart by their certificates: on channels with security they may take their own
// subscriptions over, and nobody else's.
func TestAnonymousTransfer(t *testing.T) {
	_, space, url := listen(t, func(c *Config) {
		c.Identity, c.VerifyClient, c.AllowAnonymous = testIdentity(t), AcceptAnyClient, true
		c.Policies = []string{"None", "Basic256Sha256"}
	})
	basic, err := secpol.ByName("Basic256Sha256")
	if err != nil {
		t.Fatal(err)
	}
	secured := func() *wire {
		w, err := securedDial(t, url, basic, ua.MessageSecurityModeSign)
		if err == nil {
			err = w.logIn(t, "", "")
		}
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first, second, plain := secured(), secured(), connect(t, url)
	sub := first.subscribe(t, space)
	if s := plain.transfer(t, sub); s != ua.BadUserAccessDenied {
		t.Errorf("without security: %v", s)
	}
	if s := second.transfer(t, plain.subscribe(t, space)); s != ua.BadUserAccessDenied {
		t.Errorf("of a client without a certificate: %v", s)
	}
	if s := second.transfer(t, sub); s != ua.Good {
		t.Errorf("the same client: %v", s)
	}
	var p ua.PublishResponse
	if err := second.call(&ua.PublishRequest{RequestHeader: second.header()}, &p); err != nil || len(p.NotificationMessage.NotificationData) != 1 {
		t.Errorf("after the transfer: %v, %+v", err, p)
	}
}

// Connections that are cut with requests parked give their messages back, on loops and without.
func TestCutConnectionsHoldNothing(t *testing.T) {
	for name, loops := range map[string]int{"event loops": 0, "goroutines": -1} {
		t.Run(name, func(t *testing.T) {
			held := subs.SharedPools().Stats().Messages.Outstanding()
			s, space, url := listen(t, func(c *Config) {
				c.EventLoops = loops
				c.Limits.MinSubscriptionLifetime, c.Limits.MinSessionTimeout, c.Limits.MaxSessionTimeout = 300*time.Millisecond, 300*time.Millisecond, 300*time.Millisecond
				c.Limits.MaxSubscriptionLifetime = 500 * time.Millisecond
			})
			var wg sync.WaitGroup
			for range 20 {
				w := connect(t, url)
				w.subscribe(t, space)
				for range 5 {
					wg.Go(func() {
						for w.call(&ua.PublishRequest{RequestHeader: w.header()}, &ua.PublishResponse{}) == nil {
						}
					})
				}
				time.Sleep(5 * time.Millisecond)
				_ = w.Close(t.Context())
			}
			wg.Wait()
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				st := s.PublishStats()
				if st.Subscriptions == 0 && st.Retained == 0 && st.MessagesHeld == int64(held) && s.Stats().Sessions == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("left behind: %+v, %d sessions; %d messages were held before", st, s.Stats().Sessions, held)
				}
			}
		})
	}
}

// A server that stops answers the requests that wait: the client learns it by an answer, not by a cut.
func TestShutdownAnswersOverSockets(t *testing.T) {
	for name, loops := range map[string]int{"event loops": 0, "goroutines": -1} {
		t.Run(name, func(t *testing.T) {
			s, space, url := listen(t, func(c *Config) { c.EventLoops = loops })
			w := connect(t, url)
			w.subscribe(t, space)
			done := make(chan error, 1)
			go func() {
				for {
					if err := w.call(&ua.PublishRequest{RequestHeader: w.header()}, &ua.PublishResponse{}); err != nil {
						done <- err
						return
					}
				}
			}()
			time.Sleep(100 * time.Millisecond) // the first message has come, the next request waits
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			select {
			case err := <-done:
				if !errors.Is(err, ua.BadServerHalted) {
					t.Errorf("parked request: %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Error("the parked request was never answered")
			}
		})
	}
}
