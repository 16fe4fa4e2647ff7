package subs

import (
	"encoding/binary"
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// An ExtensionObject of namespace 0 begins with the id of its binary encoding, in the form of four bytes
// (Part 6, 5.2.2.9), the byte that says that there is a binary body, and the length of that.
const (
	dataChangeBinary   = 811
	eventListBinary    = 916
	statusChangeBinary = 820
)

// AppendBinary appends the NotificationMessage (Part 4, 7.21) in the binary form. It is made by the
// first call, of whatever goroutine, and kept in a buffer of the pools; further calls copy it. It
// allocates nothing when the pools have such a buffer and b has the room.
func (m *Message) AppendBinary(b []byte) []byte {
	if m.encoded.Load() {
		return append(b, m.body...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.encoded.Load() {
		return append(b, m.body...)
	}
	at := len(b)
	b = m.encode(b)
	m.body = rent(m.pools, len(b)-at, (*Pools).bytePool)
	copy(m.body, b[at:])
	m.encoded.Store(true)
	return b
}

// encode appends the binary form.
func (m *Message) encode(b []byte) []byte {
	b = uabin.AppendUint32(b, m.SequenceNumber)
	b = m.PublishTime.AppendBinary(b)
	parts := 0
	for k := m.kind; k != 0; k &= k - 1 {
		parts++
	}
	b = uabin.AppendLen(b, parts, false)
	if m.kind&hasEvents != 0 {
		at := len(b) + objectHeader
		b = appendObjectHeader(b, eventListBinary)
		b = uabin.AppendLen(b, len(m.events), m.events == nil)
		for i := range m.events {
			b = m.events[i].AppendBinary(b)
		}
		putLength(b, at)
	}
	if m.kind&hasData != 0 {
		at := len(b) + objectHeader
		b = appendObjectHeader(b, dataChangeBinary)
		b = uabin.AppendLen(b, len(m.data), m.data == nil)
		for i := range m.data {
			n := &m.data[i]
			b = uabin.AppendUint32(b, n.ClientHandle)
			b = n.Value.AppendBinary(b)
		}
		b = uabin.AppendLen(b, len(m.diags), m.diags == nil)
		for i := range m.diags {
			b = m.diags[i].AppendBinary(b)
		}
		putLength(b, at)
	}
	if m.kind&hasStatus != 0 {
		at := len(b) + objectHeader
		b = appendObjectHeader(b, statusChangeBinary)
		b = m.status.AppendBinary(b)
		putLength(b, at)
	}
	return b
}

const objectHeader = 9

func appendObjectHeader(b []byte, id uint16) []byte {
	return append(b, 1, 0, byte(id), byte(id>>8), byte(ua.BodyBinary), 0, 0, 0, 0)
}

// putLength fills in the length of a body that begins at and has just been appended.
func putLength(b []byte, at int) {
	binary.LittleEndian.PutUint32(b[at-4:], uint32(len(b)-at))
}

// NotificationMessage fills v with a view of the message, for other encodings and for those who look
// at a response before it leaves: it shares all memory with the message and is valid as long as the caller
// holds that. What v had before is used again where it fits, so that a v that is kept for many
// messages costs no allocation.
func (m *Message) NotificationMessage(v *ua.NotificationMessage) {
	v.SequenceNumber, v.PublishTime = m.SequenceNumber, m.PublishTime
	if v.NotificationData == nil {
		v.NotificationData = make([]ua.ExtensionObject, 0, 2)
	}
	parts := v.NotificationData[:0]
	if m.kind&hasEvents != 0 {
		var list *ua.EventNotificationList
		parts, list = part[ua.EventNotificationList](parts, eventListBinary)
		list.Events = m.Events()
	}
	if m.kind&hasData != 0 {
		var list *ua.DataChangeNotification
		parts, list = part[ua.DataChangeNotification](parts, dataChangeBinary)
		list.MonitoredItems, list.DiagnosticInfos = m.Data(), m.diags
	}
	if m.kind&hasStatus != 0 {
		var s *ua.StatusChangeNotification
		parts, s = part[ua.StatusChangeNotification](parts, statusChangeBinary)
		*s = m.status
	}
	v.NotificationData = parts
}

// part appends an ExtensionObject with a structure of type T, the one that was in that place if it was
// of the type.
func part[T any, P interface {
	*T
	ua.Structure
}](parts []ua.ExtensionObject, id uint32) ([]ua.ExtensionObject, *T) {
	n := len(parts)
	if n < cap(parts) {
		parts = parts[:n+1]
		if old, ok := parts[n].Value.(P); ok {
			parts[n] = ua.ExtensionObject{TypeID: ua.NewNodeID(0, id), Value: old}
			return parts, old
		}
	} else {
		parts = append(parts, ua.ExtensionObject{})
	}
	s := new(T)
	parts[n] = ua.ExtensionObject{TypeID: ua.NewNodeID(0, id), Value: P(s)}
	return parts, s
}

// ForgetView takes everything of a message out of v but keeps its structures for the next view. The
// owner of v calls it before it releases the message.
func ForgetView(v *ua.NotificationMessage) {
	parts := v.NotificationData[:cap(v.NotificationData)]
	for i := range parts {
		switch s := parts[i].Value.(type) {
		case *ua.EventNotificationList:
			s.Events = nil
		case *ua.DataChangeNotification:
			s.MonitoredItems, s.DiagnosticInfos = nil, nil
		}
	}
	v.NotificationData = parts[:0]
}

// DecodeMessage makes a message of its binary form, as a store on disk or another machine keeps it. Nothing of
// it comes from or goes to a pool; the caller has its one raw reference. Other parts than
// AppendBinary makes are BadDecodingError, as is what is left over.
func DecodeMessage(b []byte) (*Message, error) {
	r := uabin.NewReader(b)
	var v ua.NotificationMessage
	v.DecodeBinary(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if len(r.Rest()) != 0 {
		return nil, fmt.Errorf("%w: %d bytes behind a NotificationMessage", ua.BadDecodingError, len(r.Rest()))
	}
	m := RestoredMessage(v.SequenceNumber, v.PublishTime, nil, nil)
	for i := range v.NotificationData {
		var kind uint8
		switch s := v.NotificationData[i].Value.(type) {
		case *ua.EventNotificationList:
			kind, m.events = hasEvents, s.Events
		case *ua.DataChangeNotification:
			kind, m.data, m.diags = hasData, s.MonitoredItems, s.DiagnosticInfos
		case *ua.StatusChangeNotification:
			kind, m.status = hasStatus, *s
		}
		if kind <= m.kind { // 0, or not in the order in which messages are made
			return nil, fmt.Errorf("%w: notification %d of type %v does not belong there", ua.BadDecodingError, i, v.NotificationData[i].TypeID)
		}
		m.kind |= kind
	}
	return m, nil
}
