package serial

import (
	"encoding/binary"
	"strconv"
)

// nullSerializer is serializer 0: no message. Decoding refuses it, as Akka.NET refuses to be told null.
type nullSerializer struct{}

func (nullSerializer) ID() int32           { return nullID }
func (nullSerializer) Manifest(any) string { return "" }

func (nullSerializer) Append(dst []byte, msg any, _ *Exchange) ([]byte, error) {
	if msg != nil {
		return dst, wrongType(nullID, msg)
	}
	return dst, nil
}

func (nullSerializer) Decode(_, _ []byte, _ *Exchange) (any, error) { return nil, nil }

// bytesSerializer is serializer 4: bytes as they are.
type bytesSerializer struct{}

func (bytesSerializer) ID() int32           { return bytesID }
func (bytesSerializer) Manifest(any) string { return "" }

func (bytesSerializer) Append(dst []byte, msg any, _ *Exchange) ([]byte, error) {
	b, ok := msg.([]byte)
	if !ok {
		return dst, wrongType(bytesID, msg)
	}
	return append(dst, b...), nil
}

func (bytesSerializer) Decode(b, _ []byte, _ *Exchange) (any, error) {
	return append(make([]byte, 0, len(b)), b...), nil
}

// primitiveSerializer is serializer 17: strings, int and long.
type primitiveSerializer struct{ text, small, large string }

func newPrimitiveSerializer(o Options) *primitiveSerializer {
	switch {
	case o.ShortPrimitives:
		return &primitiveSerializer{"S", "I", "L"}
	case o.Mscorlib:
		return &primitiveSerializer{"System.String, mscorlib", "System.Int32, mscorlib", "System.Int64, mscorlib"}
	}
	return &primitiveSerializer{"System.String, System.Private.CoreLib", "System.Int32, System.Private.CoreLib", "System.Int64, System.Private.CoreLib"}
}

func (*primitiveSerializer) ID() int32 { return primitiveID }

func (s *primitiveSerializer) Manifest(msg any) string {
	switch msg.(type) {
	case string:
		return s.text
	case int32:
		return s.small
	case int64, int:
		return s.large
	}
	return ""
}

func (*primitiveSerializer) Append(dst []byte, msg any, _ *Exchange) ([]byte, error) {
	switch v := msg.(type) {
	case string:
		return append(dst, v...), nil
	case int32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v)), nil
	case int64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v)), nil
	case int:
		return binary.LittleEndian.AppendUint64(dst, uint64(v)), nil
	}
	return dst, wrongType(primitiveID, msg)
}

func (*primitiveSerializer) Decode(b, manifest []byte, _ *Exchange) (any, error) {
	switch string(manifest) {
	case "S", "System.String, System.Private.CoreLib", "System.String, mscorlib":
		return string(b), nil
	case "I", "System.Int32, System.Private.CoreLib", "System.Int32, mscorlib":
		if len(b) != 4 {
			return nil, wrongLength("Int32", b, 4)
		}
		return int32(binary.LittleEndian.Uint32(b)), nil
	case "L", "System.Int64, System.Private.CoreLib", "System.Int64, mscorlib":
		if len(b) != 8 {
			return nil, wrongLength("Int64", b, 8)
		}
		return int64(binary.LittleEndian.Uint64(b)), nil
	}
	return nil, &ManifestError{primitiveID, string(manifest)}
}

func wrongLength(what string, b []byte, want int) error {
	return badBytes(primitiveID, what, strconv.Itoa(len(b))+" bytes where "+strconv.Itoa(want)+" should be", nil)
}
