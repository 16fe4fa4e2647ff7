package akkapb

import "slices"

// CommandType is the kind of a control message.
type CommandType int32

// The commands of AkkaControlMessage.
const (
	CommandNone                     CommandType = 0
	CommandAssociate                CommandType = 1
	CommandDisassociate             CommandType = 2
	CommandHeartbeat                CommandType = 3
	CommandDisassociateShuttingDown CommandType = 4
	CommandDisassociateQuarantined  CommandType = 5
)

// AkkaProtocolMessage is what a frame holds.
type AkkaProtocolMessage struct {
	Payload        []byte // an AckAndEnvelopeContainer
	Instruction    []byte // an AkkaControlMessage, undecoded
	HasInstruction bool
}

// Size is the number of bytes that Append adds.
func (m *AkkaProtocolMessage) Size() int {
	n := sizeBytes(len(m.Payload))
	if m.HasInstruction {
		n += sizeMessage(len(m.Instruction))
	}
	return n
}

// Append adds the message to dst.
func (m *AkkaProtocolMessage) Append(dst []byte) []byte {
	dst = appendBytes(slices.Grow(dst, m.Size()), 1, m.Payload)
	if m.HasInstruction {
		dst = append(appendHead(dst, 2, len(m.Instruction)), m.Instruction...)
	}
	return dst
}

// Decode reads the message from b, see the package comment. It does not look into the two parts.
func (m *AkkaProtocolMessage) Decode(b []byte) error {
	*m = AkkaProtocolMessage{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.Payload = f.body
		case 2<<3 | blob:
			m.HasInstruction = true
			m.Instruction = joined(m.Instruction, f.body)
		}
	}
	return f.err("AkkaProtocolMessage")
}

// AkkaControlMessage is a message of the protocol itself.
type AkkaControlMessage struct {
	Command      CommandType
	Handshake    AkkaHandshakeInfo
	HasHandshake bool
}

// Size is the number of bytes that Append adds.
func (m *AkkaControlMessage) Size() int {
	n := sizeInt(int32(m.Command))
	if m.HasHandshake {
		n += sizeMessage(m.Handshake.Size())
	}
	return n
}

// Append adds the message to dst.
func (m *AkkaControlMessage) Append(dst []byte) []byte {
	dst = appendInt(slices.Grow(dst, m.Size()), 1, int32(m.Command))
	if m.HasHandshake {
		dst = m.Handshake.Append(appendHead(dst, 2, m.Handshake.Size()))
	}
	return dst
}

// Decode reads the message from b, see the package comment.
func (m *AkkaControlMessage) Decode(b []byte) error {
	*m = AkkaControlMessage{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | vint:
			m.Command = CommandType(f.num)
		case 2<<3 | blob:
			m.HasHandshake = true
			if err := m.Handshake.merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("AkkaControlMessage")
}

// AkkaHandshakeInfo introduces a node. The cookie of the .proto file is not used by anybody.
type AkkaHandshakeInfo struct {
	Origin    AddressData // protocol without "akka."
	HasOrigin bool
	UID       uint64 // .NET narrows it to a signed 32-bit number: compare as int32
}

// Size is the number of bytes that Append adds.
func (m *AkkaHandshakeInfo) Size() int {
	n := sizeFixed(m.UID)
	if m.HasOrigin {
		n += sizeMessage(m.Origin.Size())
	}
	return n
}

// Append adds the message to dst.
func (m *AkkaHandshakeInfo) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	if m.HasOrigin {
		dst = m.Origin.Append(appendHead(dst, 1, m.Origin.Size()))
	}
	return appendFixed(dst, 2, m.UID)
}

// Decode reads the message from b, see the package comment.
func (m *AkkaHandshakeInfo) Decode(b []byte) error {
	*m = AkkaHandshakeInfo{}
	return m.merge(b)
}

func (m *AkkaHandshakeInfo) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasOrigin = true
			if err := m.Origin.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | fix64:
			m.UID = f.num
		}
	}
	return f.err("AkkaHandshakeInfo")
}

// DecodePDU reads the body of a frame: either it is a payload, the bytes of an AckAndEnvelopeContainer,
// or, when payload is nil, a control message, which is then in control. A control message wins. Neither of
// the two, an unknown command and an ASSOCIATE without handshakeInfo or origin are errors; Akka.NET ends
// the association after each. control must not be nil and is left alone by a payload.
func DecodePDU(body []byte, control *AkkaControlMessage) (payload []byte, err error) {
	var m AkkaProtocolMessage
	if err := m.Decode(body); err != nil {
		return nil, err
	}
	if !m.HasInstruction {
		if len(m.Payload) == 0 {
			return nil, &DecodeError{Message: "AkkaProtocolMessage", Reason: badNoPDU}
		}
		return m.Payload, nil
	}
	if err := control.Decode(m.Instruction); err != nil {
		return nil, err
	}
	switch c := control.Command; {
	case c <= CommandNone || c > CommandDisassociateQuarantined:
		return nil, &DecodeError{Message: "AkkaControlMessage", Field: 1, Reason: badCommand}
	case c == CommandAssociate && (!control.HasHandshake || !control.Handshake.HasOrigin):
		return nil, &DecodeError{Message: "AkkaControlMessage", Field: 2, Reason: badAssociate}
	}
	return nil, nil
}
