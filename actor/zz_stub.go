package actor

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
)

type Address struct{ Name string }

func LocalAddress(n string) Address  { return Address{n} }
func ValidSystemName(n string) error { return nil }
func ValidName(n string) error       { return nil }
func (r *Ref) address() Address      { return r.sys.addr }

type EventStream struct {
	mu sync.Mutex
	fs map[int]func(any)
	n  int
}

func newEventStream(s *System) *EventStream { return &EventStream{fs: map[int]func(any){}} }
func (e *EventStream) Publish(m any) {
	e.mu.Lock()
	fs := slices.Collect(maps.Values(e.fs))
	e.mu.Unlock()
	for _, f := range fs {
		f(m)
	}
}

// SubscribeFunc stands in.
func SubscribeFunc[T any](s *System, f func(T)) (cancel func()) {
	e := s.events
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
	n := e.n
	e.fs[n] = func(m any) {
		if m, ok := m.(T); ok {
			f(m)
		}
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.fs, n)
	}
}

type selectionMessage struct{}

func (m *selectionMessage) nobody(s *System, to, sender *Ref) {}

type asyncWork struct{}
type logCache struct{}

func (c *cell) route(m *selectionMessage) {}
func (c *cell) asyncDone(a *asyncWork)    {}
func (c *cell) dropAsync()                {}
func (c *cell) logError(s string, err error) {
	c.ref.sys.log.Error(s, slog.String("actor", c.ref.path), slog.Any("error", err))
}
func (c *cell) logFailure(k *cell, err error, d Directive) {
	c.ref.sys.log.Error(err.Error(), slog.String("actor", k.ref.path), slog.String("directive", d.String()))
}
func (s *System) started(c *cell)              {}
func (s *System) restarted(c *cell, err error) {}
func (s *System) stoppedActor(c *cell)         {}
func (s *System) countDeadLetter()             {}
func (s *System) finishDeadLetters()           {}

const nameAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+~"

func autoName(n uint64) string {
	b := []byte{'$'}
	for {
		b = append(b, nameAlphabet[n&63])
		if n >>= 6; n == 0 {
			return string(b)
		}
	}
}
