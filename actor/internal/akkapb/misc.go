package akkapb

import "slices"

// Identify (manifest ID of serializer 16) asks an actor who it is. Without an id it is null.
type Identify struct {
	MessageID    Payload
	HasMessageID bool
}

// Size is the number of bytes that Append adds.
func (m *Identify) Size() int { return sizePart(m.HasMessageID, &m.MessageID) }

// Append adds the message to dst.
func (m *Identify) Append(dst []byte) []byte {
	return appendPart(slices.Grow(dst, m.Size()), 1, m.HasMessageID, &m.MessageID)
}

// Decode reads the message from b, see the package comment.
func (m *Identify) Decode(b []byte) error {
	*m = Identify{}
	return mergeParts(b, "Identify", &m.HasMessageID, &m.MessageID)
}

// ActorIdentity (manifest AID of serializer 16) answers an Identify. The id must be present for .NET, an
// empty Payload for null; an empty path means that there is no such actor.
type ActorIdentity struct {
	CorrelationID    Payload
	HasCorrelationID bool
	Path             []byte
}

// Size is the number of bytes that Append adds.
func (m *ActorIdentity) Size() int {
	return sizePart(m.HasCorrelationID, &m.CorrelationID) + sizeBytes(len(m.Path))
}

// Append adds the message to dst.
func (m *ActorIdentity) Append(dst []byte) []byte {
	dst = appendPart(slices.Grow(dst, m.Size()), 1, m.HasCorrelationID, &m.CorrelationID)
	return appendBytes(dst, 2, m.Path)
}

// Decode reads the message from b, see the package comment.
func (m *ActorIdentity) Decode(b []byte) error {
	*m = ActorIdentity{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasCorrelationID = true
			if err := m.CorrelationID.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.Path = f.body
		}
	}
	return f.err("ActorIdentity")
}

// StatusSuccess (manifest STS of serializer 16). The status must be present for .NET, an empty Payload for
// null.
type StatusSuccess struct {
	Status    Payload
	HasStatus bool
}

// Size is the number of bytes that Append adds.
func (m *StatusSuccess) Size() int { return sizePart(m.HasStatus, &m.Status) }

// Append adds the message to dst.
func (m *StatusSuccess) Append(dst []byte) []byte {
	return appendPart(slices.Grow(dst, m.Size()), 1, m.HasStatus, &m.Status)
}

// Decode reads the message from b, see the package comment.
func (m *StatusSuccess) Decode(b []byte) error {
	*m = StatusSuccess{}
	return mergeParts(b, "StatusSuccess", &m.HasStatus, &m.Status)
}

// StatusFailure (manifest STF of serializer 16). Both parts must be present for .NET, even if empty.
type StatusFailure struct {
	Cause    ExceptionData
	State    Payload
	HasCause bool
	HasState bool
}

// Size is the number of bytes that Append adds.
func (m *StatusFailure) Size() int {
	return sizeCause(m.HasCause, &m.Cause) + sizePart(m.HasState, &m.State)
}

// Append adds the message to dst.
func (m *StatusFailure) Append(dst []byte) []byte {
	dst = appendCause(slices.Grow(dst, m.Size()), 1, m.HasCause, &m.Cause)
	return appendPart(dst, 2, m.HasState, &m.State)
}

// Decode reads the message from b, see the package comment.
func (m *StatusFailure) Decode(b []byte) error {
	m.Cause.reset()
	m.HasCause, m.State, m.HasState = false, Payload{}, false
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasCause = true
			if err := m.Cause.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.HasState = true
			if err := m.State.merge(f.body); err != nil {
				return err
			}
		}
	}
	if err := f.err("StatusFailure"); err != nil {
		return err
	}
	return m.Cause.checkInner()
}

// RemoteWatcherHeartbeatResponse (manifest RWHR of serializer 16) carries the UID of the system that
// answers, the one of its handshake. The heartbeat itself (RWHB) has no bytes.
type RemoteWatcherHeartbeatResponse struct {
	UID uint64
}

// Size is the number of bytes that Append adds.
func (m *RemoteWatcherHeartbeatResponse) Size() int { return sizeUint(m.UID) }

// Append adds the message to dst.
func (m *RemoteWatcherHeartbeatResponse) Append(dst []byte) []byte { return appendUint(dst, 1, m.UID) }

// Decode reads the message from b, see the package comment.
func (m *RemoteWatcherHeartbeatResponse) Decode(b []byte) error {
	m.UID = 0
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|vint {
			m.UID = f.num
		}
	}
	return f.err("RemoteWatcherHeartbeatResponse")
}

// mergeParts reads a message whose only field is a Payload with number 1.
func mergeParts(b []byte, message string, has *bool, m *Payload) error {
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|blob {
			*has = true
			if err := m.merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err(message)
}
