package actor

import (
	"errors"
	"time"
)

// Stand-ins for ask and typed receive, until they exist.

type stubAsk struct{ ch chan any }

func (a *stubAsk) tell(_ *Ref, msg any, _ *Ref) { a.ch <- msg }
func (a *stubAsk) tellSystem(*Ref, *sysMsg)     {}

func AskTimeout(to *Ref, msg any, d time.Duration) (any, error) {
	a := &stubAsk{make(chan any, 1)}
	to.TellFrom(msg, to.sys.newRef(a, "/temp/x"))
	select {
	case m := <-a.ch:
		return m, nil
	case <-time.After(d):
		return nil, errors.New("no answer")
	}
}

func Receive[T any](f func(*Context, T)) *Props {
	return FromFunc(func(c *Context, m any) {
		if t, ok := m.(T); ok {
			f(c, t)
			return
		}
		c.Unhandled()
	})
}
