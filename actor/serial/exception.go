package serial

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// RemoteError is an exception of a .NET program, or an error of a Go program, that has come in a message. It goes on to
// others as it came. [errors.Is] finds context.DeadlineExceeded and [actor.ErrAskTimeout] in a time-out, context.Canceled in
// a cancellation, and [actor.ErrActorKilled] in an ActorKilledException.
type RemoteError struct {
	TypeName      string // "System.InvalidOperationException, System.Private.CoreLib"
	Message       string
	StackTrace    string // as .NET writes it; "" from a Go program
	Source        string // the assembly; from a Go program the Go type of the error
	Inner         *RemoteError
	Fields        []Field // what else the exception's type has
	ForwardedFrom string  // an assembly where the type is found if it is not in that of TypeName
}

// Field is a member of an exception that not all exceptions have.
type Field struct {
	Name  string
	Value Payload
}

// Error is the type without its namespace, and the message.
func (e *RemoteError) Error() string {
	name, _, _ := strings.Cut(e.TypeName, ",")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if e.Message == "" {
		return name
	}
	return name + ": " + e.Message
}

// Unwrap is Inner.
func (e *RemoteError) Unwrap() error {
	if e.Inner == nil {
		return nil
	}
	return e.Inner
}

// exceptions are the errors that both worlds have, in the order that they are looked for.
var exceptions = []struct {
	err error
	typ string
}{
	{actor.ErrActorKilled, "Akka.Actor.ActorKilledException, Akka"},
	{actor.ErrAskTimeout, "System.TimeoutException, mscorlib"},
	{context.DeadlineExceeded, "System.TimeoutException, mscorlib"},
	{context.Canceled, "System.OperationCanceledException, mscorlib"},
	{errors.ErrUnsupported, "System.NotSupportedException, mscorlib"},
}

// Is compares with the errors of Go that mean the same.
func (e *RemoteError) Is(target error) bool {
	name, _, _ := strings.Cut(e.TypeName, ",")
	switch name {
	case "System.Threading.Tasks.TaskCanceledException":
		name = "System.OperationCanceledException"
	case "Akka.Actor.AskTimeoutException":
		name = "System.TimeoutException"
	}
	for _, x := range exceptions {
		if typ, _, _ := strings.Cut(x.typ, ","); typ == name && target == x.err {
			return true
		}
	}
	return false
}

// exceptionOf is the exception that an error is sent as. An error of Go is a System.Exception with its text, its Go
// type as the source, and the errors that it wraps as inner exceptions.
func exceptionOf(err error, level int) *RemoteError {
	if e, ok := err.(*RemoteError); ok {
		return e
	}
	e := &RemoteError{TypeName: "System.Exception, mscorlib", Message: err.Error(), Source: fmt.Sprintf("%T", err)}
	for _, x := range exceptions {
		if errors.Is(err, x.err) {
			e.TypeName = x.typ
			break
		}
	}
	if level >= maxInner {
		return e
	}
	if inner := errors.Unwrap(err); inner != nil {
		e.Inner = exceptionOf(inner, level+1)
	}
	return e
}

// exceptionData is an error as it is sent; nil is the null exception, which has no bytes.
func exceptionData(err error) (akkapb.ExceptionData, error) {
	if err == nil {
		return akkapb.ExceptionData{}, nil
	}
	return exceptionOf(err, 0).data(0)
}

func (e *RemoteError) data(level int) (akkapb.ExceptionData, error) {
	if e == nil {
		return akkapb.ExceptionData{}, nil
	}
	if level > maxDepth {
		return akkapb.ExceptionData{}, ErrTooDeep
	}
	name := e.TypeName
	if name == "" {
		name = "System.Exception, mscorlib" // without a name it would be null
	}
	d := akkapb.ExceptionData{
		TypeName: []byte(name), Message: []byte(e.Message), StackTrace: []byte(e.StackTrace), Source: []byte(e.Source),
		TypeForwardedFrom: []byte(e.ForwardedFrom), HasInner: true,
	}
	inner, err := e.Inner.data(level + 1)
	if err != nil {
		return d, err
	}
	d.Inner = inner.Append(nil)
	for _, f := range e.Fields {
		d.CustomFields = append(d.CustomFields, akkapb.CustomField{
			Name: []byte(f.Name), HasValue: true,
			Value: akkapb.Payload{Message: f.Value.Message, SerializerID: f.Value.SerializerID, Manifest: []byte(f.Value.Manifest)},
		})
	}
	return d, nil
}

// errorOf is the error of an exception, nil for the null one.
func errorOf(d *akkapb.ExceptionData) (error, error) {
	e, err := remoteError(d, 0)
	if e == nil {
		return nil, err
	}
	return e, err
}

func remoteError(d *akkapb.ExceptionData, level int) (*RemoteError, error) {
	if len(d.TypeName) == 0 {
		return nil, nil
	}
	if level > maxDepth {
		return nil, ErrTooDeep
	}
	e := &RemoteError{
		TypeName: string(d.TypeName), Message: string(d.Message), StackTrace: string(d.StackTrace), Source: string(d.Source),
		ForwardedFrom: string(d.TypeForwardedFrom),
	}
	for i := range d.CustomFields {
		f := &d.CustomFields[i]
		e.Fields = append(e.Fields, Field{string(f.Name), keepPayload(&f.Value)})
	}
	var inner akkapb.ExceptionData
	has, err := d.DecodeInner(&inner)
	if err != nil {
		return nil, err
	}
	if has {
		e.Inner, err = remoteError(&inner, level+1)
	}
	return e, err
}
