package ua

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/actua/actua/ua/uabin"
)

// scalar reads a value of a built-in type that is not null.
func (d *jsonReader) scalar(n *jsonNode, t BuiltInType, info *StructureInfo) (Variant, error) {
	switch t {
	case TypeBoolean:
		if n.kind != jsonBool {
			return Variant{}, badJSON("%v where true or false is due", n.kind)
		}
		return Boolean(n.text == "true"), nil
	case TypeSByte, TypeByte, TypeInt16, TypeUInt16, TypeInt32, TypeUInt32, TypeInt64, TypeUInt64:
		low, high := integerBounds(t)
		i, err := integer(n, low, high)
		return small(t, uint64(i)), err
	case TypeFloat, TypeDouble:
		return float(n, t)
	case TypeStatusCode:
		s, err := d.statusCode(n)
		return s.Variant(), err
	case TypeNodeID, TypeExpandedNodeID:
		e, err := d.nodeID(n, t == TypeExpandedNodeID)
		if t == TypeNodeID {
			return e.NodeID.Variant(), err
		}
		return e.Variant(), err
	case TypeQualifiedName:
		q, err := d.qualifiedName(n)
		return q.Variant(), err
	case TypeLocalizedText:
		l, err := d.localizedText(n)
		return l.Variant(), err
	case TypeExtensionObject:
		e, err := d.structured(n, info)
		return e.Variant(), err
	case TypeDataValue:
		v, err := d.dataValue(n)
		return v.Variant(), err
	case TypeVariant:
		return d.variant(n)
	case TypeDiagnosticInfo:
		i, err := d.diagnosticInfo(n)
		return i.Variant(), err
	}
	if n.kind != jsonString {
		return Variant{}, badJSON("%v where a string is due", n.kind)
	}
	return d.text(n.text, t)
}

// text reads the types that are strings in JSON and nothing else.
func (d *jsonReader) text(s string, t BuiltInType) (Variant, error) {
	switch t {
	case TypeString, TypeXMLElement:
		if len(s) > d.limits.MaxString {
			return Variant{}, jsonLimit("string of %d bytes, the limit is %d", len(s), d.limits.MaxString)
		}
		v := String(notNull(s))
		v.typ = t
		return v, nil
	case TypeByteString:
		if len(s)/4*3 > d.limits.MaxByteString {
			return Variant{}, jsonLimit("byte string of %d bytes, the limit is %d", len(s)/4*3, d.limits.MaxByteString)
		}
		raw, err := decodeBase64(s)
		if err != nil {
			return Variant{}, badJSON("%.40q is not base64", s)
		}
		return ByteString(raw), nil
	case TypeDateTime:
		v, err := ParseDateTime(s)
		if err != nil {
			return Variant{}, badJSON("%s", err.(*textError).reason)
		}
		return v.Variant(), nil
	case TypeGUID:
		g, err := ParseGUID(s)
		if err != nil {
			return Variant{}, badJSON("%s", err.(*textError).reason)
		}
		return g.Variant(), nil
	}
	return Variant{}, badJSON("%v is no built-in type", t)
}

// notNull marks a string that was there as empty, where it would else be taken for null.
func notNull(s string) string {
	if s == "" {
		return uabin.EmptyString
	}
	return s
}

// integerBounds are the bounds of an integer type; the upper one as an unsigned number.
func integerBounds(t BuiltInType) (low int64, high uint64) {
	switch t {
	case TypeSByte:
		return math.MinInt8, math.MaxInt8
	case TypeByte:
		return 0, math.MaxUint8
	case TypeInt16:
		return math.MinInt16, math.MaxInt16
	case TypeUInt16:
		return 0, math.MaxUint16
	case TypeInt32:
		return math.MinInt32, math.MaxInt32
	case TypeUInt32:
		return 0, math.MaxUint32
	case TypeInt64:
		return math.MinInt64, math.MaxInt64
	}
	return 0, math.MaxUint64
}

// integer reads a number, or a string that holds one, as 64-bit integers are written (Part 6,
// 5.4.2.3). A value of a UInt64 comes as the Int64 of the same bits.
func integer(n *jsonNode, low int64, high uint64) (int64, error) {
	if n.kind != jsonNumber && n.kind != jsonString {
		return 0, badJSON("%v where an integer is due", n.kind)
	}
	i, ok := exactInteger(n.text, low, high)
	if !ok {
		return 0, badJSON("%.40q is no integer from %d to %d", n.text, low, high)
	}
	return i, nil
}

func exactInteger(s string, low int64, high uint64) (int64, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, i >= low && (i < 0 || uint64(i) <= high)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return int64(u), u <= high
	}
	// Other writers may write 3.0 or 1e3. The length is bounded since the exponent of a big
	// number may ask for any amount of memory.
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) >= 1<<64 || f != math.Trunc(f) || len(s) > 40 {
		return 0, false
	}
	b, _, err := big.ParseFloat(s, 10, 128, big.ToNearestEven)
	if err != nil || !b.IsInt() {
		return 0, false
	}
	i, _ := b.Int(nil)
	switch {
	case i.IsInt64():
		return i.Int64(), i.Int64() >= low && (i.Sign() < 0 || i.Uint64() <= high)
	case i.IsUint64():
		return int64(i.Uint64()), i.Uint64() <= high
	}
	return 0, false
}

func float(n *jsonNode, t BuiltInType) (Variant, error) {
	bits := 64
	if t == TypeFloat {
		bits = 32
	}
	text := n.text
	switch {
	case n.kind == jsonString && text == "INF":
		text = "Infinity"
	case n.kind == jsonString && text == "-INF":
		text = "-Infinity"
	case n.kind != jsonNumber && n.kind != jsonString:
		return Variant{}, badJSON("%v where a number is due", n.kind)
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil || n.kind == jsonString && strings.ContainsAny(text, "xX_pP") {
		return Variant{}, badJSON("%.40q is no number of type %v", text, t)
	}
	if t == TypeFloat {
		return Float(float32(f)), nil
	}
	return Double(f), nil
}

// statusCode reads an object with Code, a number, or a name.
func (d *jsonReader) statusCode(n *jsonNode) (StatusCode, error) {
	switch n.kind {
	case jsonNull:
		return Good, nil
	case jsonNumber:
		i, err := integer(n, 0, math.MaxUint32)
		return StatusCode(i), err
	case jsonString:
		s, err := ParseStatusCode(n.text)
		if err != nil {
			return 0, badJSON("%.60q is not the name of a status code", n.text)
		}
		return s, nil
	case jsonObject:
		if code := n.get("Code"); code != nil {
			i, err := integer(code, 0, math.MaxUint32)
			return StatusCode(i), inField(err, "Code")
		}
		if len(n.keys) == 0 {
			return Good, nil
		}
		return 0, badJSON("a StatusCode without a Code")
	}
	return 0, badJSON("%v where a StatusCode is due", n.kind)
}
