package actor

import (
	"context"
	"errors"
	"time"
)

// PipeOptions say what [PipeTo] makes of a result. The zero value sends results as they are.
type PipeOptions[T any] struct {
	// Success makes the message of a result; nil sends the result itself.
	Success func(T) any

	// Failure makes the message of an error; nil sends a [StatusFailure].
	Failure func(error) any

	// Sender is who the message comes from; nil is the actor that piped.
	Sender *Ref
}

// PipeTo runs work on a goroutine of its own and sends what it returns to an actor, often to ctx.Self(). The actor
// goes on with its messages meanwhile; where they have to wait, use [Await]. An error is sent as [StatusFailure], as
// is a panic (a *[PanicError] with its stack), the end of the goroutine in work, a panic in the functions of the
// options, and a result that is nil, since that is no message.
//
// The work outlives the actor, as in Akka.NET: its context ends with the system only. work must not use ctx, nor
// fields of the actor. With more than one PipeOptions the last one counts.
func PipeTo[T any](ctx *Context, to *Ref, work func(context.Context) (T, error), opts ...PipeOptions[T]) {
	if to == nil || work == nil {
		ctx.Fail(errors.New("PipeTo needs a Ref and a function"))
	}
	var o PipeOptions[T]
	if len(opts) > 0 {
		o = opts[len(opts)-1]
	}
	if o.Sender == nil {
		o.Sender = ctx.Self()
	}
	life := lifetime{ctx.System()}
	var msg any
	aside(func() error {
		v, err := work(life)
		switch {
		case err != nil:
			return err
		case o.Success != nil:
			msg = o.Success(v)
		default:
			msg = v
		}
		if msg == nil {
			return errNilResult
		}
		return nil
	}, func(err error) {
		if err != nil {
			pipeFailure(to, o.Sender, err, o.Failure)
			return
		}
		to.TellFrom(msg, o.Sender)
	})
}

// errNilResult is why the result of a pipe was not sent.
var errNilResult = errors.New("the result is nil, and a message cannot be")

// pipeFailure sends what failed makes of err, if it makes something, and a StatusFailure otherwise.
func pipeFailure(to, sender *Ref, err error, failed func(error) any) {
	var msg any
	defer func() { // also where failed ends the goroutine
		if r := recover(); r != nil {
			err = errors.Join(err, panicError(r))
		}
		if msg == nil {
			msg = StatusFailure{Cause: err}
		}
		to.TellFrom(msg, sender)
	}()
	if failed != nil {
		msg = failed(err)
	}
}

// aside runs f on a goroutine of its own, and then done on the same: with the error of f, or that of its panic, or
// errGoexit.
func aside(f func() error, done func(error)) {
	go func() {
		err := errGoexit
		defer func() {
			if r := recover(); r != nil {
				err = panicError(r)
			}
			done(err)
		}()
		err = f()
	}()
}

// lifetime is the context that ends with a system.
type lifetime struct{ sys *System }

func (lifetime) Deadline() (time.Time, bool) { return time.Time{}, false }

func (l lifetime) Done() <-chan struct{} { return l.sys.terminated }

func (l lifetime) Err() error {
	select {
	case <-l.sys.terminated:
		return context.Canceled
	default:
		return nil
	}
}

func (lifetime) Value(any) any { return nil }

func (l lifetime) String() string { return "the lifetime of " + l.sys.String() }
