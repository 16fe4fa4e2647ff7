package uaserver

import (
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// What tests with a real node manager, which are outside of this package, need of the fakes.

// Clock is the fake clock.
type Clock struct{ clock }

// NewClock makes one that stands still.
func NewClock() *Clock { return &Clock{clock{t: testStart}} }

// Now is for Config.Now.
func (c *Clock) Now() time.Time { return c.now() }

// Add moves it.
func (c *Clock) Add(d time.Duration) { c.add(d) }

// RunDue does what is due of subscriptions and samples, and says when more will be.
func (s *Server) RunDue() time.Duration { return s.runDue() }

// Sweep ends the sessions whose time is over.
func (s *Server) Sweep() { s.sweep(s.now()) }

// RoomTaken is how many bytes large requests hold.
func (s *Server) RoomTaken() int64 { return s.room.budget.Used() }

// FakeClient is a client on a fake channel.
type FakeClient struct{ *fakeClient }

// NewFakeClient makes one, without a session, on the channel of this number.
func (s *Server) NewFakeClient(t testing.TB, number uint32) FakeClient {
	ch := newFakeChannel()
	ch.number = number
	return FakeClient{s.fakeClient(t, ch)}
}

// LogIn makes a session, anonymous or of a user.
func (c FakeClient) LogIn(user, password string) FakeClient {
	c.t.Helper()
	if _, err := c.create(); err != nil {
		c.t.Fatal(err)
	}
	if err := c.activate(loginToken(user, password)); err != nil {
		c.t.Fatal(err)
	}
	return c
}

func loginToken(user, password string) ua.Structure {
	if user == "" {
		return nil
	}
	return &ua.UserNameIdentityToken{PolicyID: userNamePolicyID, UserName: user, Password: []byte(password)}
}

// TakeOver activates the session of another client here.
func (c FakeClient) TakeOver(from FakeClient) error {
	c.token = from.token
	return c.activate(nil)
}

// Cut ends the channel.
func (c FakeClient) Cut() { c.conn.closed() }

// Limit bounds the size of responses.
func (c FakeClient) Limit(n int) { c.ch.limit = n }

// Call sends a request and waits for the answer, a fault as error.
func (c FakeClient) Call(h *ua.RequestHeader, q, p ua.Structure) error {
	c.t.Helper()
	return c.call(h, q, p)
}

// Send sends a request.
func (c FakeClient) Send(h *ua.RequestHeader, q ua.Structure) uint32 { return c.send(h, q) }

// Handle is the RequestHandle that Send gave a request.
func (c FakeClient) Handle(id uint32) uint32 { return 1000 + id }

// Receive waits for an answer.
func (c FakeClient) Receive(id uint32, p ua.Structure) error {
	c.t.Helper()
	return c.receive(id, p)
}

// Answered reports whether an answer is there.
func (c FakeClient) Answered(id uint32) bool {
	c.ch.mu.Lock()
	defer c.ch.mu.Unlock()
	return c.ch.sent[id] != nil
}

// Answers is the number of answers that nobody has received.
func (c FakeClient) Answers() int {
	c.ch.mu.Lock()
	defer c.ch.mu.Unlock()
	return len(c.ch.sent)
}

// Mute forgets all answers from now on.
func (c FakeClient) Mute() {
	c.ch.mu.Lock()
	defer c.ch.mu.Unlock()
	c.ch.sent = nil
}

// Of is the client with another's session.
func (c FakeClient) Of(from FakeClient) FakeClient {
	c.token = from.token
	return c
}

// UserNamePolicyID is what the server calls its plain user names.
const UserNamePolicyID = userNamePolicyID

// Monitored tells how many objects' events are monitored, and whether something is read for samples.
func (s *Server) Monitored() (notifiers int, sampled bool) {
	s.notifiers.mu.Lock()
	defer s.notifiers.mu.Unlock()
	return len(s.notifiers.by) + int(s.notifiers.used.Load()), s.sampler.wheel.Next() != maxDuration
}
