package memspace

import (
	"fmt"
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// MethodFunc is called when a client calls a method. The inputs are as many as the method declares,
// and of the declared types. An error that holds a ua.StatusCode is told to the client, an
// ArgumentError with the argument that is to blame; any other error is BadInternalError.
type MethodFunc func(c Call) ([]ua.Variant, error)

// Call is what a MethodFunc is told. Context is valid until the MethodFunc returns.
type Call struct {
	Context *uaserver.Context
	Object  *Node // on which the method is called
	Method  *Node
	Inputs  []ua.Variant
}

// User is the name of the user who calls; "" for an anonymous one.
func (c Call) User() string { return c.Context.Session.User }

// ArgumentError is an error of a MethodFunc about one of its inputs, counted from 0; the client gets
// BadInvalidArgument, and the status in the InputArgumentResults (Part 4, 5.12.2).
type ArgumentError struct {
	Index  int
	Status ua.StatusCode // such as BadOutOfRange
}

// Error says which argument is wrong and how.
func (e ArgumentError) Error() string { return fmt.Sprintf("argument %d: %v", e.Index, e.Status) }

// Unwrap is BadInvalidArgument.
func (e ArgumentError) Unwrap() error { return ua.BadInvalidArgument }

// Method is a function with its declaration. Func0 to Func3 make one from a typed Go function.
type Method struct {
	Call    MethodFunc
	Inputs  []ua.Argument
	Outputs []ua.Argument

	types []ua.ExpandedNodeID // data types of all arguments whose namespace is known by its URI
	err   error
}

// method is the running part of a method node.
type method struct {
	call            MethodFunc
	inputs, outputs []argument
	nonBlocking     bool
}

// argument is an argument with what checking it needs.
type argument struct {
	ua.Argument
	dataType *Node
	types    typeSet
}

// AddMethod adds a method with the properties InputArguments and OutputArguments, those that are not
// empty (Part 3, 5.7). See the package comment for errors.
func (s *Space) AddMethod(parent Referent, name string, m Method, options ...Option) *Node {
	set := s.settings(name, options)
	set.class = ua.NodeClassMethod
	n := &Node{space: s, more: new(more)}
	inputs, outputs, err := s.declare(m)
	switch {
	case set.err != nil:
	case err != nil:
		set.err = err
	case m.Call == nil:
		set.err = fmt.Errorf("a method without a function: %w", ua.BadInvalidArgument)
	}
	n.more.method.Store(&method{m.Call, inputs, outputs, set.hooks.nonBlocking})
	s.add(parent, n, set)
	if n.Err() == nil {
		s.addArguments(n, "InputArguments", inputs)
		s.addArguments(n, "OutputArguments", outputs)
	}
	return n
}

// declare resolves the data types of the arguments.
func (s *Space) declare(m Method) (inputs, outputs []argument, err error) {
	if m.err != nil {
		return nil, nil, m.err
	}
	all := append(slices.Clone(m.Inputs), m.Outputs...)
	list := make([]argument, len(all))
	for i, a := range all {
		if i < len(m.types) && m.types[i].NamespaceURI != "" {
			ns, ok := s.index(m.types[i].NamespaceURI)
			if !ok {
				return nil, nil, fmt.Errorf("argument %q: no namespace %q: %w", a.Name, m.types[i].NamespaceURI, ua.BadDataTypeIdUnknown)
			}
			a.DataType = m.types[i].NodeID.WithNamespace(ns)
		}
		t := s.nodes.find(a.DataType)
		if t == nil || t.Class() != ua.NodeClassDataType {
			return nil, nil, fmt.Errorf("argument %q: data type %v: %w", a.Name, a.DataType, ua.BadDataTypeIdUnknown)
		}
		list[i] = argument{a, t, builtIn(t)}
	}
	return list[:len(m.Inputs):len(m.Inputs)], list[len(m.Inputs):], nil
}

func (s *Space) addArguments(n *Node, name string, list []argument) {
	if len(list) == 0 {
		return
	}
	objects := make([]ua.ExtensionObject, len(list))
	for i := range list {
		a := list[i].Argument
		objects[i] = ua.NewExtensionObject(&a)
	}
	s.AddProperty(n, name, ua.Array(objects), WithBrowseName(ua.QualifiedName{Name: name}),
		WithDimensions(uint32(len(list))))
}

// HandleMethod gives a method that has no function yet, one of namespace 0 for example, its function.
// The arguments are those in the properties of the node. Of the options only NonBlocking counts. It
// gives BadMethodInvalid for another node than a method.
func (n *Node) HandleMethod(f MethodFunc, options ...Option) error {
	if n.Class() != ua.NodeClassMethod || f == nil {
		return fmt.Errorf("memspace: handle %v: %w", n.id, ua.BadMethodInvalid)
	}
	inputs, outputs, err := n.space.declare(Method{Inputs: n.arguments("InputArguments"), Outputs: n.arguments("OutputArguments")})
	if err != nil {
		return fmt.Errorf("memspace: handle %v: %w", n.id, err)
	}
	set := n.space.settings("", options)
	n.more.method.Store(&method{f, inputs, outputs, set.hooks.nonBlocking})
	return nil
}

// arguments reads a property with declarations.
func (n *Node) arguments(name string) (list []ua.Argument) {
	p := n.child(uaid.HasProperty, ua.QualifiedName{Name: name})
	if p == nil || p.variable == nil {
		return nil
	}
	objects, _ := ua.ArrayOf[ua.ExtensionObject](p.variable.Get())
	for i := range objects {
		if a, ok := objects[i].Value.(*ua.Argument); ok {
			list = append(list, *a)
		}
	}
	return list
}

// child is the first target of a forward reference, of a type of namespace 0 or derived from it, that
// has a browse name; nil if there is none.
func (n *Node) child(refType uint32, name ua.QualifiedName) (found *Node) {
	f, _ := n.space.newFilter(ua.BrowseDirectionForward, ua.ID(refType), true, 0)
	f.each(n, 0, func(r ref) bool {
		if f.selects(&r) && r.target.name == name {
			found = r.target
		}
		return found == nil
	})
	return found
}

// SetExecutable says whether a method can be called at the moment; calls are refused with
// BadNotExecutable while it cannot (Part 3, 5.7).
func (n *Node) SetExecutable(on bool) {
	n.mu.Lock()
	n.idle = !on
	n.mu.Unlock()
}

// executable is false also for a method that nobody has given a function.
func (n *Node) executable() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.idle && n.more.method.Load() != nil
}
