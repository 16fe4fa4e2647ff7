package uaserver_test

import (
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// badStructure is a structure of a user that panics when it is encoded.
type badStructure struct{ ua.Range }

func (*badStructure) AppendBinary([]byte) []byte { panic("a bug in a structure") }

// A structure that panics while a notification is encoded costs that message, not the publishing of others.
func TestEncodingPanicsInANotification(t *testing.T) {
	m := &ownItems{Space: memspace.New("urn:test:own")}
	w := newWorld(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{m} })
	w.space = m.Space
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c, d := w.client(), w.client()
	sub, other := c.subscribe(), d.subscribe()
	o := &ownItem{signals: true}
	m.next = []*ownItem{o}
	c.monitor(sub, item(v.ID(), 1))
	d.monitor(other, item(v.ID(), 2))
	wantValues(t, "first value of the other", changes(d.next()), 2, int32(0))
	o.mu.Lock()
	o.pending = append(o.pending, ua.DataValue{Value: ua.ExtensionObject{TypeID: ua.NewNodeID(2, 1), Value: &badStructure{}}.Variant()})
	o.mu.Unlock()
	o.signal()
	first, second := c.publish(), c.publish()
	w.pass(300 * time.Millisecond)
	if !c.Answered(first) {
		t.Fatal("the request is not answered")
	}
	_, err := c.answer(first)
	wantStatus(t, "a message that cannot be encoded", err, ua.BadEncodingError)
	set(t, v, ua.Int32(1))
	wantValues(t, "the other goes on", changes(d.next()), 2, int32(1))
	o.put(5)
	w.pass(300 * time.Millisecond)
	if !c.Answered(second) {
		t.Fatal("the session's publishing has stopped")
	}
	p, err := c.answer(second)
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, "it goes on itself", changes(p), 1, int32(5))
}

// panicking is a monitored item of a manager that panics wherever it can.
type panicking struct {
	*ownItem
	now bool
}

func (p *panicking) Pending(at time.Time) int {
	if p.now {
		panic("a bug in an item")
	}
	return p.ownItem.Pending(at)
}

func (p *panicking) SetMode(m ua.MonitoringMode) {
	if p.now {
		panic("a bug in an item")
	}
	p.ownItem.SetMode(m)
}

type panickingItems struct {
	*memspace.Space
	item *panicking
}

func (m *panickingItems) Monitor(ctx *uaserver.Context, item *uaserver.MonitorItem) {
	if m.item != nil {
		item.Item, m.item = m.item, nil
		return
	}
	m.Space.Monitor(ctx, item)
}

// An item of a manager that panics, with locks held, disturbs nobody else.
func TestCustomItemPanics(t *testing.T) {
	m := &panickingItems{Space: memspace.New("urn:test:own")}
	w := newWorld(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{m} })
	w.space = m.Space
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c := w.client()
	sub := c.subscribe()
	o := &panicking{ownItem: &ownItem{signals: true}}
	m.item = o
	ids := c.monitor(sub, item(v.ID(), 1), item(v.ID(), 2))
	wantValues(t, "first value of the other", changes(c.next()), 2, int32(0))
	o.now = true
	o.put(1)
	set(t, v, ua.Int32(1))
	done := make(chan bool)
	go func() {
		defer close(done)
		wantValues(t, "the other goes on", changes(c.next()), 2, int32(1))
		c.setMode(sub, ua.MonitoringModeSampling, ids[0])
		set(t, v, ua.Int32(2))
		wantValues(t, "and on", changes(c.next()), 2, int32(2))
		c.deleteSubscriptions(sub)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a lock is held for ever")
	}
}

// Structures that panic while two are compared, with locks held, count as different.
func TestComparingPanics(t *testing.T) {
	p := &pusher{Space: memspace.New("urn:test:feeds"), feeds: map[ua.NodeID]*uaserver.Feed{}}
	w := newWorld(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{p} })
	v := p.AddVariable(p.Objects(), "V", ua.Int32(1))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, attribute(ua.AttributeDescription)))
	c.next()
	f := p.feeds[v.ID()]
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 3 {
			func() {
				defer func() {
					if e := recover(); e != nil {
						t.Errorf("Push panics: %v", e)
					}
				}()
				f.Push(ua.DataValue{Value: ua.ExtensionObject{TypeID: ua.NewNodeID(2, 1), Value: &badStructure{}}.Variant()})
			}()
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("a lock is held for ever")
	}
}
