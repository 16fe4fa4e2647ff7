package actor

// deadLetters is what is behind the Ref of the dead letters.
type deadLetters struct{}

func (deadLetters) tell(to *Ref, msg any, sender *Ref) {
	switch m := msg.(type) {
	case DeadLetter:
		if m.Recipient == nil {
			m.Recipient = to
		}
		to.sys.deadLetter(m.Recipient, m.Message, m.Sender)
	case Identify:
		to.sys.identifyNobody(m, sender)
	default:
		to.sys.deadLetter(to, msg, sender)
	}
}

func (deadLetters) tellSystem(to *Ref, m *sysMsg) { to.sys.deadSystemMessage(to, m) }

// deadLetter publishes a message that cannot be delivered.
func (s *System) deadLetter(to *Ref, msg any, sender *Ref) { s.deadLetterFor(to, msg, sender, "") }

func (s *System) deadLetterFor(to *Ref, msg any, sender *Ref, reason string) {
	switch m := msg.(type) {
	case Identify:
		s.identifyNobody(m, sender)
		return
	case *selectionMessage:
		m.nobody(s, to, sender)
		return
	case *timerMessage, *continuation, *receiveTimeoutMessage:
		return // of no interest to anybody
	}
	lost(to, sender, ErrTerminated)
	if isNews(msg) {
		// It was on its way to a subscriber that is gone. To publish that would go on without end.
		if _, ok := msg.(SuppressedDeadLetter); !ok {
			s.lost.dead.total.Add(1)
		}
		return
	}
	if _, ok := msg.(DeadLetterSuppression); ok {
		if !s.events.quiet() {
			s.events.Publish(SuppressedDeadLetter{Message: msg, Sender: sender, Recipient: to})
		}
		return
	}
	s.lost.dead.note(s, to, msg, sender, reason)
	if to != nil && to.c != nil {
		s.meters.report(to.c, ClassMeter.DeadLetter)
	} else {
		s.meters.reportNobody(ClassMeter.DeadLetter)
	}
	if !s.events.quiet() {
		s.events.Publish(DeadLetter{Message: msg, Sender: sender, Recipient: to, Reason: reason})
	}
}

// drop deals with a message that is not delivered for another reason than its receiver's end.
func (s *System) drop(to *Ref, msg any, sender *Ref, reason string) {
	s.lost.dropped.note(s, to, msg, sender, reason)
	if !isNews(msg) && !s.events.quiet() {
		s.events.Publish(Dropped{Message: msg, Reason: reason, Sender: sender, Recipient: to})
	}
}

// isNews reports whether msg is an event about a message that went nowhere. Where that happens to the event itself
// it is counted, and not published again.
func isNews(msg any) bool {
	switch msg.(type) {
	case DeadLetter, SuppressedDeadLetter, Dropped, UnhandledMessage:
		return true
	}
	return false
}

func (s *System) identifyNobody(m Identify, sender *Ref) {
	if sender != nil {
		sender.tellNow(ActorIdentity{MessageID: m.MessageID}, nil) // this may be anybody's goroutine
	}
}

// publishFull deals with a message for which a bounded mailbox had no room in time.
func (s *System) publishFull(to *Ref, msg any, sender *Ref) {
	lost(to, sender, ErrMailboxFull)
	s.deadLetter(to, unwrapped(msg), sender)
}

func (s *System) unhandled(to *Ref, msg any, sender *Ref) {
	s.lost.unhandled.note(s, to, msg, sender, "")
	if !isNews(msg) && !s.events.quiet() {
		s.events.Publish(UnhandledMessage{Message: msg, Sender: sender, Recipient: to})
	}
}

// deadSystemMessage deals with a system message to an actor that has ended.
func (s *System) deadSystemMessage(to *Ref, m *sysMsg) {
	if m.kind == sysWatch && m.other != nil {
		m.other.tellSystem(&sysMsg{kind: sysDeathNotice, ref: m.ref})
	}
}
