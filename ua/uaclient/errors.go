package uaclient

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
)

// Step names the part of a connection or call that failed. The values are those that the command
// line prints.
type Step string

// The steps of a connection in their order, and StepService for calls on an open session.
const (
	StepTCP         Step = "tcp"         // name resolution and the TCP connection
	StepHello       Step = "hello"       // Hello and Acknowledge (Part 6, 7.1.2)
	StepChannel     Step = "channel"     // OpenSecureChannel (Part 4, 5.6.2)
	StepEndpoints   Step = "endpoints"   // GetEndpoints and the choice of an endpoint
	StepCertificate Step = "certificate" // the certificates of both sides
	StepSession     Step = "session"     // CreateSession (Part 4, 5.7.2)
	StepActivate    Step = "activate"    // ActivateSession (Part 4, 5.7.3)
	StepService     Step = "service"     // any other service
)

// Error says which step of which operation failed. errors.Is finds the status code inside it, and
// ua.StatusOf returns it.
type Error struct {
	Step Step
	Op   string // the service or helper, such as "Read"
	Node string // the node that the operation was about, in text form; "" if not a single one
	Err  error
}

// Error is one line: the step while connecting, the operation, the node and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Step != StepService {
		fmt.Fprintf(&b, "step %s: ", e.Step)
	}
	b.WriteString(e.Op)
	if e.Node != "" {
		fmt.Fprintf(&b, " %s", e.Node)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// StepOf is the step that err failed at, or "" when it does not come from this package.
func StepOf(err error) Step {
	var e *Error
	if errors.As(err, &e) {
		return e.Step
	}
	return ""
}

// stepError wraps err once. Errors of the link name their own step, which is kept.
func stepError(step Step, op string, err error) error {
	if err == nil {
		return nil
	}
	var done *Error
	if errors.As(err, &done) {
		return err
	}
	var link *tcp.StepError
	if errors.As(err, &link) && step != StepService && link.Step != "" {
		step, err = Step(link.Step), link.Err
	}
	return &Error{Step: step, Op: op, Err: timeoutText(err)}
}

// nodeError wraps the failure of an operation on one node.
func nodeError(op string, node ua.NodeID, err error) error {
	if err == nil {
		return nil
	}
	var done *Error
	if errors.As(err, &done) && done.Node != "" {
		return err
	}
	if done != nil {
		return &Error{Step: done.Step, Op: op, Node: node.String(), Err: done.Err}
	}
	return &Error{Step: StepService, Op: op, Node: node.String(), Err: err}
}

// timeoutText gives the end of a context its status, so that errors.Is finds BadTimeout.
func timeoutText(err error) error {
	var status ua.StatusCode
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &status) {
		return &waitError{text: "no answer in time", status: ua.BadTimeout, err: err}
	}
	return err
}

// waitError is both a status and the error of a context.
type waitError struct {
	text   string
	status ua.StatusCode
	err    error
}

func (e *waitError) Error() string   { return e.text + ": " + e.status.String() }
func (e *waitError) Unwrap() []error { return []error{e.status, e.err} }

// reason is a sentence for people around a status.
func reason(status ua.StatusCode, format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), status)
}

// tooLarge reports whether a request failed because it, or its answer, was too large for one of the
// two sides. The same work in smaller pieces may succeed.
func tooLarge(err error) bool {
	for _, s := range []ua.StatusCode{
		ua.BadResponseTooLarge, ua.BadRequestTooLarge, ua.BadTooManyOperations,
		ua.BadEncodingLimitsExceeded, ua.BadTcpMessageTooLarge,
	} {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}
