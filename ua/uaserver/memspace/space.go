package memspace

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// firstIndex is the namespace index of a Space's first own namespace before it is attached: servers
// have themselves as namespace 1.
const firstIndex = 2

// Space is a node manager that holds its nodes in memory. New makes one.
type Space struct {
	uris    atomic.Pointer[[]string] // own namespaces, without namespace 0
	indexes atomic.Pointer[[]uint16] // the server's indexes of uris
	nodes   table
	server  atomic.Pointer[uaserver.Server]
	log     atomic.Pointer[slog.Logger]

	mu      sync.Mutex // orders changes of the structure: nodes and references
	kinds   atomic.Pointer[[]*Node]
	foreign map[ua.NodeID]*Node // nodes of other managers that references lead to
	nextID  uint32              // for nodes that get a numeric id
	err     error
	model   model
	version atomic.Uint64           // see ModelVersion
	types   []func() ua.Structure   // for the server to decode
	models  map[string]importedFrom // imported models by their URI

	// parked are the feeds of removed variables that are monitored.
	parked map[ua.NodeID]*uaserver.Feed

	known wellKnown
}

// wellKnown are nodes of namespace 0 that adding nodes needs.
type wellKnown struct {
	objects, folder, baseObject, dataVariable, property *Node
	baseDataType                                        *Node
	hasComponent, hasProperty, organizes, hasSubtype    kind
	hasType, hasEncoding, hasRule                       kind
}

// New makes a Space with namespace 0 and the namespaces of an application, the first of which is
// where nodes are added that do not say otherwise.
func New(uri string, more ...string) *Space {
	s := &Space{
		foreign: make(map[ua.NodeID]*Node),
		nextID:  1000,
		models:  make(map[string]importedFrom),
		model:   model{epoch: strconv.FormatInt(int64(ua.Now()), 36), versions: make(map[*Node]*version)},
	}
	uris := append([]string{uri}, more...)
	s.uris.Store(&uris)
	indexes := make([]uint16, len(uris))
	for i := range indexes {
		indexes[i] = uint16(firstIndex + i)
	}
	s.indexes.Store(&indexes)
	s.log.Store(slog.Default())
	s.loadZero()
	return s
}

// NamespaceURIs implements uaserver.NodeManager: namespace 0, those given to New, those of nodesets.
func (s *Space) NamespaceURIs() []string {
	return append([]string{uaserver.NamespaceURI0}, *s.uris.Load()...)
}

// Attach implements uaserver.NodeManager: from here on nodes have the server's namespace indexes. It
// fails with the first error that adding nodes made.
func (s *Space) Attach(server *uaserver.Server, indexes []uint16) error {
	types, err := s.attach(server, indexes)
	if err == nil && server != nil {
		s.live0(server)
		for _, f := range types { // functions of the user: no lock is held
			server.Types().Register(f)
		}
	}
	return err
}

// attach returns the types for the server to decode.
func (s *Space) attach(server *uaserver.Server, indexes []uint16) ([]func() ua.Structure, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uris := *s.uris.Load()
	switch {
	case s.err != nil:
		return nil, s.err
	case len(indexes) != len(uris)+1 || indexes[0] != 0:
		return nil, fmt.Errorf("memspace: %d namespace indexes for %d namespaces: %w", len(indexes), len(uris)+1, ua.BadInvalidArgument)
	case !s.server.CompareAndSwap(nil, server):
		return nil, fmt.Errorf("memspace: the Space is attached to another server: %w", ua.BadInvalidState)
	}
	s.renumber(indexes[1:])
	if server != nil {
		s.log.Store(server.Logger())
	}
	return slices.Clone(s.types), nil
}

// Err is the first error that adding nodes or references made; nil when there was none.
func (s *Space) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Namespace is the index of the first namespace of the application. It is final once the Space is
// attached to a server.
func (s *Space) Namespace() uint16 { return (*s.indexes.Load())[0] }

// owns reports whether a namespace is one of the Space's.
func (s *Space) owns(namespace uint16) bool {
	return namespace == 0 || slices.Contains(*s.indexes.Load(), namespace)
}

// Node returns the node with an id, or nil.
func (s *Space) Node(id ua.NodeID) *Node { return s.nodes.find(id) }

// Variable returns the variable with an id, or nil.
func (s *Space) Variable(id ua.NodeID) *Variable {
	if n := s.nodes.find(id); n != nil {
		return n.Variable()
	}
	return nil
}

// Objects is the folder under which applications have their objects (Part 5, 8.2.4).
func (s *Space) Objects() *Node { return s.known.objects }

// Len is the number of nodes, those of namespace 0 included.
func (s *Space) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes.live
}

// SetLogger says where failures of callbacks are logged; default slog.Default, and the server's logger
// once the Space is attached.
func (s *Space) SetLogger(l *slog.Logger) { s.log.Store(l) }

// zero returns a node of namespace 0 by its number in package uaid.
func (s *Space) zero(id uint32) *Node { return s.nodes.find(ua.ID(id)) }

func (s *Space) remember() {
	s.known = wellKnown{
		objects:      s.zero(uaid.ObjectsFolder),
		folder:       s.zero(uaid.FolderType),
		baseObject:   s.zero(uaid.BaseObjectType),
		dataVariable: s.zero(uaid.BaseDataVariableType),
		property:     s.zero(uaid.PropertyType),
		baseDataType: s.zero(uaid.BaseDataType),
		hasComponent: s.zero(uaid.HasComponent).more.typ.kind,
		hasProperty:  s.zero(uaid.HasProperty).more.typ.kind,
		organizes:    s.zero(uaid.Organizes).more.typ.kind,
		hasSubtype:   s.zero(uaid.HasSubtype).more.typ.kind,
		hasType:      s.zero(uaid.HasTypeDefinition).more.typ.kind,
		hasEncoding:  s.zero(uaid.HasEncoding).more.typ.kind,
		hasRule:      s.zero(uaid.HasModellingRule).more.typ.kind,
	}
}

// fail notes an error of building the address space. Space.mu is held.
func (s *Space) fail(err error) error {
	if s.err == nil {
		s.err = err
	}
	return err
}
