package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// watchFlags are those of `watch`.
type watchFlags struct {
	client             clientFlags
	interval, sampling time.Duration
	queue              uint32
	deadband           string
	events             bool
	count              uint64
	duration           time.Duration

	filter ua.Structure // of --deadband and --events
}

func (a *app) watchCommand() *cobra.Command {
	f := &watchFlags{}
	cmd := &cobra.Command{
		Use:   "watch URL NODE...",
		Short: "Show values as they change, and events",
		Example: "  actua watch localhost i=2258\n  actua watch localhost 'ns=2;s=Pump.Speed' 'ns=2;s=Pump.State' --interval 500ms --deadband 2%\n" +
			"  actua watch localhost i=2253 --events --for 1m --json",
		Args: exactly("URL", "NODE..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			nodes, err := parseNodes(args[1:])
			if err != nil {
				return err
			}
			if _, err := a.dial(cmd.Context(), cmd, &f.client, args[0]); err != nil {
				return err
			}
			defer a.hangUp()
			return a.watch(cmd.Context(), f, nodes)
		},
	}
	fs := cmd.Flags()
	fs.DurationVar(&f.interval, "interval", 100*time.Millisecond, "how often the server sends what has changed")
	fs.DurationVar(&f.sampling, "sampling", 0, "how often the server looks at the values, 0s for every change (default: --interval)")
	fs.Uint32Var(&f.queue, "queue", 0, "values that the server keeps from one sending to the next (default: 10, and 1000 events)")
	fs.StringVar(&f.deadband, "deadband", "", "least change of a number, such as 0.5, or 2% of its range")
	fs.BoolVar(&f.events, "events", false, "events of the nodes in place of values; those of i=2253 are all of the server")
	fs.Uint64Var(&f.count, "count", 0, "end after so many changes or events")
	fs.DurationVar(&f.duration, "for", 0, "end after this time")
	f.client.register(cmd)
	return cmd
}

// check checks the flags.
func (f *watchFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	const wantTime = "a time above zero is wanted, such as 500ms"
	switch {
	case f.interval <= 0:
		return usage("--interval %v: %s", f.interval, wantTime)
	case f.sampling < 0:
		return usage("--sampling %v: %s, or 0s for every change", f.sampling, wantTime)
	case given("queue") && f.queue == 0:
		return usage("--queue 0: a number above zero is wanted, such as 10")
	case given("count") && f.count == 0:
		return usage("--count 0: a number above zero is wanted, such as 10")
	case given("for") && f.duration <= 0:
		return usage("--for %v: %s", f.duration, wantTime)
	case f.events && given("deadband"):
		return usage("--deadband does not go with --events: events have no value")
	case f.events && given("sampling"):
		return usage("--sampling does not go with --events: events are never missed between two looks")
	}
	switch {
	case !given("sampling"):
		f.sampling = f.interval
	case f.sampling == 0:
		f.sampling = uaclient.FastestSampling
	}
	if f.events {
		clauses, err := uaclient.EventFields(ua.NodeID{}, eventFields[:]...)
		if err != nil {
			return err
		}
		f.filter = &ua.EventFilter{SelectClauses: clauses}
		if f.queue == 0 {
			f.queue = 1000
		}
		return nil
	}
	if f.queue == 0 {
		f.queue = 10
	}
	return f.parseDeadband()
}

// eventFields are the fields of an event that are shown (Part 5, 6.4.2), in the order of watcher.event.
var eventFields = [...]string{"EventType", "SourceNode", "SourceName", "Severity", "Message", "Time"}

func (f *watchFlags) parseDeadband() error {
	if f.deadband == "" {
		return nil
	}
	number, percent := strings.CutSuffix(f.deadband, "%")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return usage("--deadband %s: a number from 0 up is wanted, such as 0.5, or 2%% of the range", f.deadband)
	}
	kind := ua.DeadbandTypeAbsolute
	if percent {
		if kind = ua.DeadbandTypePercent; x > 100 {
			return usage("--deadband %s: at most 100%%", f.deadband)
		}
	}
	f.filter = &ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue, DeadbandType: uint32(kind), DeadbandValue: x}
	return nil
}

// watched is a node that is watched.
type watched struct {
	ref nodeRef
	id  ua.NodeID
}

// watcher prints what a subscription says. Its callbacks run one at a time.
type watcher struct {
	a      *app
	ctx    context.Context
	client *uaclient.Client
	flags  *watchFlags
	width  int             // of the column of nodes; 0: there is no such column
	most   uint64          // changes to print; 0: no limit
	finish func(err error) // ends the watching, once

	mu    sync.Mutex // orders the output and guards what follows
	bad   bool
	shown uint64
	over  bool
	types map[ua.NodeID]string // names of event types
}

func (a *app) watch(ctx context.Context, f *watchFlags, nodes []nodeRef) error {
	done := make(chan error, 1)
	w := &watcher{a: a, ctx: ctx, client: a.client, flags: f, most: f.count, types: map[ua.NodeID]string{}}
	w.finish = func(err error) {
		select {
		case done <- err:
		default:
		}
	}
	items, refused, err := w.find(f, nodes)
	if err != nil || len(items) == 0 {
		return err
	}
	s, err := a.client.Subscribe(ctx, uaclient.SubscriptionConfig{
		Interval: f.interval, OnData: w.data, OnEvents: w.events, OnStatus: w.status,
		KeepAliveCount: uint32(min(max(5*time.Second/f.interval, 1), 1000)), // a sign of life every five seconds
	})
	if err != nil {
		return err
	}
	// Closing does not depend on the context, which may have ended by then.
	closing := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := s.Close(ctx)
		<-s.Done()
		return err
	}
	if err := w.connected(s); err != nil {
		return errors.Join(err, closing())
	}
	var over <-chan time.Time
	if f.duration > 0 {
		timer := time.NewTimer(f.duration)
		defer timer.Stop()
		over = timer.C
	}
	made, err := s.Add(ctx, items...)
	if err != nil {
		_ = closing()
		return err
	}
	for _, item := range made {
		if err := item.Err(); err != nil {
			refused++
			if err := w.refused(item.Config().Data.(*watched).ref, item.Config().Node.String(), err); err != nil {
				_ = closing()
				return err
			}
		}
	}
	interrupted := false
	if refused < len(nodes) {
		select {
		case err = <-done:
		case <-over:
		case <-ctx.Done():
			interrupted = true // the end that is wanted here
		}
	}
	if closed := closing(); err == nil && !interrupted && a.client.Err() == nil {
		err = closed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a.bad = a.bad || refused > 0 || w.bad && !interrupted
	return err
}

// find finds the nodes, and learns the structures that their values have. Those that are not there are
// refused.
func (w *watcher) find(f *watchFlags, nodes []nodeRef) (items []uaclient.ItemConfig, refused int, err error) {
	var values []ua.ReadValueID
	for _, n := range nodes {
		id, err := n.find(w.ctx, w.client)
		if err != nil {
			if w.a.classifyClient(err).code != exitBadStatus {
				return nil, 0, err
			}
			refused++
			w.a.bad = true
			if err := w.refused(n, n.text, err); err != nil {
				return nil, 0, err
			}
			continue
		}
		items = append(items, uaclient.ItemConfig{Node: id, Sampling: f.sampling, Queue: f.queue, Filter: f.filter, Data: &watched{n, id}})
		values = append(values, ua.ReadValueID{NodeID: id, AttributeID: uint32(ua.AttributeValue)})
		if len(nodes) > 1 {
			w.width = max(w.width, utf8.RuneCountInString(shorten(clean(n.text), longestCell)))
		}
	}
	if !f.events && len(values) > 0 {
		if _, err := readKnown(w.ctx, w.client, values); err != nil && w.a.classifyClient(err).code != exitBadStatus {
			return nil, 0, err
		}
	}
	return items, refused, nil
}

// refused tells of a node that cannot be watched; the others are.
func (w *watcher) refused(n nodeRef, id string, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.a.err, "actua watch: %s%s\n", clean(err.Error()), w.flags.hint(ua.StatusOf(err).Base()))
	if !w.a.json {
		return nil
	}
	return w.a.print(new(line).set("node", id).set("value", nil).set("type", nil).set("status", ua.StatusOf(err).String()).
		set("sourceTimestamp", nil).set("overflow", false))
}

// hint says what a server's refusal of a node most likely means, and what to do.
func (f *watchFlags) hint(status ua.StatusCode) string {
	switch {
	case f.events && (status == ua.BadAttributeIdInvalid || status == ua.BadNotSupported):
		return " (this node does not tell of events; those of i=2253 are all of the server)"
	case !f.events && status == ua.BadAttributeIdInvalid:
		return " (this node has no value; --events shows the events of an object)"
	case f.deadband != "" && status == ua.BadFilterNotAllowed:
		return " (--deadband is for numbers)"
	case strings.HasSuffix(f.deadband, "%") && (status == ua.BadDeadbandFilterInvalid || status == ua.BadMonitoredItemFilterUnsupported):
		return " (a percentage needs a node with an EURange; --deadband takes a number without % too)"
	}
	return ""
}

// connected tells scripts that the watching has begun.
func (w *watcher) connected(s *uaclient.Subscription) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.a.json {
		return nil
	}
	return w.a.print(new(line).set("event", "connected").set("url", w.client.URL()).
		set("interval", float64(s.Revised().Interval)/float64(time.Millisecond)))
}

// data prints changes.
func (w *watcher) data(n *uaclient.DataNotification) {
	for item, v := range n.All() {
		if !w.one(v.Status, func() error { return w.change(item.Config().Data.(*watched), &v) }) {
			return
		}
	}
}

// events prints events.
func (w *watcher) events(n *uaclient.EventNotification) {
	for item, fields := range n.All() {
		if len(fields) == len(eventFields) && !w.one(ua.Good, func() error { return w.event(item.Config().Data.(*watched), fields) }) {
			return
		}
	}
}

// one prints a change or an event, unless there were enough.
func (w *watcher) one(status ua.StatusCode, show func() error) (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.bad = w.bad || status.IsBad()
	err := show()
	if w.shown++; w.shown == w.most || err != nil {
		w.over = true
		w.finish(err)
	}
	return !w.over
}

// change prints the change of a value.
func (w *watcher) change(n *watched, v *ua.DataValue) error {
	overflow := v.Status&(ua.StatusOverflow|ua.StatusInfoDataValue) == ua.StatusOverflow|ua.StatusInfoDataValue
	if w.a.json {
		return w.a.print(new(line).set("node", n.id.String()).value("value", v.Value).text("type", typeName(v.Value)).
			set("status", v.Status.String()).time("sourceTimestamp", v.SourceTimestamp).set("overflow", overflow))
	}
	text := shorten(attributeText(ua.AttributeValue, v.Value), longestWatched)
	if v.Status.Base() != ua.Good {
		text += "  " + w.a.statusText(v.Status)
	}
	if overflow {
		text += "  (values before this one were lost: --queue)"
	}
	return w.a.printf("%s  %s%s\n", w.a.paint(dim, timeText(v.SourceTimestamp)), w.node(n), text)
}

// longestWatched is how many characters of a value are shown.
const longestWatched = 100

// node is the column of nodes.
func (w *watcher) node(n *watched) string {
	if w.width == 0 {
		return ""
	}
	text := shorten(clean(n.ref.text), longestCell)
	return text + strings.Repeat(" ", w.width-utf8.RuneCountInString(text)+2)
}

// event prints an event.
func (w *watcher) event(n *watched, f []ua.Variant) error {
	eventType, source, name, severity := f[0].NodeID(), f[1].NodeID(), f[2].Str(), f[3].Uint()
	message, _ := ua.As[ua.LocalizedText](f[4])
	at, _ := ua.As[ua.DateTime](f[5])
	if w.a.json {
		return w.a.print(new(line).set("event", "event").set("node", n.id.String()).set("type", eventType.String()).text("typeName", w.typeName(eventType)).
			set("source", source.String()).text("sourceName", name).set("severity", severity).text("message", message.Text).time("time", at))
	}
	return w.a.printf("%s  %s%4d  %s  %s: %s\n", w.a.paint(dim, timeText(at)), w.node(n), severity, clean(w.typeName(eventType)), clean(name), clean(message.Text))
}

// typeName is the browse name of an event type, asked for once.
func (w *watcher) typeName(id ua.NodeID) string {
	name, known := w.types[id]
	if !known {
		if v, err := w.client.ReadAttribute(w.ctx, id, ua.AttributeBrowseName); err == nil {
			if q, ok := ua.As[ua.QualifiedName](v.Value); ok {
				name = q.Name
				w.types[id] = name
			}
		}
	}
	return name
}

// status prints what is not a change.
func (w *watcher) status(s uaclient.SubscriptionStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	l := new(line).set("event", s.Kind.String())
	text := ""
	switch s.Kind {
	case uaclient.StatusGap:
		l.set("from", s.From).set("to", s.To)
		text = fmt.Sprintf("notifications are lost: messages %d to %d", s.From, s.To)
	case uaclient.StatusSilent:
		text = "the server is silent"
	case uaclient.StatusResumed:
		text = "the server is there again"
	case uaclient.StatusChanged:
		l.set("status", s.Status.String())
		text = "the server says " + s.Status.String()
	case uaclient.StatusEnded:
		w.finish(s.Err)
		return
	}
	if w.a.json {
		err = w.a.print(l)
	}
	fmt.Fprintf(w.a.err, "actua watch: %s\n", text)
	if err != nil {
		w.finish(err)
	}
}
