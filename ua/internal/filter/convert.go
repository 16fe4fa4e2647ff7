package filter

import (
	"math"
	"strconv"
	"strings"

	"github.com/actua/actua/ua"
)

// typeSet is a set of built-in types, as bits.
type typeSet uint32

func setOf(types ...ua.BuiltInType) (s typeSet) {
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

func (s typeSet) has(t ua.BuiltInType) bool { return s&(1<<t) != 0 }

var (
	integers = setOf(ua.TypeSByte, ua.TypeByte, ua.TypeInt16, ua.TypeUInt16, ua.TypeInt32, ua.TypeUInt32, ua.TypeInt64, ua.TypeUInt64)
	floats   = setOf(ua.TypeFloat, ua.TypeDouble)
	numbers  = integers | floats
	// texts are the types that stand for a String without an explicit cast.
	texts = setOf(ua.TypeString, ua.TypeLocalizedText, ua.TypeQualifiedName, ua.TypeNodeID, ua.TypeExpandedNodeID)
)

// precedence ranks the types for implicit conversions: of two types the one with the lower number is
// converted to (Part 4, 7.7.3, data precedence rules). 0: no implicit conversion.
var precedence = [ua.TypeDiagnosticInfo + 1]uint8{
	ua.TypeDouble: 1, ua.TypeFloat: 2, ua.TypeInt64: 3, ua.TypeUInt64: 4, ua.TypeInt32: 5, ua.TypeUInt32: 6,
	ua.TypeStatusCode: 7, ua.TypeInt16: 8, ua.TypeUInt16: 9, ua.TypeSByte: 10, ua.TypeByte: 11, ua.TypeBoolean: 12,
	ua.TypeGUID: 13, ua.TypeString: 14, ua.TypeExpandedNodeID: 15, ua.TypeNodeID: 16, ua.TypeLocalizedText: 17, ua.TypeQualifiedName: 18,
}

// implicit and explicit are the conversions that there are, by source type (Part 4, 7.7.3, conversion
// rules). A cast may do both.
var (
	implicit = [ua.TypeDiagnosticInfo + 1]typeSet{
		ua.TypeBoolean:        numbers,
		ua.TypeSByte:          numbers &^ setOf(ua.TypeByte, ua.TypeSByte),
		ua.TypeByte:           numbers &^ setOf(ua.TypeByte),
		ua.TypeInt16:          floats | setOf(ua.TypeInt32, ua.TypeInt64, ua.TypeUInt32, ua.TypeUInt64),
		ua.TypeUInt16:         floats | setOf(ua.TypeInt16, ua.TypeInt32, ua.TypeInt64, ua.TypeStatusCode, ua.TypeUInt32, ua.TypeUInt64),
		ua.TypeInt32:          floats | setOf(ua.TypeInt64, ua.TypeUInt64),
		ua.TypeUInt32:         floats | setOf(ua.TypeInt32, ua.TypeInt64, ua.TypeUInt64),
		ua.TypeInt64:          floats,
		ua.TypeUInt64:         floats | setOf(ua.TypeInt64),
		ua.TypeFloat:          setOf(ua.TypeDouble),
		ua.TypeStatusCode:     setOf(ua.TypeInt32, ua.TypeInt64, ua.TypeUInt32, ua.TypeUInt64),
		ua.TypeString:         numbers | setOf(ua.TypeBoolean, ua.TypeGUID),
		ua.TypeNodeID:         setOf(ua.TypeExpandedNodeID, ua.TypeString),
		ua.TypeExpandedNodeID: setOf(ua.TypeString),
		ua.TypeLocalizedText:  setOf(ua.TypeString),
		ua.TypeQualifiedName:  setOf(ua.TypeString, ua.TypeLocalizedText),
	}
	explicit = [ua.TypeDiagnosticInfo + 1]typeSet{
		ua.TypeBoolean:        setOf(ua.TypeString),
		ua.TypeSByte:          setOf(ua.TypeBoolean, ua.TypeByte, ua.TypeString),
		ua.TypeByte:           setOf(ua.TypeBoolean, ua.TypeString),
		ua.TypeInt16:          setOf(ua.TypeBoolean, ua.TypeByte, ua.TypeSByte, ua.TypeString, ua.TypeUInt16),
		ua.TypeUInt16:         setOf(ua.TypeBoolean, ua.TypeByte, ua.TypeSByte, ua.TypeString),
		ua.TypeInt32:          setOf(ua.TypeBoolean, ua.TypeByte, ua.TypeSByte, ua.TypeInt16, ua.TypeUInt16, ua.TypeUInt32, ua.TypeStatusCode, ua.TypeString),
		ua.TypeUInt32:         setOf(ua.TypeBoolean, ua.TypeByte, ua.TypeSByte, ua.TypeInt16, ua.TypeUInt16, ua.TypeStatusCode, ua.TypeString),
		ua.TypeInt64:          integers | setOf(ua.TypeBoolean, ua.TypeStatusCode, ua.TypeString),
		ua.TypeUInt64:         integers | setOf(ua.TypeBoolean, ua.TypeStatusCode, ua.TypeString),
		ua.TypeFloat:          integers | setOf(ua.TypeBoolean, ua.TypeString),
		ua.TypeDouble:         integers | setOf(ua.TypeBoolean, ua.TypeFloat, ua.TypeString),
		ua.TypeDateTime:       setOf(ua.TypeString),
		ua.TypeGUID:           setOf(ua.TypeByteString, ua.TypeString),
		ua.TypeByteString:     setOf(ua.TypeGUID),
		ua.TypeStatusCode:     setOf(ua.TypeUInt16),
		ua.TypeExpandedNodeID: setOf(ua.TypeNodeID),
		ua.TypeString:         setOf(ua.TypeDateTime, ua.TypeNodeID, ua.TypeExpandedNodeID, ua.TypeLocalizedText, ua.TypeQualifiedName),
	}
)

// common is the type that values of two types are converted to without a cast; 0 when there is none.
func common(a, b ua.BuiltInType) ua.BuiltInType {
	if a == b {
		return a
	}
	p, q := precedence[a], precedence[b]
	if p == 0 || q == 0 {
		return 0
	}
	if p > q {
		a, b = b, a
	}
	if !implicit[b].has(a) {
		return 0
	}
	return a
}

// convert turns a scalar into another type, by an implicit or explicit conversion; false when there is
// none or the value does not fit. A null String has no value to convert.
func convert(v ua.Variant, to ua.BuiltInType) (ua.Variant, bool) {
	from := v.Type()
	if from == to {
		return v, true
	}
	if !(implicit[from] | explicit[from]).has(to) || v.IsNull() {
		return ua.Variant{}, false
	}
	switch to {
	case ua.TypeBoolean:
		return toBoolean(v)
	case ua.TypeFloat, ua.TypeDouble:
		return toFloat(v, to)
	case ua.TypeString:
		return ua.String(textOf(v)), true
	case ua.TypeDateTime:
		d, err := ua.ParseDateTime(v.Str())
		return d.Variant(), err == nil
	case ua.TypeGUID:
		return toGUID(v)
	case ua.TypeByteString:
		g, _ := ua.As[ua.GUID](v)
		return ua.ByteString(g.AppendBinary(nil)), true
	case ua.TypeNodeID:
		if from == ua.TypeExpandedNodeID {
			e, _ := ua.As[ua.ExpandedNodeID](v)
			return e.NodeID.Variant(), e.IsLocal()
		}
		n, err := ua.ParseNodeID(v.Str())
		return n.Variant(), err == nil
	case ua.TypeExpandedNodeID:
		if from == ua.TypeNodeID {
			return v.NodeID().Expanded().Variant(), true
		}
		e, err := ua.ParseExpandedNodeID(v.Str())
		return e.Variant(), err == nil
	case ua.TypeStatusCode:
		return toStatus(v)
	case ua.TypeLocalizedText:
		return ua.Text(v.Str()).Variant(), true
	case ua.TypeQualifiedName:
		return ua.QualifiedName{Name: v.Str()}.Variant(), true
	}
	return toInteger(v, to)
}

// toBoolean: numbers but 0 are true; of texts "true", "false", "1" and "0" have a meaning.
func toBoolean(v ua.Variant) (ua.Variant, bool) {
	if v.Type() != ua.TypeString {
		f := v.Float()
		return ua.Boolean(f != 0), f == f
	}
	switch s := v.Str(); {
	case s == "1" || strings.EqualFold(s, "true"):
		return ua.Boolean(true), true
	case s == "0" || strings.EqualFold(s, "false"):
		return ua.Boolean(false), true
	}
	return ua.Variant{}, false
}

func toFloat(v ua.Variant, to ua.BuiltInType) (ua.Variant, bool) {
	f := v.Float()
	if v.Type() == ua.TypeString {
		bits := 64
		if to == ua.TypeFloat {
			bits = 32
		}
		var err error
		if f, err = strconv.ParseFloat(v.Str(), bits); err != nil {
			return ua.Variant{}, false
		}
	}
	if to == ua.TypeDouble {
		return ua.Double(f), true
	}
	x := float32(f)
	if v.Type() == ua.TypeInt64 { // rounded once, not twice
		x = float32(v.Int())
	} else if v.Type() == ua.TypeUInt64 {
		x = float32(v.Uint())
	}
	return ua.Float(x), !math.IsInf(float64(x), 0) || math.IsInf(f, 0)
}

func toGUID(v ua.Variant) (ua.Variant, bool) {
	if v.Type() == ua.TypeString {
		g, err := ua.ParseGUID(v.Str())
		return g.Variant(), err == nil
	}
	b := v.Bytes()
	if len(b) != 16 {
		return ua.Variant{}, false
	}
	// A GUID's first three groups go least significant byte first; twice is back again.
	var g ua.GUID
	copy(g[:], b)
	copy(g[:], g.AppendBinary(nil))
	return g.Variant(), true
}

// toStatus: of 16 bits those are the upper half of a StatusCode, 32 bits are copied.
func toStatus(v ua.Variant) (ua.Variant, bool) {
	switch n := v.Int(); v.Type() {
	case ua.TypeUInt16:
		return ua.StatusCode(n << 16).Variant(), true
	case ua.TypeInt32, ua.TypeUInt32:
		return ua.StatusCode(uint32(n)).Variant(), true
	case ua.TypeInt64:
		return ua.StatusCode(uint32(n)).Variant(), n >= 0 && n <= math.MaxUint32
	case ua.TypeUInt64:
		return ua.StatusCode(uint32(n)).Variant(), v.Uint() <= math.MaxUint32
	}
	return ua.Variant{}, false
}

// toInteger converts what fits; a Float or Double is rounded by adding 0.5 and cutting downwards.
func toInteger(v ua.Variant, to ua.BuiltInType) (ua.Variant, bool) {
	switch v.Type() {
	case ua.TypeUInt64:
		if v.Uint() > math.MaxInt64 { // then the only type that could hold it is its own
			return ua.Variant{}, false
		}
	case ua.TypeString:
		if to == ua.TypeUInt64 {
			n, err := strconv.ParseUint(strings.TrimSpace(v.Str()), 10, 64)
			return ua.UInt64(n), err == nil
		}
		n, err := strconv.ParseInt(strings.TrimSpace(v.Str()), 10, 64)
		if err != nil {
			return ua.Variant{}, false
		}
		return fit(n, to)
	case ua.TypeFloat, ua.TypeDouble:
		f := v.Float()
		r := math.Floor(f)
		if f-r >= 0.5 {
			r++
		}
		switch {
		case !(r >= -1<<63 && r < 1<<64):
			return ua.Variant{}, false
		case r >= 1<<63:
			return ua.UInt64(uint64(r)), to == ua.TypeUInt64
		}
		return fit(int64(r), to)
	case ua.TypeStatusCode:
		n := v.Int()
		switch to {
		case ua.TypeUInt16:
			n >>= 16
		case ua.TypeInt32:
			n = int64(int32(uint32(n)))
		}
		return fit(n, to)
	}
	return fit(v.Int(), to)
}

// fit is n as an integer of a type, false if it is out of range.
func fit(n int64, to ua.BuiltInType) (ua.Variant, bool) {
	switch to {
	case ua.TypeSByte:
		return ua.SByte(int8(n)), n == int64(int8(n))
	case ua.TypeByte:
		return ua.Byte(uint8(n)), n == int64(uint8(n))
	case ua.TypeInt16:
		return ua.Int16(int16(n)), n == int64(int16(n))
	case ua.TypeUInt16:
		return ua.UInt16(uint16(n)), n == int64(uint16(n))
	case ua.TypeInt32:
		return ua.Int32(int32(n)), n == int64(int32(n))
	case ua.TypeUInt32:
		return ua.UInt32(uint32(n)), n == int64(uint32(n))
	case ua.TypeInt64:
		return ua.Int64(n), true
	case ua.TypeUInt64:
		return ua.UInt64(uint64(n)), n >= 0
	}
	return ua.Variant{}, false
}

// textOf is a value as a String: texts without their locale, names without their namespace, node ids
// and GUIDs in the form of Part 6, Booleans as 1 and 0.
func textOf(v ua.Variant) string {
	switch v.Type() {
	case ua.TypeString, ua.TypeLocalizedText, ua.TypeQualifiedName:
		return v.Str()
	case ua.TypeNodeID:
		return v.NodeID().String()
	case ua.TypeExpandedNodeID:
		e, _ := ua.As[ua.ExpandedNodeID](v)
		return e.String()
	case ua.TypeGUID:
		g, _ := ua.As[ua.GUID](v)
		return g.String()
	case ua.TypeDateTime:
		return v.DateTime().String()
	case ua.TypeFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case ua.TypeDouble:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case ua.TypeUInt64:
		return strconv.FormatUint(v.Uint(), 10)
	}
	return strconv.FormatInt(v.Int(), 10)
}

// maxCast bounds the arrays that are cast, in elements: an event may be seen by many filters, and a filter
// may have many casts.
const maxCast = 4096

// castTo converts a value for the operator Cast: null when that is not possible. An array is converted
// element by element and keeps its dimensions; one of more than 4,096 elements is not.
func castTo(v ua.Variant, to ua.BuiltInType) ua.Variant {
	if v.Type() == to {
		return v
	}
	if !v.IsArray() {
		if w, ok := convert(v, to); ok {
			return w
		}
		return ua.Variant{}
	}
	if v.Len() > maxCast || to >= ua.BuiltInType(len(castArrays)) || castArrays[to] == nil || !(implicit[v.Type()] | explicit[v.Type()]).has(to) {
		return ua.Variant{}
	}
	return castArrays[to](v, to)
}

var castArrays = [...]func(ua.Variant, ua.BuiltInType) ua.Variant{
	ua.TypeBoolean: castArray[bool], ua.TypeSByte: castArray[int8], ua.TypeByte: castArray[uint8],
	ua.TypeInt16: castArray[int16], ua.TypeUInt16: castArray[uint16], ua.TypeInt32: castArray[int32],
	ua.TypeUInt32: castArray[uint32], ua.TypeInt64: castArray[int64], ua.TypeUInt64: castArray[uint64],
	ua.TypeFloat: castArray[float32], ua.TypeDouble: castArray[float64], ua.TypeString: castArray[string],
	ua.TypeDateTime: castArray[ua.DateTime], ua.TypeGUID: castArray[ua.GUID], ua.TypeByteString: castArray[[]byte],
	ua.TypeNodeID: castArray[ua.NodeID], ua.TypeExpandedNodeID: castArray[ua.ExpandedNodeID],
	ua.TypeStatusCode: castArray[ua.StatusCode], ua.TypeQualifiedName: castArray[ua.QualifiedName],
	ua.TypeLocalizedText: castArray[ua.LocalizedText],
}

func castArray[T ua.Element](v ua.Variant, to ua.BuiltInType) ua.Variant {
	if v.IsNull() {
		return ua.Variant{}
	}
	out := make([]T, v.Len())
	for i := range out {
		w, ok := convert(v.Index(i), to)
		if !ok {
			return ua.Variant{}
		}
		out[i], _ = ua.As[T](w)
	}
	if dims := v.Dimensions(); len(dims) > 1 {
		m, err := ua.Matrix(out, dims...)
		if err != nil {
			return ua.Variant{}
		}
		return m
	}
	return ua.Array(out)
}
