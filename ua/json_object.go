package ua

import (
	"math"
	"slices"
	"strings"
)

// nodeID reads a NodeId or ExpandedNodeId: a string (Part 6, 5.4.2.10), or an object of older senders
// (Part 6, H.2 and H.3).
func (d *jsonReader) nodeID(n *jsonNode, expanded bool) (e ExpandedNodeID, err error) {
	switch n.kind {
	case jsonString:
		if e, err = ParseExpandedNodeID(n.text); err != nil {
			return ExpandedNodeID{}, badJSON("%s", err.(*textError).reason)
		}
	case jsonObject:
		if e, err = d.nodeIDObject(n); err != nil {
			return ExpandedNodeID{}, err
		}
	default:
		return ExpandedNodeID{}, badJSON("%v where a NodeId is due", n.kind)
	}
	if id, ok := e.resolveLocal(d.Namespaces); ok {
		e.NodeID, e.NamespaceURI = id, ""
	}
	switch {
	case expanded || e.IsLocal():
		return e, nil
	case e.ServerIndex != 0:
		return ExpandedNodeID{}, badJSON("a NodeId with a server index")
	case d.Namespaces == nil || n.kind != jsonString:
		return ExpandedNodeID{}, badJSON("the namespace %q is not known", e.NamespaceURI)
	}
	// Part 6, 5.4.2.10: what the table of namespaces does not know is kept as a string.
	return NewStringNodeID(0, n.text).Expanded(), nil
}

// resolveLocal replaces the URI by the index, whatever the server is.
func (e ExpandedNodeID) resolveLocal(namespaces []string) (NodeID, bool) {
	if e.NamespaceURI == "http://opcfoundation.org/UA/" {
		return e.NodeID.WithNamespace(0), true
	}
	return resolve(e, namespaces)
}

func (d *jsonReader) nodeIDObject(n *jsonNode) (e ExpandedNodeID, err error) {
	var kind, namespace, server int64
	id := n.get("Id")
	if id == nil {
		return e, badJSON("a NodeId without an Id")
	}
	if k := n.get("IdType"); k != nil {
		if kind, err = integer(k, 0, uint64(IDTypeOpaque)); err != nil {
			return e, inField(err, "IdType")
		}
	}
	if s := n.get("Namespace"); s != nil {
		if s.kind == jsonString {
			e.NamespaceURI = s.text
		} else if namespace, err = integer(s, 0, math.MaxUint16); err != nil {
			return e, inField(err, "Namespace")
		}
	}
	if s := n.get("ServerUri"); s != nil {
		if server, err = integer(s, 0, math.MaxUint32); err != nil {
			return e, inField(err, "ServerUri")
		}
	}
	e.ServerIndex = uint32(server)
	types := [...]BuiltInType{TypeUInt32, TypeString, TypeGUID, TypeByteString}
	v, err := d.scalar(id, types[kind], nil)
	if err != nil {
		return e, inField(err, "Id")
	}
	switch IDType(kind) {
	case IDTypeNumeric:
		e.NodeID = NewNodeID(uint16(namespace), uint32(v.num))
	case IDTypeString:
		e.NodeID = NewStringNodeID(uint16(namespace), v.str())
	case IDTypeGUID:
		e.NodeID = NewGUIDNodeID(uint16(namespace), *(*GUID)(v.ptr))
	default:
		e.NodeID = NewOpaqueNodeID(uint16(namespace), v.bytes())
	}
	return e, nil
}

// qualifiedName reads a string (Part 6, 5.4.2.14), or an object of older senders (Part 6, H.5).
func (d *jsonReader) qualifiedName(n *jsonNode) (q QualifiedName, err error) {
	switch n.kind {
	case jsonString:
		uri, name, isURI := strings.Cut(strings.TrimPrefix(n.text, "nsu="), ";")
		if !isURI || !strings.HasPrefix(n.text, "nsu=") {
			if q, err = ParseQualifiedName(n.text); err != nil {
				return q, badJSON("%s", err.(*textError).reason)
			}
			q.Name = notNull(q.Name)
			return q, nil
		}
		uri, ok := unescapeURI(uri)
		if !ok {
			return q, badJSON("%.60q has a '%%' that two hexadecimal digits do not follow", n.text)
		}
		return d.named(uri, name)
	case jsonObject:
		if name := n.get("Name"); name != nil {
			v, err := d.element(name, TypeString, nil)
			if err != nil {
				return q, inField(err, "Name")
			}
			q.Name = v.str()
		}
		if uri := n.get("Uri"); uri != nil {
			if uri.kind == jsonString {
				return d.named(uri.text, q.Name)
			}
			i, err := integer(uri, 0, math.MaxUint16)
			if err != nil {
				return q, inField(err, "Uri")
			}
			q.NamespaceIndex = uint16(i)
		}
		return q, nil
	}
	return q, badJSON("%v where a QualifiedName is due", n.kind)
}

func (d *jsonReader) named(uri, name string) (QualifiedName, error) {
	i := slices.Index(d.Namespaces, uri)
	if i < 0 || i > math.MaxUint16 {
		return QualifiedName{}, badJSON("the namespace %q is not known", uri)
	}
	return QualifiedName{NamespaceIndex: uint16(i), Name: notNull(name)}, nil
}

// localizedText reads an object, or the text alone.
func (d *jsonReader) localizedText(n *jsonNode) (l LocalizedText, err error) {
	if n.kind == jsonString {
		v, err := d.text(n.text, TypeString)
		return LocalizedText{Text: v.str()}, err
	}
	err = d.object(n, "LocalizedText", func(key string, item *jsonNode) error {
		v, err := d.element(item, TypeString, nil)
		switch key {
		case "Locale":
			l.Locale = v.str()
		case "Text":
			l.Text = v.str()
		default:
			return errNoField
		}
		return err
	})
	return l, err
}

// errNoField is what the function of object returns for a field that it does not know.
var errNoField = BadNoMatch

// object calls f for all fields of an object.
func (d *jsonReader) object(n *jsonNode, what string, f func(key string, item *jsonNode) error) error {
	if n.kind == jsonNull {
		return nil
	}
	if n.kind != jsonObject {
		return badJSON("%v where a %s is due", n.kind, what)
	}
	for i, key := range n.keys {
		if err := f(key, &n.items[i]); err == errNoField {
			return badJSON("a %s has no field %q", what, key)
		} else if err != nil {
			return inField(err, key)
		}
	}
	return nil
}

func (d *jsonReader) dataValue(n *jsonNode) (v DataValue, err error) {
	err = d.object(n, "DataValue", func(key string, item *jsonNode) (err error) {
		var x Variant
		switch key {
		case "UaType":
			v.Value, err = d.typed(n)
			if e, ok := err.(*jsonError); ok {
				// The error names its field itself.
				return &jsonError{e.code, "", e.path + ": " + e.reason}
			}
			return err
		case "Value":
			// A Variant of its own in this place is the older form.
			if n.get("UaType") == nil {
				v.Value, err = d.variant(item)
			}
			return err
		case "Dimensions":
			return nil
		case "Status", "StatusCode":
			v.Status, err = d.statusCode(item)
			return err
		case "SourceTimestamp":
			x, err = d.element(item, TypeDateTime, nil)
			v.SourceTimestamp = DateTime(x.num)
			return err
		case "ServerTimestamp":
			x, err = d.element(item, TypeDateTime, nil)
			v.ServerTimestamp = DateTime(x.num)
			return err
		case "SourcePicoseconds":
			x, err = d.element(item, TypeUInt16, nil)
			v.SourcePicoseconds = min(uint16(x.num), 9999)
			return err
		case "ServerPicoseconds":
			x, err = d.element(item, TypeUInt16, nil)
			v.ServerPicoseconds = min(uint16(x.num), 9999)
			return err
		}
		return errNoField
	})
	return v, err
}

func (d *jsonReader) diagnosticInfo(n *jsonNode) (i DiagnosticInfo, err error) {
	err = d.object(n, "DiagnosticInfo", func(key string, item *jsonNode) (err error) {
		number := func(bit DiagnosticMask, to *int32) error {
			x, err := d.element(item, TypeInt32, nil)
			i.Mask |= bit
			*to = int32(x.num)
			return err
		}
		switch key {
		case "SymbolicId":
			return number(DiagnosticSymbolicID, &i.SymbolicID)
		case "NamespaceUri":
			return number(DiagnosticNamespaceURI, &i.NamespaceURI)
		case "Locale":
			return number(DiagnosticLocale, &i.Locale)
		case "LocalizedText":
			return number(DiagnosticLocalizedText, &i.LocalizedText)
		case "AdditionalInfo":
			x, err := d.element(item, TypeString, nil)
			i.Mask |= DiagnosticAdditionalInfo
			i.AdditionalInfo = x.str()
			return err
		case "InnerStatusCode":
			i.Mask |= DiagnosticInnerStatusCode
			i.InnerStatusCode, err = d.statusCode(item)
			return err
		case "InnerDiagnosticInfo":
			inner, err := d.diagnosticInfo(item)
			i.Mask |= DiagnosticInner
			i.Inner = &inner
			return err
		}
		return errNoField
	})
	return i, err
}
