package memspace

import (
	"sync"
	"sync/atomic"

	"github.com/actua/actua/ua"
)

// Node is a node of a Space. Its id, class and browse name never change.
type Node struct {
	space    *Space
	id       ua.NodeID
	name     ua.QualifiedName
	variable *Variable // the Variable this is the Node of; nil for other classes
	typeDef  *Node     // type definition of an object or variable

	mu        sync.Mutex // guards what follows, and the value of a variable
	refs      [2][]ref   // by direction
	more      *more      // what few nodes have; set before a method or type is visible
	last      uint64     // number of the last reference; guarded by Space.mu
	dead      [2]uint32  // removed references in refs
	class     uint8      // a ua.NodeClass; 0 for a node of another manager
	notifier  uint8      // EventNotifier
	guarded   bool       // has an AllowFunc; does not change once a server serves
	idle      bool       // a method that is not executable for now
	versioned bool       // is in Space.versions; guarded by Space.mu
	removed   atomic.Bool
}

// more holds the attributes that few nodes have.
type more struct {
	display     *ua.LocalizedText // nil: the browse name
	description ua.LocalizedText
	writeMask   ua.WriteMask
	noLoops     bool                   // of a view: ContainsNoLoops
	err         error                  // the node could not be added
	allow       AllowFunc              // does not change once a server serves
	typ         *typeInfo              // of types; never changes
	method      atomic.Pointer[method] // of methods
	names       *nameIndex             // of a node with many references
	protection  *protection            // from a nodeset; nil for none
	pending     []byte                 // of a variable of namespace 0: the value, not yet decoded
}

// protection is what a nodeset says about who may do what. It is kept for exports and not enforced.
type protection struct {
	roles        []ua.RolePermissionType
	restrictions uint16
	restricted   bool // restrictions are given, be they 0
}

// Referent is a *Node or a *Variable.
type Referent interface{ node() *Node }

func (n *Node) node() *Node { return n }

// nodeOf is the node of r, nil for none: Space.Node and Space.Variable give a nil *Node or *Variable for
// an id that they do not know.
func nodeOf(r Referent) *Node {
	switch x := r.(type) {
	case nil:
		return nil
	case *Variable:
		if x == nil {
			return nil
		}
	}
	return r.node()
}

// ID is the node's id. The namespace indexes of the ids of a Space are final once it is attached to a
// server; before that, its first namespace has index 2.
func (n *Node) ID() ua.NodeID { return n.id }

// Class is the node's class (Part 3, 8.29).
func (n *Node) Class() ua.NodeClass { return ua.NodeClass(n.class) }

// BrowseName is the node's browse name (Part 3, 5.2.4).
func (n *Node) BrowseName() ua.QualifiedName { return n.name }

// Variable is the node as a Variable; nil when it is of another class.
func (n *Node) Variable() *Variable {
	if ua.NodeClass(n.class) != ua.NodeClassVariable {
		return nil
	}
	return n.variable
}

// Err tells why the node could not be added; nil when it was.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.more == nil {
		return nil
	}
	return n.more.err
}

// DisplayName is the name that people see (Part 3, 5.2.5).
func (n *Node) DisplayName() ua.LocalizedText {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.displayName()
}

func (n *Node) displayName() ua.LocalizedText {
	if n.more != nil && n.more.display != nil {
		return *n.more.display
	}
	return ua.LocalizedText{Text: n.name.Name}
}

// SetDisplayName changes the name that people see.
func (n *Node) SetDisplayName(text ua.LocalizedText) {
	n.mu.Lock()
	n.extend().display = &text
	n.mu.Unlock()
}

// SetDescription changes the text that explains the node (Part 3, 5.2.6).
func (n *Node) SetDescription(text ua.LocalizedText) {
	n.mu.Lock()
	n.extend().description = text
	n.mu.Unlock()
}

// extend makes room for rare attributes. Node.mu is held, or the node is not visible yet.
func (n *Node) extend() *more {
	if n.more == nil {
		n.more = new(more)
	}
	return n.more
}
