package plant

import (
	"math"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// kind is what differs between the machines.
type kind struct {
	name      string
	setPoint  float64 // pieces a minute
	heat      float64 // degrees Celsius above the surroundings at full speed
	pressure  float64 // bar at full speed
	scrap     float64 // part of the pieces that is rejected
	wave      time.Duration
	container string
}

var kinds = []kind{
	{"Mixer", 300, 45, 2.5, 0.002, 23 * time.Second, "Tank"},
	{"Filler", 280, 20, 6, 0.01, 31 * time.Second, "Hopper"},
	{"Packer", 260, 15, 4, 0.005, 41 * time.Second, "Magazine"},
}

const (
	maxSpeed     = 600 // pieces a minute
	surroundings = 21  // degrees Celsius
	inertia      = 4 * time.Second
)

// machine is one machine: its nodes and its simulation, which Plant.mu guards.
type machine struct {
	plant *Plant
	kind  kind
	info  *ua.StructureInfo // of a batch
	node  *memspace.Node

	setPoint, speedNow, temperature, pressure, power, level *memspace.Variable
	produced, rejected, state, running, current             *memspace.Variable

	speed  float64 // pieces a minute
	warmth float64 // 0 to 1
	fill   float64 // percent
	made   float64
	bad    float64
	job    *batch // nil: production without a batch
	goal   float64
	idle   bool // after a batch, until the next one is started
	shown  int32
}

func (p *Plant) addMachine(s *memspace.Space, line *memspace.Node, t types, k kind) *machine {
	m := &machine{plant: p, kind: k, info: t.info, fill: 50}
	m.node = s.AddObject(line, k.name, memspace.WithTypeDefinition(t.machine.ID()),
		memspace.WithEventNotifier(ua.EventNotifierTypeSubscribeToEvents))
	analog := func(name string, low, high float64, unit ua.EUInformation, options ...memspace.Option) *memspace.Variable {
		options = append([]memspace.Option{memspace.WithRange(low, high), memspace.WithUnit(unit)}, options...)
		return s.AddVariable(m.node, name, ua.Double(0), options...)
	}
	m.setPoint = analog("SpeedSetPoint", 0, maxSpeed, perMinute, memspace.Writable(checkSetPoint), memspace.NonBlocking(),
		memspace.WithDescription("Speed to run at; 0 to 600"))
	set(m.setPoint, ua.Double(k.setPoint))
	m.speedNow = analog("Speed", 0, maxSpeed, perMinute, memspace.WithDescription("Follows SpeedSetPoint"))
	m.temperature = analog("Temperature", -20, 150, celsius)
	m.pressure = analog("Pressure", 0, 10, bar)
	m.power = analog("Power", 0, 50, kilowatt)
	m.level = analog(k.container+"Level", 0, 100, percent)
	m.produced = s.AddVariable(m.node, "Produced", ua.UInt32(0), memspace.WithDescription("Good pieces since Reset"))
	m.rejected = s.AddVariable(m.node, "Rejected", ua.UInt32(0))
	m.state = s.AddVariable(m.node, "State", ua.Int32(stateStopped), memspace.WithDataType(t.state.ID()))
	m.running = s.AddVariable(m.node, "Running", ua.Boolean(false), memspace.WithTrueFalse("Running", "Standing"))
	s.AddVariable(m.node, "Mode", ua.UInt32(0), memspace.WithStates("Automatic", "Manual", "Cleaning"), memspace.Writable())
	m.current = s.AddVariable(m.node, "Batch", new(batch).value(m.info), memspace.WithDataType(t.batch.ID()))
	cells, _ := ua.Matrix(make([]uint16, 12), 3, 4) // the dimensions fit
	s.AddVariable(m.node, "Pallet", cells, memspace.WithDimensions(3, 4), memspace.Writable(),
		memspace.WithDescription("Pieces in each place of the pallet, by row"))
	s.AddMethod(m.node, "StartBatch", memspace.Func2(m.startBatch, "recipe", "pieces", "batchId"), memspace.NonBlocking())
	s.AddMethod(m.node, "Reset", memspace.Func0(m.reset), memspace.NonBlocking())
	return m
}

func checkSetPoint(w memspace.Write) ua.StatusCode {
	if x := w.New.Value.Float(); !(x >= 0 && x <= maxSpeed) {
		return ua.BadOutOfRange
	}
	return ua.Good
}

// startBatch is the method StartBatch: so many pieces are made, then the machine waits for the next.
func (m *machine) startBatch(_ memspace.Call, recipe string, pieces uint32) (uint32, error) {
	switch {
	case recipe == "" || len(recipe) > 100:
		return 0, memspace.ArgumentError{Index: 0, Status: ua.BadOutOfRange}
	case pieces == 0 || pieces > 1_000_000:
		return 0, memspace.ArgumentError{Index: 1, Status: ua.BadOutOfRange}
	}
	m.plant.mu.Lock()
	defer m.plant.unlock()
	if m.job != nil {
		return 0, ua.BadInvalidState
	}
	m.plant.batches++
	m.job = &batch{id: m.plant.batches, recipe: recipe, pieces: pieces, started: ua.Now()}
	m.goal, m.idle = m.made+float64(pieces), false
	m.plant.event(m.node, 200, "Batch %d begins: %d pieces of %s", m.job.id, pieces, recipe)
	m.show()
	return m.job.id, nil
}

// reset is the method Reset: counters to zero, and production without a batch.
func (m *machine) reset(memspace.Call) (memspace.None, error) {
	m.plant.mu.Lock()
	defer m.plant.unlock()
	m.made, m.bad, m.job, m.idle = 0, 0, nil, false
	set(m.current, new(batch).value(m.info))
	m.show()
	return memspace.None{}, nil
}

// step moves the machine by a time.
func (m *machine) step(d, now time.Duration) {
	target := m.setPoint.Get().Float()
	if m.idle {
		target = 0
	}
	s, minutes := d.Seconds(), d.Minutes()
	m.speed += (target - m.speed) * min(1, s/inertia.Seconds())
	if target == 0 && m.speed < 0.5 {
		m.speed = 0
	}
	m.warmth += (m.speed/maxSpeed - m.warmth) * min(1, s/30)
	wave := math.Sin(2 * math.Pi * now.Seconds() / m.kind.wave.Seconds())
	m.fill += (40 + 30*wave - m.fill) * min(1, s/5)
	made := m.speed * minutes
	m.made += made * (1 - m.kind.scrap)
	m.bad += made * m.kind.scrap
	set(m.temperature, ua.Double(surroundings+m.kind.heat*m.warmth+0.4*wave))
	set(m.pressure, ua.Double(m.kind.pressure*(0.6+0.4*m.speed/maxSpeed)+0.05*wave))
	set(m.power, ua.Double(1.5+30*m.speed/maxSpeed+0.3*wave))
	set(m.level, ua.Double(m.fill))
	if m.job != nil && m.made >= m.goal {
		m.made, m.idle = m.goal, true
		m.job.done = m.job.pieces
		set(m.current, m.job.value(m.info))
		m.plant.event(m.node, 300, "Batch %d is complete: %d pieces of %s", m.job.id, m.job.pieces, m.job.recipe)
		m.job = nil
	}
	m.show()
}

// show sets what follows from the state.
func (m *machine) show() {
	set(m.speedNow, ua.Double(m.speed))
	set(m.produced, ua.UInt32(uint32(m.made)))
	set(m.rejected, ua.UInt32(uint32(m.bad)))
	set(m.running, ua.Boolean(m.speed > 0))
	state := int32(stateStopped)
	switch target := m.setPoint.Get().Float(); {
	case m.idle:
		state = stateComplete
	case m.speed > 0 && math.Abs(target-m.speed) > 5:
		state = stateRamping
	case m.speed > 0:
		state = stateProducing
	}
	set(m.state, ua.Int32(state))
	if state != m.shown {
		m.shown = state
		m.plant.event(m.node, 100, "%s: %s", m.kind.name, stateNames[state])
	}
	if m.job != nil {
		m.job.done = m.job.pieces - uint32(max(0, math.Ceil(m.goal-m.made)))
		set(m.current, m.job.value(m.info))
	}
}
