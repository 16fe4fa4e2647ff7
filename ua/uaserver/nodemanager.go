package uaserver

import (
	"github.com/actua/actua/ua"
)

// NodeManager holds the nodes of one or more namespaces. The server groups the operations of a request
// by manager and hands each manager its items in one call; the manager fills the results in place.
// Every method may be called from several goroutines at once. Optional interfaces add features.
//
// # Live nodes of namespace 0
//
// ServerStatus and its components, ServerArray, NamespaceArray, ServiceLevel, Auditing, the limits
// under ServerCapabilities and their like change while the server runs. The manager of namespace 0
// asks Server.Live for the Value of such a node, by its number in package uaid, when it is read:
//
//	func (s *Server) Live(id uint32, now ua.DateTime) (ua.Variant, bool)
//
// Server.MayReadLive says who may have it. The methods of Server.LiveMethods are run by the server: the
// manager checks object and arguments as for its own methods, and calls them.
//
// # What callers promise
//
// NodeID of every item is in one of the manager's namespaces and not null. Attribute is one that the
// standard knows. Result points to a zero value. Context is valid until the call returns, or, in a
// call with MayBlock, until the request has been answered: keep nothing of it but Session.
//
// # Blocking
//
// A method is first called with Context.MayBlock false, on the goroutine that read the request. An
// item that would need a callback which may take its time is then left alone and marked with
// Blocked. The server calls again with those items only and MayBlock true, on a goroutine of its own,
// so that a slow callback delays nobody else.
type NodeManager interface {
	// NamespaceURIs are the namespaces whose nodes this manager has, fixed once the server runs.
	NamespaceURIs() []string
	// Attach is called once, before the server serves: index i is the server's index of
	// NamespaceURIs()[i].
	Attach(s *Server, indexes []uint16) error
	// Read fills the Result of each item. Value, Status and SourceTimestamp are the manager's; the
	// server applies IndexRange and TimestampsToReturn and adds the server time.
	Read(ctx *Context, items []ReadItem)
	// Write writes attributes: type, access level, IndexRange and callbacks are the manager's to
	// check (Part 4, 5.11.4).
	Write(ctx *Context, items []WriteItem)
	// Browse appends references of a node to item.References, at most item.Max of them (0: all),
	// beginning at item.Cursor, and sets item.Cursor to where the next page begins, 0 at the end.
	Browse(ctx *Context, item *BrowseItem)
	// Describe fills what a ReferenceDescription says about a target node.
	Describe(ctx *Context, items []DescribeItem)
	// Translate appends the targets of one element of a browse path, starting from one node.
	Translate(ctx *Context, item *TranslateItem)
	// Call calls one method. It checks that the object has the method, and the arguments.
	Call(ctx *Context, item *CallItem)
}

// ReadItem is one attribute to read (Part 4, 5.11.2).
type ReadItem struct {
	NodeID       ua.NodeID
	Attribute    ua.AttributeID
	DataEncoding ua.QualifiedName
	MaxAge       float64 // ms
	Result       *ua.DataValue
	Blocked      bool // out: needs a callback that may block
}

// WriteItem is one attribute to write (Part 4, 5.11.4).
type WriteItem struct {
	NodeID    ua.NodeID
	Attribute ua.AttributeID
	Range     ua.NumericRange // zero value: the whole value
	Value     *ua.DataValue
	Result    *ua.StatusCode
	Blocked   bool
}

// BrowseItem is one page of the references of a node (Part 4, 5.9.2).
type BrowseItem struct {
	NodeID          ua.NodeID
	Direction       ua.BrowseDirection
	ReferenceType   ua.NodeID // null: all
	IncludeSubtypes bool
	ClassMask       uint32 // ua.NodeClass bits of targets; 0: all
	Max             int
	Cursor          uint64
	References      []Reference // out, appended
	Status          ua.StatusCode
}

// Reference is a reference as a node manager returns it.
type Reference struct {
	Type    ua.NodeID
	Target  ua.ExpandedNodeID
	Forward bool
}

// DescribeItem asks what a ReferenceDescription says about a node. Class 0: no such node.
type DescribeItem struct {
	NodeID         ua.NodeID
	Class          ua.NodeClass
	BrowseName     ua.QualifiedName
	DisplayName    ua.LocalizedText
	TypeDefinition ua.ExpandedNodeID
}

// TranslateItem is one step of a browse path (Part 4, 5.9.4).
type TranslateItem struct {
	NodeID  ua.NodeID
	Element *ua.RelativePathElement
	Targets []ua.ExpandedNodeID // out, appended
	Status  ua.StatusCode       // out: BadNodeIdUnknown if there is no such node
}

// CallItem is one method call (Part 4, 5.12.2).
type CallItem struct {
	ObjectID ua.NodeID
	MethodID ua.NodeID
	Inputs   []ua.Variant
	Result   *ua.CallMethodResult
	Blocked  bool
}

// TypeTree is implemented by the manager of namespace 0: it knows the hierarchies of types.
type TypeTree interface {
	// IsSubtype reports whether a type is the same as super or derived from it.
	IsSubtype(t, super ua.NodeID) bool
}
