package memspace

import (
	"fmt"
	"reflect"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// None is the result of a typed function for a method without outputs.
type None struct{}

// Func0 makes a Method of a function without inputs; the name is that of the output.
//
// The types of Func0 to Func3 are the Go types of the built-in types (ua.Element), slices of those,
// pointers to structures, and None. Names are those of the inputs, then of the output; other types
// and a wrong number of names make AddMethod fail.
func Func0[R any](f func(Call) (R, error), names ...string) Method {
	m, r := declareFunc[R](names)
	m.Call = func(c Call) ([]ua.Variant, error) { return r.result(f(c)) }
	return m
}

// Func1 makes a Method of a function with one input. See Func0.
func Func1[A, R any](f func(Call, A) (R, error), names ...string) Method {
	a := convert[A]()
	m, r := declareFunc[R](names, a.kind)
	m.Call = func(c Call) ([]ua.Variant, error) { return r.result(f(c, a.get(c.Inputs[0]))) }
	return m
}

// Func2 makes a Method of a function with two inputs. See Func0.
func Func2[A, B, R any](f func(Call, A, B) (R, error), names ...string) Method {
	a, b := convert[A](), convert[B]()
	m, r := declareFunc[R](names, a.kind, b.kind)
	m.Call = func(c Call) ([]ua.Variant, error) {
		return r.result(f(c, a.get(c.Inputs[0]), b.get(c.Inputs[1])))
	}
	return m
}

// Func3 makes a Method of a function with three inputs. See Func0.
func Func3[A, B, C, R any](f func(Call, A, B, C) (R, error), names ...string) Method {
	a, b, d := convert[A](), convert[B](), convert[C]()
	m, r := declareFunc[R](names, a.kind, b.kind, d.kind)
	m.Call = func(c Call) ([]ua.Variant, error) {
		return r.result(f(c, a.get(c.Inputs[0]), b.get(c.Inputs[1]), d.get(c.Inputs[2])))
	}
	return m
}

// kindOf is the data type and rank that a Go type stands for.
type kindOf struct {
	dataType ua.ExpandedNodeID
	rank     int32
	none     bool
	err      error
}

// converter turns Variants into T and back.
type converter[T any] struct {
	kind kindOf
	get  func(ua.Variant) T
	put  func(T) ua.Variant
}

func (c converter[T]) result(v T, err error) ([]ua.Variant, error) {
	if err != nil || c.kind.none {
		return nil, err
	}
	return []ua.Variant{c.put(v)}, nil
}

func declareFunc[R any](names []string, inputs ...kindOf) (m Method, r converter[R]) {
	r = convert[R]()
	all := inputs
	if !r.kind.none {
		all = append(all, r.kind)
	}
	if len(names) != len(all) {
		m.err = fmt.Errorf("%d names for %d arguments: %w", len(names), len(all), ua.BadInvalidArgument)
		return m, r
	}
	list := make([]ua.Argument, len(all))
	for i, k := range all {
		if k.err != nil || k.none {
			m.err = fmt.Errorf("argument %q has no data type of OPC UA: %w", names[i], ua.BadTypeMismatch)
		}
		list[i] = ua.Argument{Name: names[i], DataType: k.dataType.NodeID, ValueRank: k.rank}
		m.types = append(m.types, k.dataType)
	}
	m.Inputs, m.Outputs = list[:len(inputs):len(inputs)], list[len(inputs):]
	return m, r
}

// convert finds the converter of a type.
func convert[T any]() converter[T] {
	for _, c := range converters {
		if c, ok := c.(converter[T]); ok {
			return c
		}
	}
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Pointer {
		if x, ok := reflect.New(t.Elem()).Interface().(ua.Structure); ok {
			return converter[T]{
				kind: kindOf{dataType: x.DataTypeID(), rank: RankScalar},
				get: func(v ua.Variant) T {
					x, _ := any(v.Structure()).(T)
					return x
				},
				put: func(v T) ua.Variant {
					return ua.ExtensionObject{Value: any(v).(ua.Structure)}.Variant()
				},
			}
		}
	}
	return converter[T]{kind: kindOf{err: ua.BadTypeMismatch, none: t == reflect.TypeFor[None]()}}
}

var converters = func() (list []any) {
	list = append(list, both[bool](), both[int8](), both[uint8](), both[int16](), both[uint16](), both[int32](),
		both[uint32](), both[int64](), both[uint64](), both[float32](), both[float64](), both[string](),
		both[ua.DateTime](), both[ua.GUID](), both[[]byte](), both[ua.XMLElement](), both[ua.NodeID](),
		both[ua.ExpandedNodeID](), both[ua.StatusCode](), both[ua.QualifiedName](), both[ua.LocalizedText](),
		both[ua.ExtensionObject](), both[ua.DataValue](), both[ua.DiagnosticInfo]())
	var flat []any
	for _, pair := range list {
		flat = append(flat, pair.([]any)...)
	}
	return append(flat, converter[ua.Variant]{
		kind: kindOf{dataType: ua.ID(uaid.BaseDataType).Expanded(), rank: RankAny},
		get:  func(v ua.Variant) ua.Variant { return v },
		put:  func(v ua.Variant) ua.Variant { return v },
	})
}()

// both are the converters of a built-in type and of its array. A []byte is a ByteString.
func both[T ua.Element]() any {
	id := ua.ID(uint32(ua.Array[T](nil).Type())).Expanded()
	return []any{
		converter[T]{
			kind: kindOf{dataType: id, rank: RankScalar},
			get: func(v ua.Variant) T {
				x, _ := ua.As[T](v)
				return x
			},
			put: func(v T) ua.Variant { return ua.Scalar(v) },
		},
		converter[[]T]{
			kind: kindOf{dataType: id, rank: 1},
			get: func(v ua.Variant) []T {
				x, _ := ua.ArrayOf[T](v)
				return x
			},
			put: func(v []T) ua.Variant { return ua.Array(v) },
		},
	}
}
