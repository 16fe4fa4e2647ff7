// Package plant is a small plant that moves: one line with three machines, and a folder with every
// built-in type. It is what "actua serve" offers without any flag, to try clients on.
package plant

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// Period is how often the plant moves.
const Period = 100 * time.Millisecond

// reportPeriod is how often the line tells of its output by an event.
const reportPeriod = 5 * time.Second

// Plant is a plant in an address space. Build makes it, Run moves it.
type Plant struct {
	mu       sync.Mutex // guards the machines' simulation
	machines []*machine
	batches  uint32 // number of the last batch
	output   *memspace.Variable
	trend    *memspace.Variable
	history  []float64 // output of the last minute, oldest first
	elapsed  time.Duration
	line     *memspace.Node
	emit     func(uaserver.Event)
	pending  []uaserver.Event // of this step or call
}

// Build adds the plant to an address space, below Objects.
func Build(space *memspace.Space) (*Plant, error) {
	p := &Plant{history: make([]float64, 60)}
	types := addTypes(space)
	root := space.AddObject(space.Objects(), "Plant", memspace.WithDescription("A simulated plant"),
		memspace.WithEventNotifier(ua.EventNotifierTypeSubscribeToEvents))
	line := space.AddObject(root, "Line1", memspace.WithEventNotifier(ua.EventNotifierTypeSubscribeToEvents))
	p.line = line
	p.output = space.AddVariable(line, "Output", ua.Double(0), memspace.WithUnit(perMinute), memspace.WithRange(0, 600),
		memspace.WithDescription("Good pieces a minute that leave the line"))
	p.trend = space.AddVariable(line, "OutputTrend", ua.Array(make([]float64, len(p.history))),
		memspace.WithDimensions(uint32(len(p.history))), memspace.WithDescription("Output of the last minute, a value a second"))
	for _, k := range kinds {
		p.machines = append(p.machines, p.addMachine(space, line, types, k))
	}
	err := errors.Join(
		space.AddReference(ua.ID(uaid.Server), ua.ID(uaid.HasNotifier), root.ID()),
		space.AddReference(root.ID(), ua.ID(uaid.HasNotifier), line.ID()),
	)
	for _, m := range p.machines {
		err = errors.Join(err, space.AddReference(line.ID(), ua.ID(uaid.HasEventSource), m.node.ID()))
	}
	err = errors.Join(err, addAllTypes(space))
	p.step(0)
	return p, errors.Join(err, space.Err())
}

// Emit has the plant tell of events: of batches that begin and end, of machines that change their state, and
// of the line's output every five seconds. Call it before Run.
func (p *Plant) Emit(emit func(uaserver.Event)) { p.emit = emit }

// event notes an event, under the lock.
func (p *Plant) event(source *memspace.Node, severity uint16, format string, args ...any) {
	if p.emit != nil {
		p.pending = append(p.pending, uaserver.Event{
			Type: ua.ID(uaid.SystemEventType), Source: source.ID(), SourceName: source.BrowseName().Name, Severity: severity,
			Message: ua.LocalizedText{Locale: "en", Text: fmt.Sprintf(format, args...)},
		})
	}
}

// unlock unlocks, and tells of the events.
func (p *Plant) unlock() {
	events, emit := p.pending, p.emit
	p.pending = nil
	p.mu.Unlock()
	for _, e := range events {
		emit(e)
	}
}

// Run moves the plant until ctx is done.
func (p *Plant) Run(ctx context.Context) {
	ticker := time.NewTicker(Period)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.step(now.Sub(last))
			last = now
		}
	}
}

// step moves the plant by a time; a long pause counts as a second.
func (p *Plant) step(d time.Duration) {
	d = min(d, time.Second)
	p.mu.Lock()
	defer p.unlock()
	before := p.elapsed
	p.elapsed += d
	for _, m := range p.machines {
		m.step(d, p.elapsed)
	}
	last := p.machines[len(p.machines)-1]
	output := last.speed * (1 - last.kind.scrap)
	set(p.output, ua.Double(output))
	if before/time.Second != p.elapsed/time.Second {
		p.history = append(p.history[:0:0], append(p.history[1:], output)...)
		set(p.trend, ua.Array(p.history))
	}
	if before/reportPeriod != p.elapsed/reportPeriod {
		p.event(p.line, 100, "%.0f good pieces a minute leave the line", output)
	}
}

// set changes a variable that was made for values of this type, so it cannot fail.
func set(v *memspace.Variable, value ua.Variant) { _ = v.Set(value) }
