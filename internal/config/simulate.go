package config

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// number is a type of numbers: its range and how a value of it is made.
type number struct {
	low, high float64
	whole     bool
	make      func(float64) ua.Variant
}

// numbers are the types of simulated variables. The 64-bit ones stop where a Double is exact.
var numbers = map[string]number{
	"SByte":  {math.MinInt8, math.MaxInt8, true, func(x float64) ua.Variant { return ua.SByte(int8(x)) }},
	"Byte":   {0, math.MaxUint8, true, func(x float64) ua.Variant { return ua.Byte(uint8(x)) }},
	"Int16":  {math.MinInt16, math.MaxInt16, true, func(x float64) ua.Variant { return ua.Int16(int16(x)) }},
	"UInt16": {0, math.MaxUint16, true, func(x float64) ua.Variant { return ua.UInt16(uint16(x)) }},
	"Int32":  {math.MinInt32, math.MaxInt32, true, func(x float64) ua.Variant { return ua.Int32(int32(x)) }},
	"UInt32": {0, math.MaxUint32, true, func(x float64) ua.Variant { return ua.UInt32(uint32(x)) }},
	"Int64":  {-1 << 53, 1 << 53, true, func(x float64) ua.Variant { return ua.Int64(int64(x)) }},
	"UInt64": {0, 1 << 53, true, func(x float64) ua.Variant { return ua.UInt64(uint64(x)) }},
	"Float":  {-math.MaxFloat32, math.MaxFloat32, false, func(x float64) ua.Variant { return ua.Float(float32(x)) }},
	"Double": {-math.MaxFloat64 / 2, math.MaxFloat64 / 2, false, ua.Double},
}

func numberTypes() []string {
	return []string{"SByte", "Byte", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double"}
}

// AddVariables adds the simulated variables to a space that has the configuration's namespaces, with the
// folders that their names ask for.
func (c *Config) AddVariables(space *memspace.Space) error {
	for i := range c.Variables {
		v := &c.Variables[i]
		ns := space.Namespace()
		if v.Namespace != "" {
			ns += uint16(slices.Index(c.Namespaces, v.Namespace))
		}
		if err := v.add(space, ns); err != nil {
			return c.at(fmt.Sprintf("variables[%d]", i), "%v", err)
		}
	}
	return nil
}

// add adds a variable and its folders.
func (v *Variable) add(space *memspace.Space, ns uint16) error {
	parent, path := space.Objects(), ""
	parts := strings.Split(v.Name, "/")
	last := len(parts) - 1
	for _, name := range parts[:last] {
		path += name
		id := ua.NewStringNodeID(ns, path)
		if parent = space.Node(id); parent == nil {
			above := space.Objects()
			if i := strings.LastIndexByte(path, '.'); i >= 0 {
				above = space.Node(ua.NewStringNodeID(ns, path[:i]))
			}
			parent = space.AddFolder(above, name, memspace.WithNodeID(id), memspace.WithBrowseName(ua.QualifiedName{NamespaceIndex: ns, Name: name}))
		}
		path += "."
	}
	id := ua.NewStringNodeID(ns, path+parts[last])
	if v.ID != "" {
		given, err := ua.ParseNodeID(v.ID)
		if err != nil {
			return err
		}
		id = given.WithNamespace(ns)
	}
	options := []memspace.Option{
		memspace.WithNodeID(id), memspace.WithBrowseName(ua.QualifiedName{NamespaceIndex: ns, Name: parts[last]}),
		memspace.WithDescription(v.Description),
	}
	if _, ok := numbers[v.Type]; ok {
		options = append(options, memspace.WithRange(v.Min, v.Max))
	}
	if v.Unit != "" {
		options = append(options, memspace.WithUnit(ua.EUInformation{UnitID: -1, DisplayName: ua.Text(v.Unit)}))
	}
	first, why := v.first()
	if why != "" {
		return fmt.Errorf("%s", why)
	}
	if v.Kind == "writable" {
		options = append(options, memspace.Writable(v.onWrite), memspace.NonBlocking())
	} else {
		options = append(options, memspace.OnRead(v.onRead), memspace.NonBlocking(),
			memspace.WithSampling(float64(v.Interval.Milliseconds())))
	}
	err := space.AddVariable(parent, parts[last], first, options...).Err()
	if errors.Is(err, ua.BadNodeIdExists) {
		return fmt.Errorf("another node has the NodeId %v already: give another name or id", id.WithNamespace(0)) // whose index is not known yet
	}
	return err
}

// first is the first value, or a sentence why there is none.
func (v *Variable) first() (ua.Variant, string) {
	switch t, ok := numbers[v.Type]; {
	case ok && v.Value == "":
		return t.make(v.Min), ""
	case ok:
		x, err := strconv.ParseFloat(v.Value, 64)
		switch {
		case err != nil || t.whole && x != math.Trunc(x):
			return ua.Variant{}, fmt.Sprintf("%q is no %s", v.Value, v.Type)
		case !(x >= v.Min && x <= v.Max):
			return ua.Variant{}, fmt.Sprintf("%s is not from min to max, %v to %v", v.Value, v.Min, v.Max)
		}
		return t.make(x), ""
	case v.Type == "Boolean":
		b, err := strconv.ParseBool(v.Value)
		if err != nil && v.Value != "" {
			return ua.Variant{}, fmt.Sprintf("%q is neither true nor false", v.Value)
		}
		return ua.Boolean(b), ""
	}
	return ua.String(v.Value), ""
}

// onWrite refuses numbers outside the range.
func (v *Variable) onWrite(w memspace.Write) ua.StatusCode {
	if _, ok := numbers[v.Type]; ok {
		if x := w.New.Value.Float(); !(x >= v.Min && x <= v.Max) {
			return ua.BadOutOfRange
		}
	}
	return ua.Good
}

func (v *Variable) onRead(r memspace.Read) ua.DataValue {
	x, at := v.at(r.Context.Now)
	return ua.DataValue{Value: numbers[v.Type].make(x), SourceTimestamp: at}
}

// at is the value at a time, and when it became that. It follows from the time alone, so all who ask see
// the same, and a variable costs nothing while nobody asks.
func (v *Variable) at(now ua.DateTime) (float64, ua.DateTime) {
	interval := max(int64(v.Interval/100), 1) // DateTime counts 100 ns
	n := int64(now) / interval
	since := ua.DateTime(n * interval)
	period := max(int64(v.Period/100), 1)
	phase := float64(int64(since)%period) / float64(period)
	x := v.Min
	switch v.Kind {
	case "ramp":
		x = v.Min + phase*(v.Max-v.Min)
	case "sine":
		x = (v.Min+v.Max)/2 + math.Sin(2*math.Pi*phase)*(v.Max-v.Min)/2
	case "random":
		h := fnv.New64a()
		fmt.Fprint(h, v.Name, n)
		x = v.Min + float64(mix(h.Sum64())>>11)/(1<<53)*(v.Max-v.Min)
	case "counter":
		x = v.Min + math.Mod(float64(n), math.Floor(v.Max-v.Min)+1)
	}
	if numbers[v.Type].whole {
		x = math.Round(x)
	}
	return min(max(x, v.Min), v.Max), since
}

// mix spreads the bits of a hash over all of it (the last step of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
