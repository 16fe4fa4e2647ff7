package uaserver

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
)

// countingChannel counts the answers to each request.
type countingChannel struct {
	*fakeChannel
	mu      sync.Mutex
	answers map[uint32]int
	subs    []uint32 // ids that the server gave
	items   []uint32
	numbers []uint32
}

func (c *countingChannel) Send(id uint32, m ua.Structure) error {
	m.AppendBinary(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[id]++
	switch p := m.(type) {
	case *ua.CreateSubscriptionResponse:
		c.subs = append(c.subs, p.SubscriptionID)
	case *ua.CreateMonitoredItemsResponse:
		for _, r := range p.Results {
			c.items = append(c.items, r.MonitoredItemID)
		}
	case *publishResponse:
		c.numbers = append(c.numbers, p.message.SequenceNumber)
	}
	return nil
}

func (c *countingChannel) SendLater(id uint32, m ua.Structure) error { return c.Send(id, m) }

// dice makes requests of bytes.
type dice struct{ data []byte }

func (d *dice) byte() byte {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

func (d *dice) uint32() uint32 {
	var b [4]byte
	for i := range b {
		b[i] = d.byte()
	}
	return binary.LittleEndian.Uint32(b[:])
}

// float is one that clients send, or any.
func (d *dice) float() float64 {
	list := []float64{0, -1, 10, 50, 100, 1000, 1e9, math.NaN(), math.Inf(1), math.Inf(-1)}
	if i := int(d.byte()); i < 250 {
		return list[i%len(list)]
	}
	return math.Float64frombits(uint64(d.uint32())<<32 | uint64(d.uint32()))
}

// id is one of those that there are, or any.
func (d *dice) id(known []uint32) uint32 {
	if i := int(d.byte()); i < 240 && len(known) > 0 {
		return known[i%len(known)]
	}
	return d.uint32()
}

func (d *dice) ids(known []uint32) (list []uint32) {
	for range d.byte() % 5 {
		list = append(list, d.id(known))
	}
	return list
}

func (d *dice) node(s *testSpace) ua.NodeID {
	switch b := d.byte(); {
	case b < 200:
		return s.id(uint32(b%8 + 1))
	case b < 220:
		return s.id(2000 + uint32(b%2)) // blocks, panics
	case b < 230:
		return ua.NodeID{}
	default:
		return ua.NewNodeID(uint16(b%4), d.uint32())
	}
}

func (d *dice) parameters() (p ua.MonitoringParameters) {
	p.ClientHandle, p.SamplingInterval, p.QueueSize, p.DiscardOldest = d.uint32(), d.float(), d.uint32()%100, d.byte()%2 == 0
	switch d.byte() % 6 {
	case 0:
		p.Filter = ua.NewExtensionObject(&ua.DataChangeFilter{Trigger: ua.DataChangeTrigger(d.byte() % 4), DeadbandType: uint32(d.byte() % 4), DeadbandValue: d.float()})
	case 1:
		p.Filter = ua.NewExtensionObject(&ua.EventFilter{SelectClauses: make([]ua.SimpleAttributeOperand, d.byte()%3)})
	}
	return p
}

// request makes the next request; nil ends.
func (d *dice) request(s *testSpace, c *countingChannel) (*ua.RequestHeader, ua.Structure) {
	switch d.byte() % 14 {
	case 0, 1:
		q := &ua.PublishRequest{}
		q.RequestHeader.TimeoutHint = uint32(d.byte()) * 10
		for range d.byte() % 4 {
			q.SubscriptionAcknowledgements = append(q.SubscriptionAcknowledgements, ua.SubscriptionAcknowledgement{SubscriptionID: d.id(c.subs), SequenceNumber: d.id(c.numbers)})
		}
		return &q.RequestHeader, q
	case 2:
		q := &ua.CreateSubscriptionRequest{RequestedPublishingInterval: d.float(), RequestedLifetimeCount: d.uint32(), RequestedMaxKeepAliveCount: uint32(d.byte()),
			MaxNotificationsPerPublish: uint32(d.byte()), PublishingEnabled: d.byte()%4 != 0, Priority: d.byte()}
		return &q.RequestHeader, q
	case 3, 4:
		q := &ua.CreateMonitoredItemsRequest{SubscriptionID: d.id(c.subs), TimestampsToReturn: ua.TimestampsToReturn(d.byte() % 5)}
		for range d.byte() % 5 {
			q.ItemsToCreate = append(q.ItemsToCreate, ua.MonitoredItemCreateRequest{
				ItemToMonitor:  ua.ReadValueID{NodeID: d.node(s), AttributeID: []uint32{13, 13, 13, 12, 4, 99}[d.byte()%6], IndexRange: []string{"", "", "0", "1:2", "x"}[d.byte()%5]},
				MonitoringMode: ua.MonitoringMode(d.byte() % 4), RequestedParameters: d.parameters()})
		}
		return &q.RequestHeader, q
	case 5:
		q := &ua.ModifyMonitoredItemsRequest{SubscriptionID: d.id(c.subs), TimestampsToReturn: ua.TimestampsToReturn(d.byte() % 5)}
		for range d.byte() % 5 {
			q.ItemsToModify = append(q.ItemsToModify, ua.MonitoredItemModifyRequest{MonitoredItemID: d.id(c.items), RequestedParameters: d.parameters()})
		}
		return &q.RequestHeader, q
	case 6:
		q := &ua.SetMonitoringModeRequest{SubscriptionID: d.id(c.subs), MonitoringMode: ua.MonitoringMode(d.byte() % 4), MonitoredItemIDs: d.ids(c.items)}
		return &q.RequestHeader, q
	case 7:
		q := &ua.SetTriggeringRequest{SubscriptionID: d.id(c.subs), TriggeringItemID: d.id(c.items), LinksToAdd: d.ids(c.items), LinksToRemove: d.ids(c.items)}
		return &q.RequestHeader, q
	case 8:
		q := &ua.DeleteMonitoredItemsRequest{SubscriptionID: d.id(c.subs), MonitoredItemIDs: d.ids(c.items)}
		return &q.RequestHeader, q
	case 9:
		q := &ua.ModifySubscriptionRequest{SubscriptionID: d.id(c.subs), RequestedPublishingInterval: d.float(), RequestedLifetimeCount: d.uint32(), RequestedMaxKeepAliveCount: uint32(d.byte())}
		return &q.RequestHeader, q
	case 10:
		q := &ua.SetPublishingModeRequest{SubscriptionIDs: d.ids(c.subs), PublishingEnabled: d.byte()%2 == 0}
		return &q.RequestHeader, q
	case 11:
		q := &ua.DeleteSubscriptionsRequest{SubscriptionIDs: d.ids(c.subs)}
		return &q.RequestHeader, q
	case 12:
		q := &ua.RepublishRequest{SubscriptionID: d.id(c.subs), RetransmitSequenceNumber: d.id(c.numbers)}
		return &q.RequestHeader, q
	default:
		q := &ua.TransferSubscriptionsRequest{SubscriptionIDs: d.ids(c.subs), SendInitialValues: d.byte()%2 == 0}
		return &q.RequestHeader, q
	}
}

// panics is a log that remembers lines about panics of the server itself; those of testSpace are meant.
type panics struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (p *panics) Enabled(context.Context, slog.Level) bool { return true }
func (p *panics) Handle(_ context.Context, r slog.Record) error {
	meant := false
	r.Attrs(func(a slog.Attr) bool {
		meant = meant || strings.Contains(a.Value.String(), "a bug in a callback")
		return true
	})
	if strings.Contains(r.Message, "panic") && !meant {
		p.mu.Lock()
		p.lines = append(p.lines, r.Message)
		r.Attrs(func(a slog.Attr) bool { p.lines = append(p.lines, a.String()); return true })
		p.mu.Unlock()
	}
	return nil
}
func (p *panics) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p *panics) WithGroup(string) slog.Handler      { return p }

// FuzzSubscriptions lets a logged-in client send whatever requests for subscriptions, while time passes and
// values change: each has one answer in the end, and nothing is left behind.
func FuzzSubscriptions(f *testing.F) {
	f.Add([]byte("\x02\x04\x00\x00\x00\x00\x05\x00\x00\x01\x03\x00\x02\x04\x01\x00\x00\x02\x00\x00\x00\x00\x02\x05\x00\x00\x00\x05\x00\x00\x00\x00\x00\x01\x02\x03"))
	for i := range 14 {
		seed := make([]byte, 300)
		for j := range seed {
			seed[j] = byte(j*(2*i+1) + i*i)
		}
		f.Add(seed)
	}
	f.Fuzz(fuzzSubscriptions)
}

func fuzzSubscriptions(t *testing.T, data []byte) {
	log := &panics{}
	held := subs.SharedPools().Stats().Messages.Outstanding()
	s, space, clock := newTestServer(t, func(c *Config) { c.Logger = slog.New(log) })
	close(space.release)
	ch := &countingChannel{fakeChannel: newFakeChannel(), answers: map[uint32]int{}}
	c := s.fakeClient(t, ch.fakeChannel).logIn()
	c.conn.channel = ch
	d, sent := &dice{data}, []uint32{}
	ask := func(h *ua.RequestHeader, q ua.Structure) {
		sent = append(sent, c.send(h, q))
	}
	first := ua.CreateSubscriptionRequest{RequestedPublishingInterval: 100, PublishingEnabled: true}
	ask(&first.RequestHeader, &first)
	for n := 0; len(d.data) > 0 && n < 200; n++ {
		ask(d.request(space, ch))
		for range d.byte() % 3 {
			clock.add(time.Duration(d.byte()) * time.Millisecond)
			space.values[1] = ua.Int32(int32(n))
			s.runDue()
		}
	}
	end := ua.CloseSessionRequest{DeleteSubscriptions: d.byte()%2 == 0}
	ask(&end.RequestHeader, &end)
	for range 10 { // orphans end at last
		clock.add(2 * time.Hour)
		s.runDue()
	}
	ch.mu.Lock()
	for _, id := range sent {
		if ch.answers[id] != 1 {
			t.Errorf("request %d of %d has %d answers", id, len(sent), ch.answers[id])
		}
	}
	ch.mu.Unlock()
	if st := s.PublishStats(); st.Subscriptions != 0 || st.MonitoredItems != 0 || st.Retained != 0 {
		t.Errorf("left behind: %+v", st)
	}
	if s.notifiers.used.Load() != 0 || len(s.notifiers.by) != 0 || s.sampler.wheel.Next() != maxDuration || s.room.budget.Used() != 0 {
		t.Errorf("left behind: %d notifiers, next sample %v, %d bytes of room", len(s.notifiers.by), s.sampler.wheel.Next(), s.room.budget.Used())
	}
	if n := subs.SharedPools().Stats().Messages.Outstanding(); n != held {
		t.Errorf("%d messages are held, %d before", n, held)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.lines) > 0 {
		t.Errorf("panic: %s", strings.Join(log.lines, "\n"))
	}
}
