package memspace

import (
	"slices"
	"strconv"

	"github.com/actua/actua/ua"
)

// nodeVersion is the browse name of the property that tells the version of a node (Part 3, 9.32.2).
const nodeVersion = "NodeVersion"

// mostChanges is how many nodes a journal lists.
const mostChanges = 1024

// model counts changes of the structure and tells those who want to know. Space.mu guards it, but for
// reading the count.
type model struct {
	epoch    string // tells the counts of this Space from those of an earlier run
	changed  bool   // since Space.mu was taken
	versions map[*Node]*version
	touched  []*version // to be written before Space.mu is released
	journal  *journal   // nil: nobody wants to know
}

// version is the NodeVersion of a node.
type version struct {
	property *Variable
	touched  bool
}

// journal has what changed at nodes that have a NodeVersion, a line a node, until somebody takes it.
// When there are too many the lines are dropped, and it says no more than that something changed: that
// is the difference between a GeneralModelChangeEvent and a BaseModelChangeEvent (Part 3, 9.32).
type journal struct {
	notify func()
	told   bool // notify was called since the journal was taken
	lost   bool
	lines  []ua.ModelChangeStructureDataType
	at     map[ua.NodeID]int
}

// ModelVersion counts the changes of the structure: nodes and references that were added or removed.
// It never goes back, but for a new Space. Whoever reads a count sees the changes that it counts. An
// import counts as one change, as does a Remove with all that goes with the node.
func (s *Space) ModelVersion() uint64 { return s.version.Load() }

// WithNodeVersion gives a node the property NodeVersion. Its value changes whenever a reference of the
// node comes or goes, so a client that has seen a value before knows that the node has the same
// children (Part 3, 9.32.2). Instances of a type are no change of the type. A property NodeVersion
// that comes otherwise, by AddProperty or an import, works the same way.
func WithNodeVersion() Option { return func(s *settings) { s.versioned = true } }

// newVersion is the property that WithNodeVersion asks for, to be placed with its node.
func (s *Space) newVersion() (*Variable, *settings) {
	set := s.propertySettings(nodeVersion, WithBrowseName(ua.QualifiedName{Name: nodeVersion}))
	v := s.newVariable(ua.String(""), set)
	v.prepare(set)
	return v, set
}

// unlock ends a change: it counts it, writes the NodeVersions and releases Space.mu. Who watches is told
// afterwards.
func (s *Space) unlock() {
	m := &s.model
	var notify func()
	if m.changed {
		m.changed = false
		count := s.version.Add(1)
		if len(m.touched) > 0 {
			text := ua.DataValue{Value: ua.String(m.epoch + "." + strconv.FormatUint(count, 10)), SourceTimestamp: ua.Now()}
			for i, v := range m.touched {
				v.touched, m.touched[i] = false, nil
				v.property.mu.Lock()
				v.property.store(text)
				v.property.mu.Unlock()
			}
			if m.touched = m.touched[:0]; cap(m.touched) > mostChanges {
				m.touched = nil
			}
		}
		if j := m.journal; j != nil && !j.told && (j.lost || len(j.lines) > 0) {
			j.told, notify = true, j.notify
		}
	}
	s.mu.Unlock()
	if notify != nil {
		notify()
	}
}

// linked notes that there is a reference from a to b. Space.mu is held.
func (s *Space) linked(a *Node, k kind, b *Node) {
	s.model.changed = true
	if k == s.known.hasProperty && b.name == (ua.QualifiedName{Name: nodeVersion}) {
		s.watchVersion(a, b)
	}
	s.note(a, ua.ModelChangeStructureVerbMaskReferenceAdded)
	if k != s.known.hasType {
		s.note(b, ua.ModelChangeStructureVerbMaskReferenceAdded)
	}
}

// unlinked notes that there is no reference from a to b any more. Space.mu is held.
func (s *Space) unlinked(a *Node, k kind, b *Node) {
	s.model.changed = true
	s.note(a, ua.ModelChangeStructureVerbMaskReferenceDeleted)
	if k != s.known.hasType {
		s.note(b, ua.ModelChangeStructureVerbMaskReferenceDeleted)
	}
	switch k {
	case s.known.hasProperty:
		if a.versioned && s.model.versions[a].property == b.variable {
			s.unwatchVersion(a)
		}
	case s.known.hasSubtype:
		if b.info() != nil {
			b.info().super.CompareAndSwap(a, nil)
		}
	}
	s.forget(a)
	s.forget(b)
}

// watchVersion makes a property the NodeVersion of a node. The property of a type that has a modelling
// rule speaks of the instances.
func (s *Space) watchVersion(n, property *Node) {
	v := property.Variable()
	if v == nil || n.class == 0 || !v.accepts.has(ua.TypeString) || v.rank >= RankOneOrMoreDimensions {
		return
	}
	for i := range property.refs[forward] {
		if r := &property.refs[forward][i]; r.target != nil && r.kind() == s.known.hasRule {
			return
		}
	}
	n.versioned = true
	s.model.versions[n] = &version{property: v}
}

func (s *Space) unwatchVersion(n *Node) {
	if v, m := s.model.versions[n], &s.model; v.touched {
		i := len(m.touched) - 1
		for m.touched[i] != v {
			i--
		}
		m.touched = slices.Delete(m.touched, i, i+1)
	}
	delete(s.model.versions, n)
	n.versioned = false
}

// note makes a change of a node known: with its NodeVersion, and to who watches. A node without one
// has neither (Part 3, 9.32.2). Space.mu is held.
func (s *Space) note(n *Node, verb ua.ModelChangeStructureVerbMask) {
	if !n.versioned {
		return
	}
	if v := s.model.versions[n]; !v.touched {
		v.touched = true
		s.model.touched = append(s.model.touched, v)
	}
	s.record(n, verb)
}

// record puts a change into the journal.
func (s *Space) record(n *Node, verb ua.ModelChangeStructureVerbMask) {
	if s.model.journal != nil {
		s.model.journal.note(n, verb)
	}
}

func (j *journal) note(n *Node, verb ua.ModelChangeStructureVerbMask) {
	if j.lost {
		return
	}
	i, ok := j.at[n.id]
	switch {
	case ok:
		j.lines[i].Verb |= uint8(verb)
		return
	case len(j.lines) == mostChanges:
		j.lost, j.lines, j.at = true, nil, map[ua.NodeID]int{}
		return
	}
	line := ua.ModelChangeStructureDataType{Affected: n.id, Verb: uint8(verb)}
	if n.typeDef != nil {
		line.AffectedType = n.typeDef.id
	}
	j.at[n.id] = len(j.lines)
	j.lines = append(j.lines, line)
}

// watchModel lets notify be called, without a lock, when something changes at a node with a NodeVersion:
// once, then again after the next takeChanges. Nil ends that.
func (s *Space) watchModel(notify func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.journal = nil
	if notify != nil {
		s.model.journal = &journal{notify: notify, at: map[ua.NodeID]int{}}
	}
}

// takeChanges is what changed since the last time, a line a node. With complete false more nodes
// changed than a journal lists, and none is told.
func (s *Space) takeChanges() (lines []ua.ModelChangeStructureDataType, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.model.journal
	if j == nil {
		return nil, true
	}
	lines, complete = j.lines, !j.lost
	j.lines, j.lost, j.told = nil, false, false
	clear(j.at)
	return lines, complete
}

// forget drops a node of another manager when no reference leads to it any more. Space.mu is held.
func (s *Space) forget(n *Node) {
	if n.class == 0 && len(n.refs[forward])+len(n.refs[inverse]) == int(n.dead[forward]+n.dead[inverse]) {
		delete(s.foreign, n.id)
	}
}
