package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

type badError struct{}

func (badError) Error() string { panic("no text") }

type badUnwrap struct{}

func (badUnwrap) Error() string { return "text" }
func (badUnwrap) Unwrap() error { panic("nothing inside") }

// round is an error after a journey.
func round(t *testing.T, err error) *serial.RemoteError {
	t.Helper()
	r := serial.NewRegistry(serial.Options{})
	x := serial.Exchange{Registry: r}
	b, id, manifest, e := r.Append(nil, serial.Recreate{Cause: wireCause(err)}, &x)
	if e != nil {
		t.Fatal(e)
	}
	if len(b) > 30000 {
		t.Errorf("the error takes %d bytes", len(b))
	}
	m, e := r.Decode(id, []byte(manifest), b, &x)
	if e != nil {
		t.Fatal(e)
	}
	if m.(serial.Recreate).Cause == nil {
		return nil
	}
	return m.(serial.Recreate).Cause.(*serial.RemoteError)
}

func TestCauses(t *testing.T) {
	ref := new(actor.Ref)
	for _, c := range []struct {
		err             error
		typ, text, more string
	}{
		{badError{}, exceptionType, "cannot say what it is", ""},
		{badUnwrap{}, exceptionType, "cannot say what it is", ""},
		{errors.New("plain"), exceptionType, "plain", ""},
		{fmt.Errorf("around: %w", context.DeadlineExceeded), "System.TimeoutException, mscorlib", "around", ""},
		{context.Canceled, "System.OperationCanceledException, mscorlib", "canceled", ""},
		{actor.ErrActorKilled, killedType, "killed", ""},
		{&actor.InitializationError{Actor: ref, Cause: errors.New("c")}, killedType, "could not be started", ""},
		{&actor.PanicError{Value: "boom", Stack: []byte("goroutine 1")}, exceptionType, "boom", "goroutine 1"},
		{&serial.RemoteError{TypeName: "System.ArgumentException, System.Private.CoreLib", Message: "m", StackTrace: "at X"}, "System.ArgumentException, System.Private.CoreLib", "m", "at X"},
		{&serial.RemoteError{TypeName: "Shop.TillException, Shop", Message: "m"}, exceptionType, "TillException: m", ""},
		{&serial.RemoteError{TypeName: "Akka.Actor.ActorInitializationException, Akka", Message: "m"}, "Akka.Actor.ActorInitializationException, Akka", "m", ""},
		{&serial.RemoteError{
			TypeName: "Akka.Actor.ActorInitializationException, Akka", Message: "m",
			Fields: []serial.Field{{Name: "Actor", Value: serial.Payload{SerializerID: 4, Message: make([]byte, 100000)}}},
		}, killedType, "m", ""},
		{&serial.RemoteError{TypeName: "System.Collections.Generic.X`1[[Shop.Y, Shop]], mscorlib", Message: "m"}, exceptionType, "m", ""},
	} {
		got := round(t, c.err)
		if got.TypeName != c.typ || !strings.Contains(got.Message, c.text) || !strings.Contains(got.StackTrace, c.more) {
			t.Errorf("%T: %+v", c.err, got)
		}
	}
	if got := round(t, nil); got != nil {
		t.Errorf("no error became %+v", got)
	}
}

// However large an error is, it fits into the smallest frame.
func TestCausesAreBounded(t *testing.T) {
	long := strings.Repeat("\xff☃ a", 10000)
	err := errors.New(long)
	for range 20 {
		err = fmt.Errorf("%s %w", long, err)
	}
	round(t, &actor.PanicError{Value: err, Stack: []byte(long)})
	far := &serial.RemoteError{}
	for range 20 {
		far = &serial.RemoteError{
			TypeName: "System.Exception, mscorlib", Message: long, StackTrace: long, Source: long, ForwardedFrom: long, Inner: far,
			Fields: []serial.Field{{Name: long}},
		}
	}
	round(t, far)
}

func TestChildCauses(t *testing.T) {
	for name, want := range map[string]actor.Directive{
		"System.Exception, mscorlib":                           actor.Restart,
		"Akka.Actor.ActorKilledException, Akka":                actor.Stop,
		"Akka.Actor.ActorInitializationException, Akka":        actor.Stop,
		"Akka.Actor.PostRestartException, Akka":                actor.Stop,
		"Akka.Actor.DeathPactException, Akka":                  actor.Stop,
		"Shop.ActorInitializationException, Shop":              actor.Restart,
		"Akka.Actor.ActorInitializationExceptionOfMine, Other": actor.Restart,
	} {
		e := &serial.RemoteError{TypeName: name, Message: "m"}
		err := childCause(e)
		if got := actor.DefaultDecider(err); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		var back *serial.RemoteError
		if !errors.As(err, &back) || back != e || !strings.Contains(err.Error(), "m") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if childCause(nil) == nil {
		t.Error("a failure without a cause has none")
	}
}
