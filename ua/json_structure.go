package ua

import (
	"strconv"
	"strings"

	"github.com/actua/actua/ua/uabin"
)

// structured reads an ExtensionObject whose type may be known from elsewhere.
func (d *jsonReader) structured(n *jsonNode, info *StructureInfo) (ExtensionObject, error) {
	if info == nil || n.get("UaTypeId") != nil || n.get("TypeId") != nil && n.get("Body") != nil {
		return d.extensionObject(n)
	}
	if info.New == nil {
		return ExtensionObject{}, badJSON("%s is abstract; UaTypeId has to name the type", info.Name)
	}
	s := info.New()
	if err := d.structure(n, s, info); err != nil {
		return ExtensionObject{}, err
	}
	if d.Types != nil {
		if e, err := d.Types.Wrap(s); err == nil {
			return e, nil
		}
	}
	id, ok := s.BinaryID().resolveLocal(d.Namespaces)
	if !ok {
		return ExtensionObject{}, badJSON("the namespace %q is not known", s.BinaryID().NamespaceURI)
	}
	return ExtensionObject{TypeID: id, Value: s}, nil
}

func (d *jsonReader) extensionObject(n *jsonNode) (e ExtensionObject, err error) {
	switch {
	case n.kind == jsonNull:
		return e, nil
	case n.kind != jsonObject:
		return e, badJSON("%v where a structure is due", n.kind)
	case len(n.keys) == 0:
		return e, nil
	}
	key, old := "UaTypeId", false
	if n.get(key) == nil {
		if key, old = "TypeId", true; n.get(key) == nil {
			return e, badJSON("a structure without UaTypeId")
		}
	}
	id, err := d.nodeID(n.get(key), true)
	if err != nil {
		return e, inField(err, key)
	}
	s, binaryID, info := d.find(id)
	encoding, body := n.get("UaEncoding"), n.get("UaBody")
	if old {
		encoding, body = n.get("Encoding"), n.get("Body")
		if encoding == nil || encoding.text == "0" {
			if body == nil || body.kind == jsonNull {
				e.TypeID = typeOfBody(id, s, binaryID, info, BodyNone)
				return e, nil
			}
			e, err = d.fromFields(body, id, s, binaryID, info)
			return e, inField(err, "Body")
		}
	} else if encoding == nil {
		rest := jsonNode{kind: jsonObject, jsonNest: new(jsonNest)}
		for i, key := range n.keys {
			if key != "UaTypeId" {
				rest.keys, rest.items = append(rest.keys, key), append(rest.items, n.items[i])
			}
		}
		return d.fromFields(&rest, id, s, binaryID, info)
	}
	return d.fromBody(id, s, binaryID, info, encoding, body, old)
}

// find makes a value of the type that a node names, and tells its binary encoding and description;
// nil if nobody knows it.
func (d *jsonReader) find(id ExpandedNodeID) (s Structure, binaryID NodeID, info *StructureInfo) {
	if id.IsLocal() && id.NodeID.namespace == 0 && id.NodeID.kind == IDTypeNumeric {
		info = StructureOf(id.NodeID.numeric)
		if info == nil {
			info = StructureOfEncoding(id.NodeID.numeric)
		}
		if info == nil || info.New == nil || info.BinaryID.IsNull() {
			return nil, NodeID{}, info
		}
		return info.New(), info.BinaryID.NodeID, info
	}
	if d.Types != nil && id.ServerIndex == 0 {
		if s, binaryID, ok := d.Types.find(id); ok {
			return s, binaryID, describe(s)
		}
	}
	return nil, NodeID{}, nil
}

func (d *jsonReader) fromFields(n *jsonNode, id ExpandedNodeID, s Structure, binaryID NodeID, info *StructureInfo) (ExtensionObject, error) {
	if s == nil || info == nil {
		return ExtensionObject{}, badJSON("the fields of %v are not known", id)
	}
	if err := d.structure(n, s, info); err != nil {
		return ExtensionObject{}, err
	}
	return ExtensionObject{TypeID: binaryID, Value: s}, nil
}

// typeOfBody is the encoding that stands for a type in the binary form. JSON names the data type, or the
// encoding itself.
func typeOfBody(id ExpandedNodeID, s Structure, binaryID NodeID, info *StructureInfo, encoding BodyEncoding) NodeID {
	known := info != nil && id.IsLocal() && id.NodeID.namespace == 0
	switch {
	case known && id != info.DataTypeID: // it names the encoding itself
	case known && encoding == BodyXML:
		if !info.XMLID.IsNull() {
			return info.XMLID.NodeID
		}
	case s != nil && encoding != BodyXML:
		return binaryID
	}
	return id.NodeID
}

// fromBody reads a body in the binary or XML encoding; one that cannot be decoded is kept.
func (d *jsonReader) fromBody(id ExpandedNodeID, s Structure, binaryID NodeID, info *StructureInfo, encoding, body *jsonNode, old bool) (e ExtensionObject, err error) {
	kind, err := integer(encoding, 0, uint64(BodyXML))
	if err != nil {
		return e, inField(err, "UaEncoding")
	}
	e.Encoding = BodyEncoding(kind)
	e.TypeID = typeOfBody(id, s, binaryID, info, e.Encoding)
	if !id.IsLocal() && s == nil {
		return e, badJSON("the namespace %q is not known", id.NamespaceURI)
	}
	if e.Encoding == BodyNone {
		return e, nil
	}
	if body != nil && body.kind != jsonNull {
		t := TypeByteString
		if old && e.Encoding == BodyXML {
			t = TypeString // the older form has the XML itself
		}
		v, err := d.scalar(body, t, nil)
		if err != nil {
			return e, inField(err, "UaBody")
		}
		if e.Body = v.bytes(); t == TypeString {
			e.Body = []byte(v.str())
		}
	}
	if s == nil || e.Encoding != BodyBinary || e.TypeID != binaryID || e.Body == nil {
		return e, nil
	}
	r := d.binary(e.Body)
	if s.DecodeBinary(r); r.OK() && r.Remaining() == 0 {
		e.Value, e.Body, e.Encoding = s, nil, BodyNone
	}
	return e, nil
}

func (d *jsonReader) binary(b []byte) *uabin.Reader {
	r := new(uabin.Reader)
	r.Reset(b, d.Limits)
	if d.Types != nil {
		r.Types = d.Types
	}
	return r
}

// structure reads the fields of an object into s by way of the binary form.
func (d *jsonReader) structure(n *jsonNode, s Structure, info *StructureInfo) error {
	b, err := d.appendStructure(nil, n, info)
	if err != nil {
		return err
	}
	r := d.binary(b)
	s.DecodeBinary(r)
	if err := r.Err(); err != nil {
		return &jsonError{code: StatusOf(err), reason: err.(*uabin.Error).Reason}
	}
	if r.Remaining() != 0 {
		return badJSON("the description of %s has more fields than the structure", info.Name)
	}
	return nil
}

const (
	// maxFieldDepth is how deep structures may contain each other as fields.
	maxFieldDepth = 400
	// minAbsent is how many nested structures any text may leave out, beside one for each byte: each
	// takes the defaults of all its fields, those of further structures among them.
	minAbsent = 100_000
)

var noFields jsonNest

// appendStructure appends the binary form of the fields of an object.
func (d *jsonReader) appendStructure(b []byte, n *jsonNode, info *StructureInfo) ([]byte, error) {
	// The description of a type may come from a peer and contain itself.
	if d.depth++; d.depth > maxFieldDepth || d.absent < 0 {
		return b, jsonLimit("structures nested deeper than %d, or too many that are not in the text", maxFieldDepth)
	}
	defer func() { d.depth-- }()
	if n.kind == jsonNull {
		n = &jsonNode{kind: jsonObject, jsonNest: &noFields}
	}
	if n.kind != jsonObject {
		return b, badJSON("%v where the fields of a %s are due", n.kind, info.Name)
	}
	head, value, err := d.head(n, info)
	if err != nil {
		return b, err
	}
	if info.Kind != StructurePlain {
		b = uabin.AppendUint32(b, head)
	}
	info.each(head, func(f *Field, present bool) {
		if !present || err != nil {
			return
		}
		item := n.get(f.Name)
		if item == nil {
			item = value // of a union in the older form; else nil
		}
		if item == nil {
			if f.nested() {
				d.absent--
			}
			item = new(jsonNode)
		}
		b, err = d.appendField(b, item, f)
		err = inField(err, f.Name)
	})
	return b, err
}

// head finds out which fields are present, and refuses those that the structure does not have. value
// is the value of a union in the older form, {"SwitchField":2,"Value":3.14}.
func (d *jsonReader) head(n *jsonNode, info *StructureInfo) (head uint32, value *jsonNode, err error) {
	given, known := 0, uint32(0)
	bit := uint32(1)
	for i := range info.Fields {
		f := &info.Fields[i]
		there := n.get(f.Name) != nil
		if there {
			given++
		}
		switch {
		case info.Kind == StructureUnion:
			if there {
				head = uint32(i + 1)
			}
		case info.Kind == StructureWithOptionalFields && f.Optional:
			if there {
				head |= bit
			}
			known |= bit
			bit <<= 1
		}
	}
	control := ""
	most := uint64(known)
	switch info.Kind {
	case StructureUnion:
		control, most = "SwitchField", uint64(len(info.Fields))
		if given > 1 {
			return 0, nil, badJSON("%d fields of the union %s, of which only one can be set", given, info.Name)
		}
	case StructureWithOptionalFields:
		control = "EncodingMask"
	}
	if c := n.get(control); c != nil && control != "" {
		given++
		number, err := integer(c, 0, most)
		if err != nil {
			return 0, nil, inField(err, control)
		}
		chosen := uint32(number)
		switch {
		case info.Kind == StructureUnion && head != 0 && head != chosen:
			return 0, nil, badJSON("SwitchField %d is not that of field %s", chosen, info.Fields[head-1].Name)
		case head&^chosen != 0 && info.Kind != StructureUnion:
			return 0, nil, badJSON("EncodingMask %d leaves out a field that is there", chosen)
		case info.Kind != StructureUnion && chosen&^known != 0:
			return 0, nil, badJSON("EncodingMask %d has bits of no field", chosen)
		case info.Kind == StructureUnion && head == 0 && n.get("Value") != nil:
			value = n.get("Value")
			given++
		}
		head = chosen
	}
	if given == len(n.keys) {
		return head, value, nil
	}
	for _, key := range n.keys {
		if key != control && !(key == "Value" && value != nil) && !info.hasField(key) {
			return 0, nil, badJSON("a %s has no field %q", info.Name, key)
		}
	}
	return head, value, nil
}

func (i *StructureInfo) hasField(name string) bool {
	for n := range i.Fields {
		if i.Fields[n].Name == name {
			return true
		}
	}
	return false
}

func (d *jsonReader) appendField(b []byte, n *jsonNode, f *Field) ([]byte, error) {
	if !f.Array {
		return d.appendElement(b, n, f)
	}
	switch {
	case n.kind == jsonNull:
		return uabin.AppendInt32(b, -1), nil
	case n.kind != jsonArray:
		return b, badJSON("%v where an array is due", n.kind)
	case len(n.items) > d.limits.MaxArray:
		return b, jsonLimit("array of %d elements, the limit is %d", len(n.items), d.limits.MaxArray)
	}
	b = uabin.AppendInt32(b, int32(len(n.items)))
	var err error
	for i := range n.items {
		if b, err = d.appendElement(b, &n.items[i], f); err != nil {
			return b, inElement(err, i)
		}
	}
	return b, nil
}

func (d *jsonReader) appendElement(b []byte, n *jsonNode, f *Field) ([]byte, error) {
	if f.Struct != nil {
		return d.appendStructure(b, n, f.Struct)
	}
	if f.Enum != nil && n.kind == jsonString {
		v, err := f.Enum.parse(n.text, f.Type)
		if err != nil {
			return b, err
		}
		return appendBuiltIn(b, f.Type, v), nil
	}
	v, err := d.element(n, f.Type, nil)
	if err != nil {
		return b, err
	}
	return appendBuiltIn(b, f.Type, v), nil
}

// parse reads "Name_1", "Name" or the number of an enumeration (Part 6, 5.4.4).
func (e *EnumInfo) parse(s string, t BuiltInType) (Variant, error) {
	low, high := integerBounds(t)
	number := s
	if i := strings.LastIndexByte(s, '_'); i >= 0 {
		number = s[i+1:]
	}
	if i, ok := exactInteger(number, low, high); ok {
		return small(t, uint64(i)), nil
	}
	for _, v := range e.Values {
		if v.Name == s {
			return small(t, uint64(v.Value)), nil
		}
	}
	return Variant{}, badJSON("%s is no value of %s", strconv.Quote(s[:min(len(s), 60)]), e.Name)
}
