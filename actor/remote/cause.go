package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// Errors in system messages travel as text. A .NET node makes an exception of it, of a type that it must have: where it cannot, it
// gives the whole association up, and gets the same message again. So only types go out that each node has, and nothing
// that would not fit into a frame: a failure that cannot be told leaves an actor suspended for ever.

// Bounds of an error, in bytes. All together stay below the smallest frame.
const (
	causeText   = 4 << 10 // the message
	causeInner  = 1 << 10 // that of one further in
	causeStack  = 4 << 10
	causeName   = 256 // a type, a source
	causeFields = 2 << 10
	causeDepth  = 8
)

const (
	exceptionType = "System.Exception, mscorlib"
	// killedType is what supervisors there stop a child for, as those here do where an actor could not be started: the exact
	// types cannot be made there from a text.
	killedType = "Akka.Actor.ActorKilledException, Akka"
)

// wireErrors are the errors that both worlds have.
var wireErrors = []struct {
	err error
	typ string
}{
	{actor.ErrAskTimeout, "System.TimeoutException, mscorlib"},
	{context.DeadlineExceeded, "System.TimeoutException, mscorlib"},
	{context.Canceled, "System.OperationCanceledException, mscorlib"},
	{errors.ErrUnsupported, "System.NotSupportedException, mscorlib"},
}

var errUnknownCause = errors.New("the other node did not say why")

func orUnknown(err error) error {
	if err == nil {
		return errUnknownCause
	}
	return err
}

// wireCause is the form in which an error is sent; nil stays nil.
func wireCause(err error) error {
	if err == nil {
		return nil
	}
	return exceptionOf(err, 0)
}

func exceptionOf(err error, depth int) (e *serial.RemoteError) {
	defer func() {
		if p := recover(); p != nil { // a method of the user's
			e = &serial.RemoteError{TypeName: exceptionType, Message: clipText(fmt.Sprintf("a %T that cannot say what it is", err), causeName)}
		}
	}()
	switch far := err.(type) {
	case *serial.RemoteError:
		return forward(far, depth)
	case *stopCause:
		return forward(far.RemoteError, depth)
	}
	e = &serial.RemoteError{TypeName: typeOf(err), Message: clipText(err.Error(), textAt(depth)), Source: clipText(fmt.Sprintf("%T", err), causeName)}
	if p, ok := err.(*actor.PanicError); ok && depth == 0 {
		e.StackTrace = clipText(string(p.Stack), causeStack)
	}
	if inner := errors.Unwrap(err); inner != nil && depth < causeDepth {
		e.Inner = exceptionOf(inner, depth+1)
	}
	return e
}

func typeOf(err error) string {
	if actor.DefaultDecider(err) == actor.Stop {
		return killedType
	}
	for _, x := range wireErrors {
		if errors.Is(err, x.err) {
			return x.typ
		}
	}
	return exceptionType
}

// forward is an error that has come from a node, on its way on.
func forward(e *serial.RemoteError, depth int) *serial.RemoteError {
	out := &serial.RemoteError{
		TypeName: e.TypeName, Message: clipText(e.Message, textAt(depth)), Source: clipText(e.Source, causeName),
		ForwardedFrom: e.ForwardedFrom, Fields: e.Fields,
	}
	if depth == 0 {
		out.StackTrace = clipText(e.StackTrace, causeStack)
	}
	if !everywhere(e, depth) {
		out.TypeName, out.ForwardedFrom, out.Fields = exceptionType, "", nil
		if actor.DefaultDecider(childCause(e)) == actor.Stop {
			out.TypeName = killedType
		}
		out.Message = clipText(e.Error(), textAt(depth)) // with the name of its type
	}
	if e.Inner != nil && depth < causeDepth {
		out.Inner = forward(e.Inner, depth+1)
	}
	return out
}

// everywhere reports whether each node has the type of an exception, and it is small.
func everywhere(e *serial.RemoteError, depth int) bool {
	size := 0
	for _, f := range e.Fields {
		size += len(f.Name) + len(f.Value.Message) + len(f.Value.Manifest)
	}
	if len(e.TypeName) > causeName || len(e.ForwardedFrom) > causeName || size > causeFields || size > 0 && depth > 0 {
		return false
	}
	name, assembly, _ := strings.Cut(e.TypeName, ",")
	switch strings.TrimSpace(assembly) {
	case "mscorlib", "System.Private.CoreLib":
		return !strings.ContainsAny(name, "`[")
	case "Akka":
		return true
	}
	return false
}

func textAt(depth int) int {
	if depth == 0 {
		return causeText
	}
	return causeInner
}

func clipText(s string, most int) string {
	s = strings.ToValidUTF8(s[:min(len(s), most+1)], "?")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// childCause makes of the exception of a child elsewhere what deciders here know.
func childCause(err error) error {
	e, ok := err.(*serial.RemoteError)
	if !ok {
		return orUnknown(err)
	}
	name, _, _ := strings.Cut(e.TypeName, ",")
	switch name {
	case "Akka.Actor.ActorInitializationException", "Akka.Actor.PostRestartException", "Akka.Actor.DeathPactException":
		return &stopCause{e}
	}
	return err
}

// stopCause is an exception for which supervisors stop a child.
type stopCause struct{ *serial.RemoteError }

// Unwrap is the exception, and what deciders look for.
func (s *stopCause) Unwrap() []error { return []error{s.RemoteError, actor.ErrActorKilled} }
