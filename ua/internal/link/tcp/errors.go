package tcp

import (
	"fmt"

	"github.com/actua/actua/ua"
)

// Steps of Dial, in StepError.
const (
	StepTCP     = "tcp"     // the network connection
	StepHello   = "hello"   // Hello and Acknowledge
	StepChannel = "channel" // OpenSecureChannel
)

// StepError tells at which step of Dial a connection failed, and why.
type StepError struct {
	Step string
	Err  error
}

// Error names the step and the cause.
func (e *StepError) Error() string {
	return fmt.Sprintf("opening the connection (%s): %v", e.Step, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// ServiceFault is the error of a call that the server answered with a ServiceFault (Part 4, 7.35). It
// is the status code of its ServiceResult under errors.Is.
type ServiceFault struct {
	Header ua.ResponseHeader
}

// Error is the text of the ServiceResult.
func (e *ServiceFault) Error() string { return e.Header.ServiceResult.Error() }

// Code is the ServiceResult as a number, which ua.StatusOf reads.
func (e *ServiceFault) Code() uint32 { return e.Header.ServiceResult.Code() }

// Unwrap returns the ServiceResult.
func (e *ServiceFault) Unwrap() error { return e.Header.ServiceResult }
