package uaclient

import (
	"time"

	"github.com/actua/actua/ua"
)

// Progress is a step of Dial that has ended, for Config.Trace. StepTCP, StepHello and StepChannel come
// first for the channel on which the endpoints are asked for, and once more for the secured channel, if
// there is one; StepCertificate comes when a certificate was needed.
type Progress struct {
	Step Step
	Took time.Duration
	// Err is why the step failed, the error that Dial returns; nil if it succeeded.
	Err error
	// Endpoint is the one that Dial tries; nil while the endpoints are not known.
	Endpoint *ua.EndpointDescription
	// Offered are all endpoints of the server; nil while they are not known.
	Offered []ua.EndpointDescription
	// ClockAhead is how far the server's clock was ahead of ours when it last answered, negative when
	// behind, as the time stamp of its response header says (Part 4, 7.34). The time that the answer
	// travelled is in it. 0 before the first answer, and when the server sends no time.
	ClockAhead time.Duration
}

// steps tells Config.Trace of the steps. It belongs to the goroutine that dials.
type steps struct {
	trace    func(Progress)
	began    time.Time // of the step that is being done
	endpoint *ua.EndpointDescription
	offered  []ua.EndpointDescription
	ahead    time.Duration
}

func (s *steps) begin(trace func(Progress)) { s.trace, s.began = trace, time.Now() }

// end reports a step; what follows is the next one.
func (s *steps) end(step Step, err error) {
	if s.trace == nil {
		return
	}
	s.trace(Progress{Step: step, Took: time.Since(s.began), Err: err, Endpoint: s.endpoint, Offered: s.offered, ClockAhead: s.ahead})
	s.began = time.Now()
}

// heard takes the server's time from an answer.
func (s *steps) heard(h *ua.ResponseHeader) {
	if s.trace != nil && !h.Timestamp.IsZero() {
		s.ahead = time.Until(h.Timestamp.Time())
	}
}
