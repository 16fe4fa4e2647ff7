package actor

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrActorKilled is the failure that [Kill] causes (Akka.NET: ActorKilledException). The default decider stops
// the actor.
var ErrActorKilled = errors.New("the actor was killed")

var errGoexit = errors.New("the actor's code ended its goroutine (runtime.Goexit)")

// A PanicError is the failure of an actor whose code panicked.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked, as runtime/debug.Stack gives it
}

// Error is the text of the value.
func (e *PanicError) Error() string { return fmt.Sprint(e.Value) }

// Unwrap is the value, if it is an error: errors.Is and errors.As see through the panic.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// panicError makes the failure of what was recovered. What [Context.Fail] panicked with is the error itself.
func panicError(r any) error {
	if f, ok := r.(failing); ok {
		return f.err
	}
	return &PanicError{Value: r, Stack: debug.Stack()}
}

// failing carries the error of [Context.Fail].
type failing struct{ err error }

// An InitializationError is the failure of an actor whose constructor or PreStart failed (Akka.NET:
// ActorInitializationException). The default decider stops the actor.
type InitializationError struct {
	Actor *Ref
	Cause error
}

// Error names the actor and the cause.
func (e *InitializationError) Error() string {
	return fmt.Sprintf("%s could not be started: %v", e.Actor.path, e.Cause)
}

// Unwrap is the cause.
func (e *InitializationError) Unwrap() error { return e.Cause }

// A RestartError is the failure of an actor whose PostRestart, or constructor at a restart, failed (Akka.NET:
// PostRestartException, which is an ActorInitializationException). The default decider stops the actor.
type RestartError struct {
	Actor    *Ref
	Cause    error // why the restart failed
	Original error // why there was a restart
}

// Error names the actor and both causes.
func (e *RestartError) Error() string {
	return fmt.Sprintf("%s could not be restarted: %v (restarted because of: %v)", e.Actor.path, e.Cause, e.Original)
}

// Unwrap is why the restart failed.
func (e *RestartError) Unwrap() error { return e.Cause }

// A DeathPactError is the failure of an actor that watches another and did not handle its [Terminated]
// (Akka.NET: DeathPactException). The default decider stops the actor.
type DeathPactError struct{ Dead *Ref }

// Error names the actor that has ended.
func (e *DeathPactError) Error() string {
	return fmt.Sprintf("%s has ended, and its Terminated was not handled", e.Dead.path)
}
