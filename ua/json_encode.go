package ua

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/actua/actua/ua/uabin"
)

// JSONEncoding is a form of the JSON encoding (Part 6, 5.4.1). Both are read without being told which.
type JSONEncoding uint8

// The forms of JSON.
const (
	// JSONCompact leaves out fields that are null or have the default of their type.
	JSONCompact JSONEncoding = iota
	// JSONVerbose has all fields, enumerations as "Name_Value" and the symbols of status codes.
	JSONVerbose
)

// JSONOptions say how values are written to JSON and read from it (Part 6, 5.4). The zero value is
// ready. It may be used by several goroutines while nobody changes it.
type JSONOptions struct {
	Encoding JSONEncoding
	// Namespaces is the NamespaceArray by which NodeIds and QualifiedNames are written with namespace
	// URIs and read from them. Without it they are written with the index.
	Namespaces []string
	// Types knows the structures of namespaces other than 0; nil for none.
	Types *TypeTable
	// MaxDepth is how deep values may be nested when they are read; 0 stands for 100. Text that is
	// nested deeper gives BadEncodingLimitsExceeded.
	MaxDepth int
	// Limits bound what is read, as they do in the binary encoding. MaxDepth has no meaning here.
	Limits uabin.Limits
}

// jsonWriter writes values; plain is the form of AppendValue.
type jsonWriter struct {
	*JSONOptions
	plain bool
}

// AppendVariant appends a Variant with its type: {"UaType":11,"Value":21.5}; a null one as null
// (Part 6, 5.4.2.17). Since the standard has no form for a null array, "Value":null stands for one; a
// scalar that is null has no "Value".
func (o *JSONOptions) AppendVariant(b []byte, v Variant) []byte {
	return (&jsonWriter{JSONOptions: o}).variant(b, v)
}

// AppendValue appends a value without its type, for readers that know it: 21.5. An array of several
// dimensions is written as nested arrays and a status code as its name; all else is as in
// AppendVariant.
func (o *JSONOptions) AppendValue(b []byte, v Variant) []byte {
	w := &jsonWriter{JSONOptions: o, plain: true}
	switch v.shape {
	case multi:
		if v.Len() > 0 {
			at := 0
			return w.nested(b, v, 0, &at)
		}
	case array:
		return w.array(b, v)
	}
	return w.scalar(b, v.typ, v)
}

// AppendDataValue appends a DataValue (Part 6, 5.4.2.18).
func (o *JSONOptions) AppendDataValue(b []byte, d DataValue) []byte {
	return (&jsonWriter{JSONOptions: o}).dataValue(b, &d)
}

// AppendExtensionObject appends a structure with its data type (Part 6, 5.4.2.16): as an object of its
// fields when its description is known, otherwise with its binary or XML form in base64, so that it
// can be read back unchanged.
func (o *JSONOptions) AppendExtensionObject(b []byte, e ExtensionObject) []byte {
	return (&jsonWriter{JSONOptions: o}).extensionObject(b, &e)
}

// AppendStructure appends a structure as an object of its fields, without its type (Part 6, 5.4.6 to
// 5.4.8). One that has no description is appended as AppendExtensionObject does.
func (o *JSONOptions) AppendStructure(b []byte, s Structure) []byte {
	w := &jsonWriter{JSONOptions: o}
	if info := describe(s); info != nil {
		return w.structure(b, s, info)
	}
	return w.extensionObject(b, &ExtensionObject{Value: s})
}

// AppendNodeID appends a NodeID as a string (Part 6, 5.4.2.10).
func (o *JSONOptions) AppendNodeID(b []byte, n NodeID) []byte {
	return (&jsonWriter{JSONOptions: o}).text(b, n.Expanded())
}

// AppendExpandedNodeID appends an ExpandedNodeID as a string (Part 6, 5.4.2.11).
func (o *JSONOptions) AppendExpandedNodeID(b []byte, e ExpandedNodeID) []byte {
	return (&jsonWriter{JSONOptions: o}).text(b, e)
}

func (w *jsonWriter) variant(b []byte, v Variant) []byte {
	if v.typ == TypeNull {
		return append(b, "null"...)
	}
	return append(w.typed(append(b, '{'), v), '}')
}

// typed appends the fields of a Variant, which those of a DataValue contain as well.
func (w *jsonWriter) typed(b []byte, v Variant) []byte {
	b = append(b, `"UaType":`...)
	b = strconv.AppendUint(b, uint64(v.typ), 10)
	if v.shape == scalar {
		if v.isNullValue() {
			return b
		}
		return w.scalar(append(b, `,"Value":`...), v.typ, v)
	}
	b = w.array(append(b, `,"Value":`...), v)
	if v.shape == multi {
		b = append(b, `,"Dimensions":[`...)
		for i, n := range (*matrix)(v.ptr).dims {
			b = strconv.AppendUint(comma(b, i), uint64(n), 10)
		}
		b = append(b, ']')
	}
	return b
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// array appends all elements in one JSON array, or null.
func (w *jsonWriter) array(b []byte, v Variant) []byte {
	if v.IsNull() {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range v.Len() {
		b = w.scalar(comma(b, i), v.typ, v.Index(i))
	}
	return append(b, ']')
}

// nested appends dimension dim of an array of several dimensions, from element at on.
func (w *jsonWriter) nested(b []byte, v Variant, dim int, at *int) []byte {
	b = append(b, '[')
	for i := range v.length(dim) {
		b = comma(b, i)
		if dim+1 < v.rank() {
			b = w.nested(b, v, dim+1, at)
		} else {
			b = w.scalar(b, v.typ, v.Index(*at))
			*at++
		}
	}
	return append(b, ']')
}

// scalar appends a value of a built-in type; t is TypeVariant for a Variant within something else.
func (w *jsonWriter) scalar(b []byte, t BuiltInType, v Variant) []byte {
	if t == TypeVariant {
		return w.variant(b, v)
	}
	if v.isNullValue() {
		return append(b, "null"...)
	}
	switch t {
	case TypeBoolean:
		return strconv.AppendBool(b, v.num != 0)
	case TypeSByte, TypeInt16, TypeInt32:
		return strconv.AppendInt(b, int64(v.num), 10)
	case TypeByte, TypeUInt16, TypeUInt32:
		return strconv.AppendUint(b, v.num, 10)
	case TypeInt64:
		return append(strconv.AppendInt(append(b, '"'), int64(v.num), 10), '"')
	case TypeUInt64:
		return append(strconv.AppendUint(append(b, '"'), v.num, 10), '"')
	case TypeFloat:
		return appendJSONFloat(b, float64(math.Float32frombits(uint32(v.num))), 32)
	case TypeDouble:
		return appendJSONFloat(b, math.Float64frombits(v.num), 64)
	case TypeString, TypeXMLElement:
		return appendJSONString(b, v.str())
	case TypeByteString:
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), v.bytes()), '"')
	case TypeDateTime:
		return append(DateTime(v.num).appendText(append(b, '"')), '"')
	case TypeGUID:
		return append((*GUID)(v.ptr).appendText(append(b, '"')), '"')
	case TypeNodeID:
		return w.text(b, (*NodeID)(v.ptr).Expanded())
	case TypeExpandedNodeID:
		return w.text(b, *(*ExpandedNodeID)(v.ptr))
	case TypeStatusCode:
		return w.statusCode(b, StatusCode(v.num))
	case TypeQualifiedName:
		return w.qualifiedName(b, *(*QualifiedName)(v.ptr))
	case TypeLocalizedText:
		return w.localizedText(b, *(*LocalizedText)(v.ptr))
	case TypeExtensionObject:
		return w.extensionObject(b, (*ExtensionObject)(v.ptr))
	case TypeDataValue:
		return w.dataValue(b, (*DataValue)(v.ptr))
	case TypeDiagnosticInfo:
		return w.diagnosticInfo(b, (*DiagnosticInfo)(v.ptr))
	}
	return append(b, "null"...)
}

// appendJSONFloat appends the shortest number that reads back as the same; what JSON has no number
// for, as a string (Part 6, 5.4.2.4).
func appendJSONFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(b, f, form, -1, bits)
}

const hexDigits = "0123456789abcdef"

// appendJSONString appends a string; bytes that are not UTF-8 become U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ' || c == 0x7F:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

// text appends a NodeId or ExpandedNodeId: with the namespace URI if it is known.
func (w *jsonWriter) text(b []byte, e ExpandedNodeID) []byte {
	if i := int(e.NodeID.namespace); e.NamespaceURI == "" && i > 0 && i < len(w.Namespaces) {
		e.NamespaceURI = w.Namespaces[i]
	}
	return appendJSONString(b, e.String())
}

func (w *jsonWriter) qualifiedName(b []byte, q QualifiedName) []byte {
	if i := int(q.NamespaceIndex); i > 0 && i < len(w.Namespaces) && w.Namespaces[i] != "" {
		uri := appendURI([]byte("nsu="), w.Namespaces[i])
		return appendJSONString(b, string(uri)+";"+q.Name)
	}
	return appendJSONString(b, q.String())
}

func (w *jsonWriter) localizedText(b []byte, t LocalizedText) []byte {
	f := fields{b: append(b, '{')}
	if present(t.Locale) {
		f.b = appendJSONString(f.key("Locale"), t.Locale)
	}
	if present(t.Text) {
		f.b = appendJSONString(f.key("Text"), t.Text)
	}
	return append(f.b, '}')
}

// statusCode appends {"Code":n}, with "Symbol" in the verbose form (Part 6, 5.4.2.12).
func (w *jsonWriter) statusCode(b []byte, s StatusCode) []byte {
	if w.plain {
		if e := statusEntry(s); e != nil && e.code == s {
			return appendJSONString(b, e.name)
		}
	}
	f := fields{b: append(b, '{')}
	if s != Good {
		f.b = strconv.AppendUint(f.key("Code"), uint64(s), 10)
		if e := statusEntry(s); e != nil && w.Encoding == JSONVerbose {
			f.b = appendJSONString(f.key("Symbol"), e.name)
		}
	}
	return append(f.b, '}')
}

// fields appends the fields of a JSON object.
type fields struct {
	b []byte
	n int
}

func (f *fields) key(name string) []byte {
	f.b = comma(f.b, f.n)
	f.n++
	return append(appendJSONString(f.b, name), ':')
}

func (w *jsonWriter) dataValue(b []byte, d *DataValue) []byte {
	f := fields{b: append(b, '{')}
	if d.Value.typ != TypeNull {
		f.b, f.n = w.typed(f.b, d.Value), 1
	}
	if d.Status != Good {
		f.b = w.statusCode(f.key("Status"), d.Status)
	}
	stamp := func(name, picoseconds string, t DateTime, p uint16) {
		if t.IsZero() {
			return
		}
		f.b = append(t.appendText(append(f.key(name), '"')), '"')
		if p != 0 {
			f.b = strconv.AppendUint(f.key(picoseconds), uint64(p), 10)
		}
	}
	stamp("SourceTimestamp", "SourcePicoseconds", d.SourceTimestamp, d.SourcePicoseconds)
	stamp("ServerTimestamp", "ServerPicoseconds", d.ServerTimestamp, d.ServerPicoseconds)
	return append(f.b, '}')
}

func (w *jsonWriter) diagnosticInfo(b []byte, d *DiagnosticInfo) []byte {
	f := fields{b: append(b, '{')}
	number := func(bit DiagnosticMask, name string, n int32) {
		if d.Mask&bit != 0 {
			f.b = strconv.AppendInt(f.key(name), int64(n), 10)
		}
	}
	number(DiagnosticSymbolicID, "SymbolicId", d.SymbolicID)
	number(DiagnosticNamespaceURI, "NamespaceUri", d.NamespaceURI)
	number(DiagnosticLocale, "Locale", d.Locale)
	number(DiagnosticLocalizedText, "LocalizedText", d.LocalizedText)
	if d.Mask&DiagnosticAdditionalInfo != 0 {
		f.b = f.key("AdditionalInfo")
		if present(d.AdditionalInfo) {
			f.b = appendJSONString(f.b, d.AdditionalInfo)
		} else {
			f.b = append(f.b, "null"...)
		}
	}
	if d.Mask&DiagnosticInnerStatusCode != 0 {
		f.b = w.statusCode(f.key("InnerStatusCode"), d.InnerStatusCode)
	}
	if d.Mask&DiagnosticInner != 0 && d.Inner != nil {
		f.b = w.diagnosticInfo(f.key("InnerDiagnosticInfo"), d.Inner)
	}
	return append(f.b, '}')
}

func (w *jsonWriter) extensionObject(b []byte, e *ExtensionObject) []byte {
	if e.IsNull() {
		return append(b, "{}"...)
	}
	f := fields{b: append(b, '{')}
	f.b = f.key("UaTypeId")
	if e.Value == nil {
		return append(w.raw(&f, bodyType(e), e.Encoding, e.Body), '}')
	}
	info := describe(e.Value)
	if info == nil {
		return append(w.raw(&f, e.Value.DataTypeID(), BodyBinary, e.Value.AppendBinary(nil)), '}')
	}
	f.b = w.text(f.b, e.Value.DataTypeID())
	return append(w.fields(f, e.Value, info).b, '}')
}

// bodyType is the node that names the type of a body that is not decoded. The standard wants the data
// type; where that is not known the encoding takes its place.
func bodyType(e *ExtensionObject) ExpandedNodeID {
	if e.TypeID.namespace == 0 && e.TypeID.kind == IDTypeNumeric {
		if info := StructureOfEncoding(e.TypeID.numeric); info != nil {
			id := info.BinaryID
			if e.Encoding == BodyXML {
				id = info.XMLID
			}
			if id.NodeID == e.TypeID {
				return info.DataTypeID
			}
		}
	}
	return e.TypeID.Expanded()
}

func (w *jsonWriter) raw(f *fields, id ExpandedNodeID, encoding BodyEncoding, body []byte) []byte {
	f.b = w.text(f.b, id)
	f.b = strconv.AppendUint(f.key("UaEncoding"), uint64(encoding), 10)
	if body != nil {
		f.b = append(base64.StdEncoding.AppendEncode(append(f.key("UaBody"), '"'), body), '"')
	}
	return f.b
}

func (w *jsonWriter) structure(b []byte, s Structure, info *StructureInfo) []byte {
	return append(w.fields(fields{b: append(b, '{')}, s, info).b, '}')
}

// fields appends the fields of a structure by way of its binary form, the one thing that all
// structures have and their descriptions tell how to read.
func (w *jsonWriter) fields(f fields, s Structure, info *StructureInfo) fields {
	w.readFields(&f, fieldReader(s.AppendBinary(nil), w.Types), info)
	return f
}

func (w *jsonWriter) readFields(f *fields, r *uabin.Reader, info *StructureInfo) {
	head := info.readHead(r)
	if head != 0 && w.Encoding == JSONCompact {
		if info.Kind == StructureUnion {
			f.b = strconv.AppendUint(f.key("SwitchField"), uint64(head), 10)
		} else {
			f.b = strconv.AppendUint(f.key("EncodingMask"), uint64(head), 10)
		}
	}
	info.each(head, func(field *Field, present bool) {
		if !present || !r.OK() {
			return
		}
		before := *f
		f.b = f.key(field.Name)
		at := len(f.b)
		f.b = w.field(f.b, r, field)
		if w.Encoding == JSONCompact && field.isDefaultJSON(f.b[at:]) {
			f.b, f.n = f.b[:len(before.b)], before.n
		}
	})
}

// isDefaultJSON reports whether the text of a field is that of the default of its type.
func (f *Field) isDefaultJSON(b []byte) bool {
	switch string(b) {
	case "null", "0", "false", "{}":
		return true
	case `"0"`:
		return f.Type == TypeInt64 || f.Type == TypeUInt64
	}
	return false
}

func (w *jsonWriter) field(b []byte, r *uabin.Reader, f *Field) []byte {
	one := func(b []byte) []byte {
		switch {
		case f.Struct != nil:
			if !r.Enter() {
				return append(b, "null"...)
			}
			defer r.Leave()
			o := fields{b: append(b, '{')}
			w.readFields(&o, r, f.Struct)
			return append(o.b, '}')
		case f.Enum != nil && !f.Enum.OptionSet && w.Encoding == JSONVerbose:
			n := readBuiltIn(r, f.Type).Int()
			b = append(b, '"')
			if name := f.Enum.ValueName(n); name != "" {
				b = append(append(b, name...), '_')
			}
			return append(strconv.AppendInt(b, n, 10), '"')
		}
		v := readBuiltIn(r, f.Type)
		if f.Type == TypeExtensionObject && !f.Array && v.isNullValue() {
			return append(b, "{}"...) // in arrays null stands for it (Part 6, 5.4.2.1 and 5.4.2.16)
		}
		return w.scalar(b, f.Type, v)
	}
	if !f.Array {
		return one(b)
	}
	n := r.ArrayLen(0)
	if n < 0 {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := 0; i < n && r.OK(); i++ {
		b = one(comma(b, i))
	}
	return append(b, ']')
}
