package uaserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
)

// session is a client's session (Part 4, 5.7). It outlives its channel until its time-out.
type session struct {
	id, token   ua.NodeID
	name        string
	client      ua.ApplicationDescription
	certificate []byte // leaf of the client's, in DER; nil without security
	security    security
	timeout     time.Duration
	maxResponse int // bytes; 0: no limit
	createdAt   time.Time
	diagnostics *sessionDiagnostics // nil while diagnostics are off

	ctx   context.Context // done when the session has ended
	end   context.CancelFunc
	ended atomic.Bool

	bound   atomic.Pointer[conn]
	info    atomic.Pointer[login]        // nil until activated
	lastUse atomic.Int64                 // Unix nanoseconds
	subs    atomic.Pointer[subs.Session] // nil before the first subscription

	mu      sync.Mutex
	nonce   []byte // the last that the server gave; good for one activation
	pending map[*call]struct{}
	points  points
}

// login is what an activation has settled.
type login struct {
	SessionInfo
	locales []string
}

func (s *session) touch(now time.Time) { s.lastUse.Store(now.UnixNano()) }

// deadline is when the session ends if nothing happens. Until it is activated it has less time.
func (s *session) deadline(activation time.Duration) time.Time {
	if s.info.Load() == nil {
		return s.createdAt.Add(min(activation, s.timeout))
	}
	return time.Unix(0, s.lastUse.Load()).Add(s.timeout)
}

// addPending records a call that will be answered later; false if too many are.
func (s *session) addPending(k *call, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) >= limit {
		return false
	}
	if s.pending == nil {
		s.pending = make(map[*call]struct{})
	}
	s.pending[k] = struct{}{}
	return true
}

// activating reports whether a first activation is being worked on.
func (s *session) activating() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0
}

// removePending forgets a call; Cancel holds the same lock while it answers one, so afterwards the
// call is the caller's alone.
func (s *session) removePending(k *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, k)
}

// sessions is the table of sessions. Its lock is never held while another is taken.
type sessions struct {
	mu      sync.RWMutex
	byToken map[ua.NodeID]*session
	closed  bool // none are added any more
}

func (t *sessions) find(token ua.NodeID) *session {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byToken[token]
}

// all lists the sessions, the oldest first.
func (t *sessions) all() []*session {
	t.mu.RLock()
	list := make([]*session, 0, len(t.byToken))
	for _, s := range t.byToken {
		list = append(list, s)
	}
	t.mu.RUnlock()
	slices.SortFunc(list, func(a, b *session) int {
		return cmp.Or(a.createdAt.Compare(b.createdAt), cmp.Compare(a.id.String(), b.id.String()))
	})
	return list
}

func (t *sessions) count() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byToken)
}

// add puts a session in; when the table is full, the oldest that is not activated makes room. It
// returns the session that had to go, and false when there is no room (Part 4, 5.7.2).
func (t *sessions) add(s *session, limit int) (dropped *session, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	if len(t.byToken) >= limit {
		for _, o := range t.byToken {
			if o.info.Load() == nil && (dropped == nil || o.createdAt.Before(dropped.createdAt)) {
				dropped = o
			}
		}
		if dropped == nil {
			return nil, false
		}
		delete(t.byToken, dropped.token)
	}
	t.byToken[s.token] = s
	return dropped, true
}

// remove takes a session out and reports whether it was in.
func (t *sessions) remove(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byToken[s.token] != s {
		return false
	}
	delete(t.byToken, s.token)
	return true
}

// expired lists the sessions whose time is over.
func (t *sessions) expired(now time.Time, activation time.Duration) (list []*session) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.byToken {
		if !now.Before(s.deadline(activation)) {
			list = append(list, s)
		}
	}
	return list
}

// close lets no more sessions in, and lists those that there are.
func (t *sessions) close() (list []*session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, s := range t.byToken {
		list = append(list, s)
	}
	return list
}

// endSession ends a session whatever the reason. Calls that wait are told to stop by their context. Its
// subscriptions are deleted, or live on for a while to be transferred (Part 4, 5.7.4).
func (s *Server) endSession(x *session, deleteSubscriptions bool) bool {
	if !s.sessions.remove(x) {
		return false
	}
	s.dropSession(x)
	if y := x.subs.Load(); y != nil {
		status := ua.BadSessionClosed
		if s.stopping.Load() {
			status, deleteSubscriptions = ua.BadServerHalted, true
		}
		s.subs.CloseSession(s.clock(s.now()), y, deleteSubscriptions, status)
	}
	return true
}

// dropSession ends a session that is in the table no more.
func (s *Server) dropSession(x *session) {
	x.mu.Lock() // an activation, or its first subscription, is before this or sees the end
	defer x.mu.Unlock()
	x.ended.Store(true)
	x.end()
	if c := x.bound.Load(); c != nil && x.info.Load() != nil {
		c.loggedOut(x)
	}
}

// sweep ends the sessions whose time is over (Part 4, 5.7.2).
func (s *Server) sweep(now time.Time) {
	for _, x := range s.sessions.expired(now, s.cfg.Limits.ActivationTimeout) {
		if s.endSession(x, false) {
			s.stats.timedOut.Add(1)
			s.log.Info("session timed out", "session", clip(x.name), "activated", x.info.Load() != nil)
		}
	}
	s.lockouts.sweep(now)
	s.snapshots.forget()
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		panic(err) // the system has no random numbers: nothing secure can be done
	}
	return b
}
