package subs

import (
	"sync/atomic"

	"github.com/actua/actua/ua"
)

// recycle gives everything back. Nobody holds the message any more.
func (m *Message) recycle() {
	p := m.pools
	if p == nil {
		return
	}
	p.messages.Return(m) // clear does the rest
}

// idle is where the pool notes that it has the message.
func (m *Message) idle() *atomic.Uint32 { return &m.pooled }

// clear gives the parts back and forgets them.
func (m *Message) clear() {
	if p := m.pools; p != nil {
		p.data.Return(m.data)
		p.events.Return(m.events)
		p.fields.Return(m.fields)
		p.bytes.Return(m.body)
	}
	m.pools, m.data, m.events, m.fields, m.diags, m.body = nil, nil, nil, nil, nil, nil
	m.status, m.kind = ua.StatusChangeNotification{}, 0
	m.SequenceNumber, m.PublishTime = 0, 0
	m.encoded.Store(false)
}
