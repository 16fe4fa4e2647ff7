package actor

import "time"

// tell is a scheduled message.
type tell struct {
	Cancelable
	to     recipient
	msg    any
	sender *Ref
}

// recipient is what a message can be scheduled to.
type recipient interface{ tellNow(msg any, sender *Ref) }

// Run sends the message.
func (t *tell) Run() { t.to.tellNow(t.msg, t.sender) }

// ScheduleTellOnce sends msg to an actor after the delay. A sender of nil means none.
func (s *Scheduler) ScheduleTellOnce(delay time.Duration, to *Ref, msg any, sender *Ref) *Cancelable {
	checkRecipient(to)
	return s.scheduleTell(delay, 0, to, msg, sender)
}

// ScheduleTellRepeatedly sends msg to an actor after the initial delay and then each interval, as
// ScheduleRepeatedly does. It goes on when the actor has stopped, to dead letters: cancel it. The timers of
// Context.Timers end with their actor.
func (s *Scheduler) ScheduleTellRepeatedly(initial, interval time.Duration, to *Ref, msg any, sender *Ref) *Cancelable {
	checkInterval(interval)
	checkRecipient(to)
	return s.scheduleTell(initial, interval, to, msg, sender)
}

func checkRecipient(to *Ref) {
	if to == nil {
		panic("actor: a message was scheduled to a nil reference")
	}
}

func (s *Scheduler) scheduleTell(delay, interval time.Duration, to recipient, msg any, sender *Ref) *Cancelable {
	if msg == nil {
		panic("actor: a nil message was scheduled")
	}
	t := &tell{to: to, msg: msg, sender: sender}
	return s.schedule(&t.Cancelable, t, delay, interval)
}
