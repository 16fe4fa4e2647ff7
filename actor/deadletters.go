package actor

// deadLetters is what is behind the Ref of the dead letters.
type deadLetters struct{}

func (deadLetters) tell(to *Ref, msg any, sender *Ref) {
	switch m := msg.(type) {
	case DeadLetter:
		to.sys.deadLetter(m.Recipient, m.Message, m.Sender)
	case Identify:
		to.sys.identifyNobody(m, sender)
	default:
		to.sys.deadLetter(to, msg, sender)
	}
}

func (deadLetters) tellSystem(to *Ref, m *sysMsg) { to.sys.deadSystemMessage(to, m) }

// deadLetter publishes a message that cannot be delivered.
func (s *System) deadLetter(to *Ref, msg any, sender *Ref) {
	switch m := msg.(type) {
	case Identify:
		s.identifyNobody(m, sender)
		return
	case *selectionMessage:
		m.nobody(s, to, sender)
		return
	case *timerMessage, *continuation:
		return // of no interest to anybody
	}
	if sender != nil {
		if p, ok := sender.t.(*promise); ok {
			p.lost(to)
		}
	}
	if _, ok := msg.(DeadLetterSuppression); ok {
		s.events.Publish(SuppressedDeadLetter{Message: msg, Sender: sender, Recipient: to})
		return
	}
	s.countDeadLetter()
	s.events.Publish(DeadLetter{Message: msg, Sender: sender, Recipient: to})
}

func (s *System) identifyNobody(m Identify, sender *Ref) {
	if sender != nil {
		sender.Tell(ActorIdentity{MessageID: m.MessageID})
	}
}

// publishFull deals with a message for which a bounded mailbox had no room in time.
func (s *System) publishFull(to *Ref, msg any, sender *Ref) { s.deadLetter(to, msg, sender) }

func (s *System) unhandled(to *Ref, msg any, sender *Ref) {
	s.events.Publish(UnhandledMessage{Message: msg, Sender: sender, Recipient: to})
}

// deadSystemMessage deals with a system message to an actor that has ended.
func (s *System) deadSystemMessage(to *Ref, m *sysMsg) {
	if m.kind == sysWatch && m.other != nil {
		m.other.tellSystem(&sysMsg{kind: sysDeathNotice, ref: m.ref})
	}
}
