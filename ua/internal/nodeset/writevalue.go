package nodeset

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// Values are written by reading their binary form, along the descriptors of the structures in it: the
// way of value.go, backwards.

// typesNamespace is the XML namespace of values (Part 6, 5.3.1).
const typesNamespace = "http://opcfoundation.org/UA/2008/02/Types.xsd"

// value writes what stands inside a Value.
func (w *Writer) value(v ua.Variant) {
	r := uabin.NewReader(v.AppendBinary(nil))
	at := len(w.b)
	w.variant(r)
	w.fail(r.Err())
	// The outermost element names the namespace, so that all in it are in it.
	text := string(w.b[at:])
	if i := strings.IndexAny(text, " />"); i > 0 {
		w.b = append(w.b[:at], text[:i]+` xmlns="`+typesNamespace+`"`+text[i:]...)
	}
}

// variant writes the elements of a Variant; nothing for null (Part 6, 5.3.1.17).
func (w *Writer) variant(r *uabin.Reader) {
	head := r.Uint8()
	t := ua.BuiltInType(head &^ (variantArray | variantDims))
	switch {
	case t == ua.TypeNull:
	case head&variantArray == 0:
		w.builtin(t.String(), t, r)
	case head&variantDims == 0:
		w.array("ListOf"+t.String(), t.String(), r, func(name string) { w.builtin(name, t, r) })
	default:
		before := w.b
		w.b = nil
		w.array("Elements", t.String(), r, func(name string) { w.builtin(name, t, r) })
		elements := w.b
		w.b = before
		w.raw("<Matrix>")
		w.array("Dimensions", "UInt32", r, func(name string) { w.builtin(name, ua.TypeUInt32, r) })
		w.b = append(w.b, elements...)
		w.raw("</Matrix>")
	}
}

func (w *Writer) null(name string) { w.raw("<", name, ` xsi:nil="true"/>`) }

// array writes a list of elements with the same name.
func (w *Writer) array(name, element string, r *uabin.Reader, each func(name string)) {
	n := r.Int32()
	if n < 0 {
		w.null(name)
		return
	}
	w.raw("<", name, ">")
	for i := int32(0); i < n && r.OK(); i++ {
		each(element)
	}
	w.raw("</", name, ">")
}

func formatFloat(v float64, bits int) string {
	switch {
	case math.IsInf(v, 1):
		return "INF"
	case math.IsInf(v, -1):
		return "-INF"
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// builtin writes an element with a value of a built-in type.
func (w *Writer) builtin(name string, t ua.BuiltInType, r *uabin.Reader) {
	text := ""
	switch t {
	case ua.TypeBoolean:
		text = strconv.FormatBool(r.Bool())
	case ua.TypeSByte:
		text = strconv.Itoa(int(r.Int8()))
	case ua.TypeByte:
		text = strconv.Itoa(int(r.Uint8()))
	case ua.TypeInt16:
		text = strconv.Itoa(int(r.Int16()))
	case ua.TypeUInt16:
		text = strconv.Itoa(int(r.Uint16()))
	case ua.TypeInt32:
		text = strconv.FormatInt(int64(r.Int32()), 10)
	case ua.TypeUInt32:
		text = strconv.FormatUint(uint64(r.Uint32()), 10)
	case ua.TypeInt64:
		text = strconv.FormatInt(r.Int64(), 10)
	case ua.TypeUInt64:
		text = strconv.FormatUint(r.Uint64(), 10)
	case ua.TypeFloat:
		text = formatFloat(float64(r.Float32()), 32)
	case ua.TypeDouble:
		text = formatFloat(r.Float64(), 64)
	case ua.TypeDateTime:
		text = ua.DateTime(r.Int64()).String()
	case ua.TypeString:
		s := r.String()
		if uabin.IsNullString(s) {
			w.null(name)
			return
		}
		text = s
	case ua.TypeByteString, ua.TypeXMLElement:
		b := r.Bytes(nil)
		switch {
		case b == nil:
			w.null(name)
			return
		case t == ua.TypeByteString:
			text = base64.StdEncoding.EncodeToString(b)
		default:
			w.raw("<", name, ">")
			w.xml(b)
			w.raw("</", name, ">")
			return
		}
	default:
		w.raw("<", name, ">")
		w.compound(t, r)
		w.raw("</", name, ">")
		return
	}
	w.element(name, text)
}

// xml writes a piece of XML as it is, if it is well-formed.
func (w *Writer) xml(b []byte) {
	d := xml.NewDecoder(strings.NewReader("<x>" + string(b) + "</x>"))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.fail(fmt.Errorf("an XML value is not well-formed: %w", err))
			return
		}
	}
	w.b = append(w.b, b...)
}

// compound writes what stands inside the element of a built-in type that has parts.
func (w *Writer) compound(t ua.BuiltInType, r *uabin.Reader) {
	switch t {
	case ua.TypeGUID:
		var v ua.GUID
		v.DecodeBinary(r)
		w.element("String", v.String())
	case ua.TypeNodeID:
		var v ua.NodeID
		v.DecodeBinary(r)
		w.element("Identifier", w.id(v))
	case ua.TypeExpandedNodeID:
		var v ua.ExpandedNodeID
		v.DecodeBinary(r)
		if v.NamespaceURI == "" && v.ServerIndex == 0 {
			v.NodeID = v.NodeID.WithNamespace(w.index(v.NodeID.Namespace()))
		}
		w.element("Identifier", v.String())
	case ua.TypeStatusCode:
		w.element("Code", strconv.FormatUint(uint64(r.Uint32()), 10))
	case ua.TypeQualifiedName:
		var v ua.QualifiedName
		v.DecodeBinary(r)
		w.element("NamespaceIndex", strconv.Itoa(int(w.index(v.NamespaceIndex))))
		w.element("Name", v.Name)
	case ua.TypeLocalizedText:
		var v ua.LocalizedText
		v.DecodeBinary(r)
		if v.Locale != "" {
			w.element("Locale", v.Locale)
		}
		w.element("Text", v.Text)
	case ua.TypeExtensionObject:
		w.extensionObject(r)
	case ua.TypeDataValue:
		w.dataValue(r)
	case ua.TypeVariant:
		w.raw("<Value>")
		w.variant(r)
		w.raw("</Value>")
	case ua.TypeDiagnosticInfo:
		var v ua.DiagnosticInfo
		v.DecodeBinary(r)
		w.diagnosticInfo(&v)
	default:
		w.fail(fmt.Errorf("%v is no built-in type", t))
	}
}

func (w *Writer) dataValue(r *uabin.Reader) {
	var v ua.DataValue
	v.DecodeBinary(r)
	if v.Value.Type() != ua.TypeNull {
		w.raw("<Value><Value>")
		inner := uabin.NewReader(v.Value.AppendBinary(nil))
		w.variant(inner)
		w.fail(inner.Err())
		w.raw("</Value></Value>")
	}
	if v.Status != ua.Good {
		w.raw("<StatusCode>")
		w.element("Code", strconv.FormatUint(uint64(v.Status), 10))
		w.raw("</StatusCode>")
	}
	stamp := func(name string, t ua.DateTime, picoseconds uint16) {
		if t != 0 {
			w.element(name+"Timestamp", t.String())
		}
		if picoseconds != 0 {
			w.element(name+"Picoseconds", strconv.Itoa(int(picoseconds)))
		}
	}
	stamp("Source", v.SourceTimestamp, v.SourcePicoseconds)
	stamp("Server", v.ServerTimestamp, v.ServerPicoseconds)
}

func (w *Writer) diagnosticInfo(v *ua.DiagnosticInfo) {
	number := func(name string, bit ua.DiagnosticMask, n int32) {
		if v.Mask&bit != 0 {
			w.element(name, strconv.FormatInt(int64(n), 10))
		}
	}
	number("SymbolicId", ua.DiagnosticSymbolicID, v.SymbolicID)
	number("NamespaceUri", ua.DiagnosticNamespaceURI, v.NamespaceURI)
	number("Locale", ua.DiagnosticLocale, v.Locale)
	number("LocalizedText", ua.DiagnosticLocalizedText, v.LocalizedText)
	if v.Mask&ua.DiagnosticAdditionalInfo != 0 {
		w.element("AdditionalInfo", v.AdditionalInfo)
	}
	if v.Mask&ua.DiagnosticInnerStatusCode != 0 {
		w.raw("<InnerStatusCode>")
		w.element("Code", strconv.FormatUint(uint64(v.InnerStatusCode), 10))
		w.raw("</InnerStatusCode>")
	}
	if v.Mask&ua.DiagnosticInner != 0 && v.Inner != nil {
		w.raw("<InnerDiagnosticInfo>")
		w.diagnosticInfo(v.Inner)
		w.raw("</InnerDiagnosticInfo>")
	}
}

// extensionObject writes a structure. One that nobody described keeps its binary form, one that came
// as XML that.
func (w *Writer) extensionObject(r *uabin.Reader) {
	var id ua.NodeID
	id.DecodeBinary(r)
	encoding := ua.BodyEncoding(r.Uint8())
	var body []byte
	if encoding != ua.BodyNone {
		body = r.Bytes(nil)
	}
	if id.IsNull() && encoding == ua.BodyNone {
		return
	}
	var info *ua.StructureInfo
	if encoding == ua.BodyBinary {
		if info = w.describe(id); info != nil {
			xmlID := info.XMLID
			if xmlID.IsNull() {
				xmlID = info.DataTypeID
			}
			before, failed := len(w.b), w.err
			if local, ok := w.Local(xmlID); ok && w.described(local, info, body) {
				return
			}
			w.b, w.err = w.b[:before], failed
		}
	}
	w.raw("<TypeId>")
	w.element("Identifier", w.id(id))
	w.raw("</TypeId>")
	switch encoding {
	case ua.BodyXML:
		w.raw("<Body>")
		w.xml(body)
		w.raw("</Body>")
	case ua.BodyBinary:
		w.raw("<Body>")
		w.element("ByteString", base64.StdEncoding.EncodeToString(body))
		w.raw("</Body>")
	}
}

func (w *Writer) describe(id ua.NodeID) *ua.StructureInfo {
	if id.Namespace() == 0 && id.Type() == ua.IDTypeNumeric {
		return ua.StructureOfEncoding(id.Numeric())
	}
	return w.Structure(id)
}

// described writes a structure by its description; false when the body is not of that form.
func (w *Writer) described(id ua.NodeID, info *ua.StructureInfo, body []byte) bool {
	w.raw("<TypeId>")
	w.element("Identifier", w.id(id))
	w.raw("</TypeId><Body>")
	r := uabin.NewReader(body)
	w.structure(info.Name, info, r)
	w.raw("</Body>")
	return r.Err() == nil && r.Remaining() == 0
}

// structure writes the fields of a structure (Part 6, 5.3.5 to 5.3.7).
func (w *Writer) structure(name string, info *ua.StructureInfo, r *uabin.Reader) {
	if !r.Enter() {
		return
	}
	defer r.Leave()
	w.raw("<", name, ">")
	head := uint32(0)
	switch info.Kind {
	case ua.StructureUnion:
		if head = r.Uint32(); head > uint32(len(info.Fields)) {
			r.Fail("union with an unknown switch value")
			return
		}
		w.element("SwitchField", strconv.FormatUint(uint64(head), 10))
	case ua.StructureWithOptionalFields:
		head = r.Uint32()
		w.element("EncodingMask", strconv.FormatUint(uint64(head), 10))
	}
	bit := uint32(1)
	for i := range info.Fields {
		f := &info.Fields[i]
		present := true
		switch {
		case info.Kind == ua.StructureUnion:
			present = head == uint32(i)+1
		case info.Kind == ua.StructureWithOptionalFields && f.Optional:
			present = head&bit != 0
			bit <<= 1
		}
		if present && r.OK() {
			w.field(f, r)
		}
	}
	w.raw("</", name, ">")
}

func (w *Writer) field(f *ua.Field, r *uabin.Reader) {
	element := f.Type.String()
	if f.Struct != nil {
		element = f.Struct.Name
	}
	one := func(name string) {
		if f.Struct != nil {
			w.structure(name, f.Struct, r)
			return
		}
		w.builtin(name, f.Type, r)
	}
	if f.Array {
		w.array(f.Name, element, r, one)
		return
	}
	one(f.Name)
}
