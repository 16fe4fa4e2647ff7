package actor

import (
	"fmt"
	"sync/atomic"
)

type Address struct{ Name string }

func LocalAddress(n string) Address  { return Address{n} }
func ValidSystemName(n string) error { return nil }
func ValidName(n string) error       { return nil }
func (r *Ref) address() Address      { return r.sys.addr }

type EventStream struct{ spy atomic.Pointer[func(any)] }

func newEventStream(s *System) *EventStream { return &EventStream{} }
func (e *EventStream) Publish(m any) {
	if f := e.spy.Load(); f != nil {
		(*f)(m)
	}
}

type receiveTimeout struct{}

func (t *receiveTimeout) stop()           {}
func (t *receiveTimeout) handled(c *cell) {}

type logCache struct{}

func (c *cell) logError(s string, err error) { fmt.Println(c.ref.path, s, err) }
func (c *cell) logFailure(k *cell, err error, d Directive) {
	fmt.Println(c.ref.path, k.ref.path, err, d)
}
func (s *System) started(c *cell)              {}
func (s *System) restarted(c *cell, err error) {}
func (s *System) stoppedActor(c *cell)         {}
func (s *System) countDeadLetter()             {}
func (s *System) finishDeadLetters()           {}

type Mailbox struct{}

func (m Mailbox) make() messageQueue { return nil }
func (m Mailbox) check() error       { return nil }

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
