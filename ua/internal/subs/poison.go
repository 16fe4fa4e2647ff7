package subs

import (
	"bytes"

	"github.com/actua/actua/ua"
)

// What recycled memory is overwritten with in checking builds (lease.Checking).
const (
	PoisonNumber = 999  // sequence numbers, client handles and values
	PoisonByte   = 0xDB // encoded bytes
)

var (
	poisonedData  = []ua.MonitoredItemNotification{{ClientHandle: PoisonNumber, Value: ua.DataValue{Value: ua.Int32(PoisonNumber), Status: ua.BadInternalError}}}
	poisonedField = ua.Int32(PoisonNumber)
	poisonedBody  = bytes.Repeat([]byte{PoisonByte}, 64)
)

func poisonData(s []ua.MonitoredItemNotification) {
	for i := range s {
		s[i] = poisonedData[0]
	}
}

func poisonEvents(s []ua.EventFieldList) {
	for i := range s {
		s[i] = ua.EventFieldList{ClientHandle: PoisonNumber, EventFields: []ua.Variant{poisonedField}}
	}
}

func poisonFields(s []ua.Variant) {
	for i := range s {
		s[i] = poisonedField
	}
}

func poisonBytes(s []byte) {
	for i := range s {
		s[i] = PoisonByte
	}
}

// poison makes a message in the pool look like one of PoisonNumber.
func (m *Message) poison() {
	m.SequenceNumber, m.PublishTime = PoisonNumber, PoisonNumber
	m.data, m.kind = poisonedData, hasData
	m.body = poisonedBody
	m.encoded.Store(true)
}
