package uaclient

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
)

// What the server tells is decoded into slices of the process's pools, and they are given back when the
// callback has returned. So a handler copies what it keeps; builds with the race detector or with
// -tags leasecheck overwrite what was given back.

// message is a notification message with what was rented for it.
type message struct {
	ua.NotificationMessage
	data   []*ua.DataChangeNotification // structures to use again
	events []*ua.EventNotificationList
	rented struct { // of data and events; the slices as they were rented
		data   [][]ua.MonitoredItemNotification
		events [][]ua.EventFieldList
	}
}

var (
	dataChangeEncoding = (*ua.DataChangeNotification)(nil).BinaryID().NodeID
	eventListEncoding  = (*ua.EventNotificationList)(nil).BinaryID().NodeID
)

// decode reads a NotificationMessage (Part 4, 7.26).
func (m *message) decode(r *uabin.Reader) {
	m.SequenceNumber = r.Uint32()
	m.PublishTime.DecodeBinary(r)
	m.NotificationData = uabin.Slice(r, m.NotificationData, 3)
	for i := range m.NotificationData {
		e := &m.NotificationData[i]
		*e = ua.ExtensionObject{}
		if r.OK() {
			m.rent(r, e)
		}
		e.DecodeBinary(r)
	}
}

// rent looks what comes, and gives it memory of the pools.
func (m *message) rent(r *uabin.Reader, e *ua.ExtensionObject) {
	rest := r.Rest()
	// The numeric identifiers of both encodings fit the four byte form of a NodeId (Part 6, 5.2.2.9):
	// form, namespace, identifier; encoding 1, length of the body, number of elements.
	if len(rest) < 13 || rest[0] != 1 || rest[1] != 0 || rest[4] != 1 {
		return
	}
	n := int(int32(uint32(rest[9]) | uint32(rest[10])<<8 | uint32(rest[11])<<16 | uint32(rest[12])<<24))
	switch id := uint32(rest[2]) | uint32(rest[3])<<8; id {
	case uaid.DataChangeNotification_Encoding_DefaultBinary:
		if n <= 0 || n > (len(rest)-13)/5 {
			return
		}
		i := len(m.rented.data)
		if i == len(m.data) {
			m.data = append(m.data, new(ua.DataChangeNotification))
		}
		s := subs.SharedPools().RentData(n)
		m.rented.data = append(m.rented.data, s)
		m.data[i].MonitoredItems = s[:0]
		e.TypeID, e.Value = dataChangeEncoding, m.data[i]
	case uaid.EventNotificationList_Encoding_DefaultBinary:
		if n <= 0 || n > (len(rest)-13)/8 {
			return
		}
		i := len(m.rented.events)
		if i == len(m.events) {
			m.events = append(m.events, new(ua.EventNotificationList))
		}
		s := subs.SharedPools().RentEvents(n)
		m.rented.events = append(m.rented.events, s)
		m.events[i].Events = s[:0]
		e.TypeID, e.Value = eventListEncoding, m.events[i]
	}
}

// release gives back what was rented. The message is empty then.
func (m *message) release() {
	clear(m.NotificationData)
	m.NotificationData = m.NotificationData[:0]
	p := subs.SharedPools()
	for i, s := range m.rented.data {
		m.data[i].MonitoredItems = nil
		p.ReturnData(s)
	}
	for i, s := range m.rented.events {
		m.events[i].Events = nil
		p.ReturnEvents(s)
	}
	clear(m.rented.data)
	clear(m.rented.events)
	m.rented.data, m.rented.events = m.rented.data[:0], m.rented.events[:0]
}

// ends is the status with which the server ends the subscription by this message: Good if it does not.
// A subscription that had no sign of its client for its lifetime is BadTimeout, one that went to another
// session GoodSubscriptionTransferred (Part 4, 5.14.1 and 7.25.4).
func (m *message) ends() ua.StatusCode {
	for i := range m.NotificationData {
		if c, ok := m.NotificationData[i].Value.(*ua.StatusChangeNotification); ok && final(c.Status) {
			return c.Status
		}
	}
	return ua.Good
}

func final(s ua.StatusCode) bool {
	return s.Base() == ua.BadTimeout || s.Base() == ua.GoodSubscriptionTransferred
}

// published is a Publish request with its answer.
type published struct {
	request    ua.PublishRequest
	response   publishResponse
	generation uint64 // of the publisher when it was sent
	sent       int64  // monotonic ns
}

// publishResponse is a ua.PublishResponse whose message is decoded into rented memory.
type publishResponse struct {
	ua.PublishResponse
	message message
}

// DecodeBinary implements ua.Structure: the fields of PublishResponse in their order (Part 4, 5.14.5.2).
func (p *publishResponse) DecodeBinary(r *uabin.Reader) {
	p.ResponseHeader.DecodeBinary(r)
	p.SubscriptionID = r.Uint32()
	p.AvailableSequenceNumbers = uabin.Slice(r, p.AvailableSequenceNumbers, 4)
	for i := range p.AvailableSequenceNumbers {
		p.AvailableSequenceNumbers[i] = r.Uint32()
	}
	p.MoreNotifications = r.Bool()
	p.message.decode(r)
	p.Results = uabin.Slice(r, p.Results, 4)
	for i := range p.Results {
		p.Results[i] = ua.StatusCode(r.Uint32())
	}
	p.DiagnosticInfos = uabin.Slice(r, p.DiagnosticInfos, 1)
	for i := range p.DiagnosticInfos {
		p.DiagnosticInfos[i].DecodeBinary(r)
	}
}

// republishResponse is to ua.RepublishResponse what publishResponse is to ua.PublishResponse.
type republishResponse struct {
	ua.RepublishResponse
	message message
}

// DecodeBinary implements ua.Structure.
func (p *republishResponse) DecodeBinary(r *uabin.Reader) {
	p.ResponseHeader.DecodeBinary(r)
	p.message.decode(r)
}
