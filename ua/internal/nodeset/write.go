package nodeset

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/actua/actua/ua"
)

// Writer writes nodes in the UANodeSet format (Part 6, Annex F). The first error sticks and is what
// File returns.
type Writer struct {
	// URI is the namespace with an index of the server; "" when it has none. Namespaces get their
	// indexes of the file in the order in which they are met.
	URI func(index uint16) string
	// Structure describes structures that package ua does not know, by the id of their binary encoding.
	Structure func(id ua.NodeID) *ua.StructureInfo
	// Local is an id with the server's index of its namespace; false when the server has none.
	Local func(id ua.ExpandedNodeID) (ua.NodeID, bool)
	// Model has what is known of a model: version, date, who may do what by default. May be nil.
	Model func(uri string) Model

	indexes map[uint16]uint16
	uris    []string
	b       []byte
	err     error
}

func (w *Writer) fail(err error) {
	if w.err == nil && err != nil {
		w.err = err
	}
}

func (w *Writer) raw(parts ...string) {
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
}

// escaped appends text. What XML cannot hold, most control characters, is an error.
func (w *Writer) escaped(text string) {
	if !utf8.ValidString(text) {
		w.fail(fmt.Errorf("the text %.40q is not UTF-8, which XML cannot hold", text))
	}
	for _, r := range text {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			w.fail(fmt.Errorf("the text %.40q has the character %U, which XML cannot hold", text, r))
		}
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	w.raw(b.String())
}

func (w *Writer) attr(name, value string) {
	w.raw(" ", name, `="`)
	w.escaped(value)
	w.raw(`"`)
}

func (w *Writer) flag(name string, value, def bool) {
	if value != def {
		w.attr(name, strconv.FormatBool(value))
	}
}

func (w *Writer) number(name string, value, def int64) {
	if value != def {
		w.attr(name, strconv.FormatInt(value, 10))
	}
}

// element writes an element with text.
func (w *Writer) element(name, text string) {
	w.raw("<", name, ">")
	w.escaped(text)
	w.raw("</", name, ">")
}

func (w *Writer) texts(name string, list []ua.LocalizedText) {
	for _, t := range list {
		if t.Text == "" && t.Locale == "" {
			continue
		}
		w.raw("<", name)
		if t.Locale != "" {
			w.attr("Locale", t.Locale)
		}
		w.raw(">")
		w.escaped(t.Text)
		w.raw("</", name, ">")
	}
}

// index is the file's index of a namespace.
func (w *Writer) index(server uint16) uint16 {
	if server == 0 {
		return 0
	}
	if i, ok := w.indexes[server]; ok {
		return i
	}
	uri := w.URI(server)
	if uri == "" {
		w.fail(fmt.Errorf("the namespace with index %d has no URI", server))
	}
	if w.indexes == nil {
		w.indexes = map[uint16]uint16{}
	}
	w.uris = append(w.uris, uri)
	w.indexes[server] = uint16(len(w.uris))
	return uint16(len(w.uris))
}

func (w *Writer) id(id ua.NodeID) string { return id.WithNamespace(w.index(id.Namespace())).String() }

func (w *Writer) name(q ua.QualifiedName) string {
	q.NamespaceIndex = w.index(q.NamespaceIndex)
	return q.String()
}

func dimensions(list []uint32) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.FormatUint(uint64(n), 10)
	}
	return strings.Join(parts, ",")
}

var classNames = func() map[ua.NodeClass]string {
	m := map[ua.NodeClass]string{}
	for name, class := range nodeClasses {
		m[class] = name
	}
	return m
}()

// Node writes a node. Of the definition of a structure the first fields, as many as inherited says,
// are those of its base types, which a file does not repeat.
func (w *Writer) Node(n *Node, definition ua.Structure, inherited int) {
	before := w.err
	element := classNames[n.Class]
	w.raw("<", element)
	w.attr("NodeId", w.id(n.ID))
	w.attr("BrowseName", w.name(n.BrowseName))
	if !n.Parent.IsNull() {
		w.attr("ParentNodeId", w.id(n.Parent))
	}
	w.number("WriteMask", int64(n.WriteMask), 0)
	if n.HasAccessRestrictions {
		w.attr("AccessRestrictions", strconv.FormatUint(uint64(n.AccessRestrictions), 10))
	}
	w.flag("IsAbstract", n.IsAbstract, false)
	switch n.Class {
	case ua.NodeClassVariable, ua.NodeClassVariableType:
		w.attr("DataType", w.id(n.DataType))
		w.number("ValueRank", int64(n.ValueRank), -1)
		if len(n.ArrayDimensions) > 0 {
			w.attr("ArrayDimensions", dimensions(n.ArrayDimensions))
		}
		if n.Class == ua.NodeClassVariableType {
			break
		}
		w.number("AccessLevel", int64(n.AccessLevel), 1)
		if n.MinimumSamplingInterval != 0 {
			w.attr("MinimumSamplingInterval", formatFloat(n.MinimumSamplingInterval, 64))
		}
		w.flag("Historizing", n.Historizing, false)
	case ua.NodeClassObject, ua.NodeClassView:
		w.number("EventNotifier", int64(n.EventNotifier), 0)
		w.flag("ContainsNoLoops", n.ContainsNoLoops, false)
	case ua.NodeClassMethod:
		w.flag("Executable", n.Executable, true)
	case ua.NodeClassReferenceType:
		w.flag("Symmetric", n.Symmetric, false)
	}
	w.raw(">\n")
	w.texts("DisplayName", n.DisplayName)
	w.texts("Description", n.Description)
	if len(n.References) > 0 {
		w.raw("<References>\n")
		for _, r := range n.References {
			w.raw("<Reference")
			w.attr("ReferenceType", w.id(r.Type))
			w.flag("IsForward", r.Forward, true)
			w.raw(">")
			w.escaped(w.id(r.Target))
			w.raw("</Reference>\n")
		}
		w.raw("</References>\n")
	}
	w.roles(n.RolePermissions)
	w.texts("InverseName", n.InverseName)
	if n.Value.Type() != ua.TypeNull {
		w.raw("<Value>")
		w.value(n.Value)
		w.raw("</Value>\n")
	}
	if definition != nil {
		w.definition(n, definition, inherited)
	}
	w.raw("</", element, ">\n")
	if before == nil && w.err != nil {
		w.err = fmt.Errorf("node %s (%s): %w", n.ID, n.BrowseName.Name, w.err)
	}
}

func (w *Writer) definition(n *Node, definition ua.Structure, inherited int) {
	w.raw("<Definition")
	w.attr("Name", w.name(n.BrowseName))
	switch d := definition.(type) {
	case *ua.EnumDefinition:
		w.flag("IsOptionSet", n.Definition != nil && n.Definition.IsOptionSet, false)
		w.raw(">\n")
		for i := range d.Fields {
			f := &d.Fields[i]
			w.raw("<Field")
			w.attr("Name", f.Name)
			w.attr("Value", strconv.FormatInt(f.Value, 10))
			w.raw(">")
			w.texts("DisplayName", []ua.LocalizedText{f.DisplayName})
			w.texts("Description", []ua.LocalizedText{f.Description})
			w.raw("</Field>\n")
		}
	case *ua.StructureDefinition:
		subtypes := d.StructureType >= ua.StructureTypeStructureWithSubtypedValues
		w.flag("IsUnion", d.StructureType.Kind() == ua.StructureUnion, false)
		w.raw(">\n")
		for i := range d.Fields[min(inherited, len(d.Fields)):] {
			f := &d.Fields[inherited+i]
			w.raw("<Field")
			w.attr("Name", f.Name)
			w.attr("DataType", w.id(f.DataType))
			w.number("ValueRank", int64(f.ValueRank), -1)
			if len(f.ArrayDimensions) > 0 {
				w.attr("ArrayDimensions", dimensions(f.ArrayDimensions))
			}
			w.number("MaxStringLength", int64(f.MaxStringLength), 0)
			w.flag("IsOptional", f.IsOptional && !subtypes, false)
			w.flag("AllowSubTypes", f.IsOptional && subtypes, false)
			w.raw(">")
			w.texts("Description", []ua.LocalizedText{f.Description})
			w.raw("</Field>\n")
		}
	default:
		w.raw(">")
	}
	w.raw("</Definition>\n")
}

// File is the whole file. models are those of the nodes; all others of the namespaces that were met are
// required by them.
func (w *Writer) File(models []string) ([]byte, error) {
	body := w.b
	w.b = nil
	w.raw(xml.Header, `<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">`, "\n<NamespaceUris>\n")
	required := []string{"http://opcfoundation.org/UA/"}
	ours := map[string]bool{}
	known := make([]Model, len(models))
	for i, uri := range models {
		ours[uri] = true
		known[i] = w.known(uri)
		for _, r := range known[i].RolePermissions {
			w.index(r.RoleID.Namespace()) // so that the file has the namespace
		}
	}
	for _, uri := range w.uris {
		w.element("Uri", uri)
		w.raw("\n")
		if !ours[uri] {
			required = append(required, uri)
		}
	}
	w.raw("</NamespaceUris>\n<Models>\n")
	for i, uri := range models {
		w.raw("<Model")
		w.model(uri, known[i])
		w.number("AccessRestrictions", int64(known[i].AccessRestrictions), 0)
		w.raw(">\n")
		w.roles(known[i].RolePermissions)
		for _, r := range required {
			w.raw("<RequiredModel")
			w.model(r, w.known(r))
			w.raw(" />\n")
		}
		w.raw("</Model>\n")
	}
	w.raw("</Models>\n")
	out := append(append(w.b, body...), "</UANodeSet>\n"...)
	w.b = body
	return out, w.err
}

// roles writes who may do what.
func (w *Writer) roles(list []ua.RolePermissionType) {
	if len(list) == 0 {
		return
	}
	w.raw("<RolePermissions>\n")
	for _, r := range list {
		w.raw("<RolePermission")
		w.attr("Permissions", strconv.FormatUint(uint64(r.Permissions), 10))
		w.raw(">")
		w.escaped(w.id(r.RoleID))
		w.raw("</RolePermission>\n")
	}
	w.raw("</RolePermissions>\n")
}

// known is what is known of a model.
func (w *Writer) known(uri string) Model {
	if w.Model == nil {
		return Model{}
	}
	return w.Model(uri)
}

// model writes the attributes that models and required ones have.
func (w *Writer) model(uri string, m Model) {
	w.attr("ModelUri", uri)
	if m.Version != "" {
		w.attr("Version", m.Version)
	}
	if !m.PublicationDate.IsZero() {
		w.attr("PublicationDate", m.PublicationDate.Time().UTC().Format(time.RFC3339Nano))
	}
}
