package uaserver_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func field(names ...string) ua.SimpleAttributeOperand {
	op := ua.SimpleAttributeOperand{TypeDefinitionID: ua.ID(uaid.BaseEventType), AttributeID: uint32(ua.AttributeValue)}
	for _, n := range names {
		op.BrowsePath = append(op.BrowsePath, ua.QualifiedName{Name: n})
	}
	return op
}

// eventFilter selects Message, Severity and SourceName; with elements, those that match.
func eventFilter(where ...ua.ContentFilterElement) *ua.EventFilter {
	return &ua.EventFilter{SelectClauses: []ua.SimpleAttributeOperand{field("Message"), field("Severity"), field("SourceName"), field("EventType")},
		WhereClause: ua.ContentFilter{Elements: where}}
}

func literal(v ua.Variant) ua.ExtensionObject {
	return ua.NewExtensionObject(&ua.LiteralOperand{Value: v})
}

func atLeast(severity uint16) ua.ContentFilterElement {
	op := field("Severity")
	return ua.ContentFilterElement{FilterOperator: ua.FilterOperatorGreaterThanOrEqual,
		FilterOperands: []ua.ExtensionObject{ua.NewExtensionObject(&op), literal(ua.UInt16(severity))}}
}

func events(id ua.NodeID, handle uint32, f *ua.EventFilter, change ...func(*ua.MonitoredItemCreateRequest)) ua.MonitoredItemCreateRequest {
	return item(id, handle, append([]func(*ua.MonitoredItemCreateRequest){attribute(ua.AttributeEventNotifier), withFilter(f)}, change...)...)
}

func emitted(t *testing.T, what string, got []ua.EventFieldList, want ...string) {
	t.Helper()
	list := []string{}
	for _, e := range got {
		list = append(list, fmt.Sprint(e.ClientHandle, " ", e.EventFields[0].Any(), " ", e.EventFields[1].Any()))
	}
	if fmt.Sprint(list) != fmt.Sprint(want) {
		t.Errorf("%s: got %q, want %q", what, list, want)
	}
}

func TestEvents(t *testing.T) {
	w := newWorld(t, nil)
	notifier := memspace.WithEventNotifier(ua.EventNotifierTypeSubscribeToEvents)
	area := w.space.AddObject(w.space.Objects(), "Area", notifier)
	line := w.space.AddObject(area, "Line", notifier, memspace.WithReference(ua.ID(uaid.HasNotifier)))
	pump := w.space.AddObject(line, "Pump", memspace.WithReference(ua.ID(uaid.HasEventSource)))
	apart := w.space.AddObject(w.space.Objects(), "Apart", notifier)
	for _, n := range []*memspace.Node{area, line, pump, apart} {
		if n.Err() != nil {
			t.Fatal(n.Err())
		}
	}
	c := w.client()
	sub := c.subscribe()
	if id := w.s.Emit(uaserver.Event{Source: pump.ID(), Message: ua.Text("nobody listens")}); len(id) != 16 {
		t.Errorf("EventId %x", id)
	}
	c.monitor(sub, events(ua.ID(uaid.Server), 1, eventFilter()), events(area.ID(), 2, eventFilter(atLeast(500))),
		events(line.ID(), 3, eventFilter()), events(apart.ID(), 4, eventFilter()))
	c.next()
	emit := func(source ua.NodeID, message string, severity uint16) {
		w.s.Emit(uaserver.Event{Source: source, SourceName: "S", Message: ua.Text(message), Severity: severity})
	}
	emit(pump.ID(), "low", 100)
	emit(pump.ID(), "high", 500)
	emit(area.ID(), "area", 900)
	emit(apart.ID(), "apart", 1)
	emit(ua.NodeID{}, "server", 0)
	byHandle := map[uint32][]string{}
	for _, e := range eventsOf(c.next()) {
		byHandle[e.ClientHandle] = append(byHandle[e.ClientHandle], e.EventFields[0].Any().(ua.LocalizedText).Text)
	}
	for handle, want := range map[uint32][]string{1: {"low", "high", "area", "apart", "server"}, 2: {"high", "area"}, 3: {"low", "high"}, 4: {"apart"}} {
		if fmt.Sprint(byHandle[handle]) != fmt.Sprint(want) {
			t.Errorf("item %d: %q, want %q", handle, byHandle[handle], want)
		}
	}
	c.quiet(300 * time.Millisecond)
}

func TestEventOverflowAndModes(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	sub := c.subscribe()
	size := func(n uint32, oldest bool) func(*ua.MonitoredItemCreateRequest) {
		return func(r *ua.MonitoredItemCreateRequest) {
			r.RequestedParameters.QueueSize, r.RequestedParameters.DiscardOldest = n, oldest
		}
	}
	ids := c.monitor(sub, events(ua.ID(uaid.Server), 1, eventFilter(), size(2, true)), events(ua.ID(uaid.Server), 2, eventFilter(), size(2, false)))
	c.next()
	for i := range 4 {
		w.s.Emit(uaserver.Event{Message: ua.Text(fmt.Sprint(i))})
	}
	order := map[uint32][]string{}
	for _, e := range eventsOf(c.next()) {
		text := e.EventFields[0].Any().(ua.LocalizedText).Text
		if e.EventFields[3].NodeID() == ua.ID(uaid.EventQueueOverflowEventType) {
			text = "overflow"
		}
		order[e.ClientHandle] = append(order[e.ClientHandle], text)
	}
	if fmt.Sprint(order[1]) != "[overflow 2 3]" || fmt.Sprint(order[2]) != "[0 1 overflow]" {
		t.Errorf("overflow: %v", order)
	}
	wantStatuses(t, "disable", c.setMode(sub, ua.MonitoringModeDisabled, ids...), ua.Good, ua.Good)
	w.s.Emit(uaserver.Event{Message: ua.Text("missed")})
	wantStatuses(t, "enable", c.setMode(sub, ua.MonitoringModeReporting, ids...), ua.Good, ua.Good)
	w.s.Emit(uaserver.Event{Message: ua.Text("seen"), Severity: 5})
	emitted(t, "after Disabled", eventsOf(c.next()), "1 seen 5", "2 seen 5")
	m := c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0], RequestedParameters: ua.MonitoringParameters{ClientHandle: 9, Filter: ua.NewExtensionObject(eventFilter(atLeast(10)))}},
		ua.MonitoredItemModifyRequest{MonitoredItemID: ids[1], RequestedParameters: ua.MonitoringParameters{Filter: ua.NewExtensionObject(deadband(0, 0))}})
	if m[0].StatusCode != ua.Good || m[0].RevisedQueueSize != 1000 || m[1].StatusCode != ua.BadFilterNotAllowed {
		t.Errorf("modify: %+v", m)
	}
	wantStatuses(t, "one off", c.setMode(sub, ua.MonitoringModeDisabled, ids[1]), ua.Good)
	w.s.Emit(uaserver.Event{Message: ua.Text("low"), Severity: 9})
	w.s.Emit(uaserver.Event{Message: ua.Text("high"), Severity: 10})
	emitted(t, "the new filter", eventsOf(c.next()), "9 high 10")
}

func TestEventFilterResults(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	sub := c.subscribe()
	wrong := eventFilter()
	wrong.SelectClauses[1] = field("NoSuchField")
	wrong.SelectClauses[2].AttributeID = 99
	r, err := c.tryMonitor(sub, events(ua.ID(uaid.Server), 1, wrong), events(ua.ID(uaid.Server), 2, eventFilter(ua.ContentFilterElement{FilterOperator: 77})),
		events(ua.ID(uaid.Server), 3, &ua.EventFilter{}))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := r[0].FilterResult.Value.(*ua.EventFilterResult)
	if r[0].StatusCode != ua.Good || f == nil || len(f.SelectClauseResults) != 4 {
		t.Fatalf("wrong select clauses: %+v", r[0])
	}
	if s := f.SelectClauseResults; s[0] != ua.Good || !s[1].IsBad() || !s[2].IsBad() || s[3] != ua.Good {
		t.Errorf("results of clauses: %v", s)
	}
	f, _ = r[1].FilterResult.Value.(*ua.EventFilterResult)
	if !r[1].StatusCode.IsBad() || f == nil || len(f.WhereClauseResult.ElementResults) != 1 || !f.WhereClauseResult.ElementResults[0].StatusCode.IsBad() {
		t.Errorf("wrong where clause: %+v", r[1])
	}
	if !r[2].StatusCode.IsBad() {
		t.Errorf("no select clauses: %+v", r[2])
	}
	w.s.Emit(uaserver.Event{Message: ua.Text("m"), SourceName: "x"})
	got := eventsOf(c.next())
	if len(got) != 1 || got[0].EventFields[0].IsNull() || !got[0].EventFields[1].IsNull() {
		t.Errorf("event: %v", got)
	}
}

// Many goroutines emit at a time: no event is lost, none twice, filters see them whole.
func TestEventsFromManyGoroutines(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, events(ua.ID(uaid.Server), 1, eventFilter(atLeast(500)), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 10_000 }))
	c.next()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				w.s.Emit(uaserver.Event{Message: ua.Text(fmt.Sprint(g, " ", i)), Severity: uint16(450 + i)})
			}
		})
	}
	wg.Wait()
	seen := map[string]int{}
	for range 3 {
		for _, e := range eventsOf(c.next()) {
			seen[e.EventFields[0].Any().(ua.LocalizedText).Text]++
			if e.EventFields[1].Uint() < 500 {
				t.Errorf("let through: %v", e.EventFields)
			}
		}
	}
	if len(seen) != 8*50 {
		t.Errorf("%d different events, want %d", len(seen), 8*50)
	}
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%q came %d times", text, n)
		}
	}
}
