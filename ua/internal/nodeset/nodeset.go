// Package nodeset reads information models in the UANodeSet format (Part 6, Annex F): nodes with
// their attributes, references and values. Structured values are read with the descriptors of
// package ua, so every structure of namespace 0 is understood, and others when a descriptor is given.
package nodeset

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/actua/actua/ua"
)

// Set is the content of a file. Namespace indexes are those of the server (see Options.Index).
type Set struct {
	NamespaceURIs []string // of the file, without namespace 0
	Models        []Model
	Aliases       map[string]string
	Nodes         []*Node // in the order of the file
	byID          map[ua.NodeID]*Node
	parser        *parser
	encodings     map[encodingKey]ua.NodeID // made when first needed
}

// Model describes an information model of the file (Part 6, F.5).
type Model struct {
	URI, Version, ModelVersion string
	PublicationDate            ua.DateTime
	Required                   []Model // without Required of their own
	AccessRestrictions         uint16  // default for its nodes
	RolePermissions            []ua.RolePermissionType
}

// Node is a node (Part 6, F.6 to F.14). Attributes that the file leaves out have their default.
type Node struct {
	Class                        ua.NodeClass
	ID                           ua.NodeID
	Parent                       ua.NodeID // of an instance; null if not given
	BrowseName                   ua.QualifiedName
	SymbolicName                 string
	DisplayName, Description     []ua.LocalizedText // one for each locale
	InverseName                  []ua.LocalizedText
	Documentation                string
	WriteMask, UserWriteMask     uint32
	AccessRestrictions           uint16
	HasAccessRestrictions        bool
	RolePermissions              []ua.RolePermissionType
	IsAbstract, Symmetric        bool
	EventNotifier                uint8
	DataType                     ua.NodeID
	ValueRank                    int32
	ArrayDimensions              []uint32
	AccessLevel, UserAccessLevel uint32
	MinimumSamplingInterval      float64
	Historizing                  bool
	Executable, UserExecutable   bool
	ContainsNoLoops              bool
	MethodDeclaration            ua.NodeID
	Value                        ua.Variant
	Definition                   *Definition // of a data type
	References                   []Reference
	Line                         int    // where it begins in the file
	Label                        string // NodeId and BrowseName as they stand in the file, for messages
	value                        *element
}

// Reference is a reference of a node as the file has it: each may stand at either end.
type Reference struct {
	Type, Target ua.NodeID
	Forward      bool
}

// Definition is how a data type is made up (Part 6, F.12). Fields of base types are not among Fields.
type Definition struct {
	IsUnion, IsOptionSet bool
	Fields               []DefinitionField
}

// DefinitionField is a field of a structure, or a value of an enumeration.
type DefinitionField struct {
	Name                      string
	DisplayName, Description  ua.LocalizedText
	DataType                  ua.NodeID
	ValueRank                 int32
	ArrayDimensions           []uint32
	MaxStringLength           uint32
	Value                     int64 // of an enumeration; the number of the bit in an option set
	HasValue                  bool
	IsOptional, AllowSubTypes bool
}

// Options tell how to read a file.
type Options struct {
	// Index is the server's index of a namespace. Without it, indexes stay as they are in the file.
	Index func(uri string) (uint16, error)
	// Structure describes the structures that package ua does not know, by the id of the data type
	// or of one of its encodings; it may be nil. Values of other structures keep their XML.
	Structure func(id ua.NodeID) *ua.StructureInfo
	// Types make values of structures that package ua does not know; it may be nil. Without it such
	// values keep their binary form.
	Types *ua.TypeTable
	// SkipValues leaves out the values of variables.
	SkipValues bool
	// LaterValues leaves values to Set.DecodeValue, so that data types can be looked at first.
	LaterValues bool
	// Skip is told about a node that cannot be read, which is then left out; without it such a node is
	// an error.
	Skip func(*Error)
}

// Error says what is wrong, where in the file, and at which node.
type Error struct {
	Line int
	Node string // NodeId and BrowseName; "" outside of nodes
	Err  error
}

// Error is the line, the node and what is wrong with it.
func (e *Error) Error() string {
	if e.Node == "" {
		return fmt.Sprintf("nodeset: line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("nodeset: line %d: node %s: %v", e.Line, e.Node, e.Err)
}

// Unwrap is what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Find is the node with this id, or nil.
func (s *Set) Find(id ua.NodeID) *Node { return s.byID[id] }

type parser struct {
	options    Options
	set        *Set
	aliases    map[string]string
	namespaces []uint16 // of the server, by index of the file
	models     *element // read when the aliases are known
}

// Parse reads a file that is in memory. Errors are of type *Error.
func Parse(source []byte, options Options) (*Set, error) { return parse(source, options, false) }

// ParseHeader reads what stands in front of the nodes: namespaces, models and aliases.
func ParseHeader(source []byte) (*Set, error) { return parse(source, Options{}, true) }

func parse(source []byte, options Options, header bool) (*Set, error) {
	p := &parser{
		options:    options,
		set:        &Set{byID: map[ua.NodeID]*Node{}},
		aliases:    map[string]string{},
		namespaces: []uint16{0},
	}
	p.set.Aliases, p.set.parser = p.aliases, p
	d := newDocument(source)
	fail := func(err error) error {
		line, _ := d.dec.InputPos()
		return wrap(line, "", err)
	}
	root, err := d.start()
	if errors.Is(err, io.ErrUnexpectedEOF) { // text is no error of XML until it ends
		return nil, wrap(0, "", errors.New("there is no XML element in the file"))
	}
	if err != nil {
		return nil, fail(err)
	}
	if root == nil || root.name != "UANodeSet" {
		return nil, fail(errors.New("the file is no NodeSet2: its XML does not begin with UANodeSet"))
	}
	for {
		e, err := d.start()
		if err != nil {
			return nil, fail(err)
		}
		if e == nil || header && nodeClasses[e.name] != 0 {
			return p.set, p.readModels()
		}
		if err := d.read(e, 0); err != nil {
			return nil, fail(err)
		}
		if err := p.element(e); err != nil {
			return nil, err
		}
	}
}

// Read reads a file.
func Read(r io.Reader, options Options) (*Set, error) {
	source, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return Parse(source, options)
}

// wrap makes an Error, with the line of what caused it if that is known.
func wrap(line int, node string, err error) error {
	switch e := err.(type) {
	case *Error:
		return e
	case *lineError:
		return &Error{e.line, node, e.err}
	case *xml.SyntaxError:
		if e.Msg == "unexpected EOF" {
			return &Error{e.Line, node, errors.New("the file ends in the middle of an element")}
		}
		return &Error{e.Line, node, fmt.Errorf("this is no XML: %s", e.Msg)}
	}
	return &Error{line, node, err}
}

var nodeClasses = map[string]ua.NodeClass{
	"UAObject": ua.NodeClassObject, "UAVariable": ua.NodeClassVariable, "UAMethod": ua.NodeClassMethod,
	"UAObjectType": ua.NodeClassObjectType, "UAVariableType": ua.NodeClassVariableType,
	"UAReferenceType": ua.NodeClassReferenceType, "UADataType": ua.NodeClassDataType,
	"UAView": ua.NodeClassView,
}

// element takes an element below UANodeSet.
func (p *parser) element(e *element) error {
	switch e.name {
	case "NamespaceUris":
		for _, c := range e.children {
			uri := strings.TrimSpace(c.text)
			index := uint16(len(p.namespaces))
			if p.options.Index != nil {
				var err error
				if index, err = p.options.Index(uri); err != nil {
					return wrap(c.line, "", err)
				}
			}
			p.set.NamespaceURIs = append(p.set.NamespaceURIs, uri)
			p.namespaces = append(p.namespaces, index)
		}
	case "Models":
		p.models = e
	case "Aliases":
		for _, c := range e.children {
			p.aliases[c.attr("Alias")] = strings.TrimSpace(c.text)
		}
	default:
		class, ok := nodeClasses[e.name]
		if !ok {
			return nil // Extensions and what later versions add
		}
		if err := p.readModels(); err != nil {
			return err
		}
		n, err := p.node(e, class)
		if err == nil && p.set.byID[n.ID] != nil {
			err = fmt.Errorf("the node stands in line %d already", p.set.byID[n.ID].Line)
		}
		if err != nil {
			err := wrap(e.line, label(e), err)
			if skip, ok := err.(*Error); ok && p.options.Skip != nil {
				p.options.Skip(skip)
				return nil
			}
			return err
		}
		p.set.Nodes = append(p.set.Nodes, n)
		p.set.byID[n.ID] = n
	}
	return nil
}

// readModels reads the element Models, in which roles may be named by aliases that come behind it.
func (p *parser) readModels() error {
	e := p.models
	if e == nil {
		return nil
	}
	p.models = nil
	for _, c := range e.children {
		m, err := p.model(c)
		if err != nil {
			return wrap(c.line, "", err)
		}
		p.set.Models = append(p.set.Models, m)
	}
	return nil
}

func (p *parser) model(e *element) (m Model, err error) {
	m = Model{URI: e.attr("ModelUri"), Version: e.attr("Version"), ModelVersion: e.attr("ModelVersion")}
	if m.PublicationDate, err = parseTime(e.attr("PublicationDate")); err != nil {
		return m, err
	}
	restrictions, err := parseUint(e.attr("AccessRestrictions"), 16)
	if err != nil {
		return m, err
	}
	m.AccessRestrictions = uint16(restrictions)
	for _, c := range e.children {
		switch c.name {
		case "RequiredModel":
			r, err := p.model(c)
			if err != nil {
				return m, err
			}
			m.Required = append(m.Required, r)
		case "RolePermissions":
			if m.RolePermissions, err = p.rolePermissions(c); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

func (p *parser) rolePermissions(e *element) ([]ua.RolePermissionType, error) {
	var out []ua.RolePermissionType
	for _, c := range e.children {
		id, err := p.nodeID(c.text)
		if err != nil {
			return nil, at(c, err)
		}
		bits, err := parseUint(c.attr("Permissions"), 32)
		if err != nil {
			return nil, at(c, err)
		}
		out = append(out, ua.RolePermissionType{RoleID: id, Permissions: ua.PermissionType(bits)})
	}
	return out, nil
}

func label(e *element) string { return e.attr("NodeId") + " (" + e.attr("BrowseName") + ")" }

func (p *parser) node(e *element, class ua.NodeClass) (*Node, error) {
	a := attributes{p: p, e: e}
	_, restricted := e.lookup("AccessRestrictions")
	n := &Node{
		Class:                   class,
		ID:                      a.id("NodeId", ua.NodeID{}),
		Parent:                  a.id("ParentNodeId", ua.NodeID{}),
		SymbolicName:            e.attr("SymbolicName"),
		WriteMask:               a.uint("WriteMask", 0, 32),
		UserWriteMask:           a.uint("UserWriteMask", 0, 32),
		AccessRestrictions:      uint16(a.uint("AccessRestrictions", 0, 16)),
		HasAccessRestrictions:   restricted,
		IsAbstract:              a.bool("IsAbstract", false),
		Symmetric:               a.bool("Symmetric", false),
		EventNotifier:           uint8(a.uint("EventNotifier", 0, 8)),
		ValueRank:               int32(a.int("ValueRank", -1, 32)),
		ArrayDimensions:         a.dimensions("ArrayDimensions"),
		AccessLevel:             a.uint("AccessLevel", 1, 32),
		MinimumSamplingInterval: a.float("MinimumSamplingInterval"),
		Historizing:             a.bool("Historizing", false),
		Executable:              a.bool("Executable", true),
		UserExecutable:          a.bool("UserExecutable", true),
		ContainsNoLoops:         a.bool("ContainsNoLoops", false),
		MethodDeclaration:       a.id("MethodDeclarationId", ua.NodeID{}),
		Line:                    e.line,
		Label:                   label(e),
	}
	n.UserAccessLevel = a.uint("UserAccessLevel", n.AccessLevel, 32)
	if class == ua.NodeClassVariable || class == ua.NodeClassVariableType {
		n.DataType = a.id("DataType", ua.ID(baseDataType))
	}
	var err error
	n.BrowseName, err = p.browseName(e.attr("BrowseName"))
	a.fail("BrowseName", err)
	if n.ID.IsNull() {
		a.fail("NodeId", fmt.Errorf("missing or null"))
	}
	if a.err != nil {
		return nil, a.err
	}
	for _, c := range e.children {
		if err := p.nodeChild(n, c); err != nil {
			return nil, at(c, err)
		}
	}
	if len(n.DisplayName) == 0 {
		n.DisplayName = []ua.LocalizedText{{Text: n.BrowseName.Name}}
	}
	return n, nil
}

func localized(e *element) ua.LocalizedText {
	return ua.LocalizedText{Locale: e.attr("Locale"), Text: e.text}
}

func (p *parser) nodeChild(n *Node, e *element) (err error) {
	switch e.name {
	case "DisplayName":
		n.DisplayName = append(n.DisplayName, localized(e))
	case "Description":
		n.Description = append(n.Description, localized(e))
	case "InverseName":
		n.InverseName = append(n.InverseName, localized(e))
	case "Documentation":
		n.Documentation = strings.TrimSpace(e.text)
	case "RolePermissions":
		n.RolePermissions, err = p.rolePermissions(e)
	case "References":
		for _, c := range e.children {
			a := attributes{p: p, e: c}
			r := Reference{Type: a.id("ReferenceType", ua.NodeID{}), Forward: a.bool("IsForward", true)}
			if a.err != nil {
				return at(c, a.err)
			}
			if r.Target, err = p.nodeID(c.text); err != nil {
				return at(c, err)
			}
			n.References = append(n.References, r)
		}
	case "Value":
		switch {
		case p.options.SkipValues || len(e.children) == 0:
		case p.options.LaterValues:
			n.value = e.children[0]
		default:
			n.Value, err = p.variant(e.children[0])
		}
	case "Definition":
		n.Definition, err = p.definition(e)
	}
	return err
}
