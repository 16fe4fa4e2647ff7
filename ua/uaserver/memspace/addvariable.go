package memspace

import (
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// AddVariable adds a variable with its first value, which also tells data type and rank unless options
// do. A null Variant gives a variable that has no value yet (BadWaitingForInitialData).
func (s *Space) AddVariable(parent Referent, name string, value ua.Variant, options ...Option) *Variable {
	set := s.settings(name, options)
	set.class = ua.NodeClassVariable
	return s.addVariable(parent, value, set)
}

func (s *Space) addVariable(parent Referent, value ua.Variant, set *settings) *Variable {
	set.defaultType()
	v := s.newVariable(value, set)
	s.add(parent, &v.Node, set)
	if v.Err() == nil {
		s.describe(v, set)
	}
	return v
}

// AddProperty adds a variable that tells something about its parent (Part 3, 4.5.2).
func (s *Space) AddProperty(parent Referent, name string, value ua.Variant, options ...Option) *Variable {
	return s.addVariable(parent, value, s.propertySettings(name, options...))
}

func (s *Space) propertySettings(name string, options ...Option) *settings {
	set := s.settings(name, append([]Option{
		WithTypeDefinition(ua.ID(uaid.PropertyType)), WithReference(ua.ID(uaid.HasProperty)),
	}, options...))
	set.class = ua.NodeClassVariable
	return set
}

// defaultType is the most general type that has the properties which the options ask for.
func (set *settings) defaultType() {
	if !set.typeDef.IsNull() {
		return
	}
	switch {
	case set.limits != nil:
		set.typeDef = ua.ID(uaid.AnalogItemType)
	case set.unit != nil:
		set.typeDef = ua.ID(uaid.AnalogUnitType)
	default:
		set.typeDef = ua.ID(uaid.BaseDataVariableType)
	}
}

func (s *Space) newVariable(value ua.Variant, set *settings) *Variable {
	v := &Variable{Node: Node{space: s}, access: set.access, rank: RankScalar}
	v.variable = v
	switch {
	case set.rank != nil:
		v.rank = *set.rank
	case value.IsArray():
		v.rank = int32(len(value.Dimensions()))
	}
	if !set.dataType.IsNull() {
		v.dataType = s.dataType(set.dataType)
	} else if v.dataType = s.dataTypeFor(value); v.dataType == nil && set.err == nil {
		set.err = fmt.Errorf("the data type of the structure is not in the Space: %w", ua.BadDataTypeIdUnknown)
	}
	v.accepts = builtIn(v.dataType)
	if h := &set.hooks; len(h.dims) > 0 || h.sampling != 0 || h.historizing || h.onRead != nil || h.onWrite != nil {
		v.hooks = h
	}
	v.value = ua.DataValue{Value: value, SourceTimestamp: ua.Now()}
	if value.Type() == ua.TypeNull {
		v.value.Status = ua.BadWaitingForInitialData
		return v
	}
	fit, ok := v.accept(value)
	if !ok && set.err == nil {
		set.err = fmt.Errorf("the first value does not fit data type %v, rank %d: %w", v.DataType(), v.rank, ua.BadTypeMismatch)
	}
	v.value.Value = fit
	return v
}

// dataType is a data type by id; one of another manager accepts all values.
func (s *Space) dataType(id ua.NodeID) *Node {
	if n := s.nodes.find(id); n != nil {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outside(id)
}

// outside is a node of another manager. Space.mu is held.
func (s *Space) outside(id ua.NodeID) *Node {
	n := s.foreign[id]
	if n == nil {
		n = &Node{space: s, id: id}
		s.foreign[id] = n
	}
	return n
}

// dataTypeFor is the data type of a value; nil for a structure whose type is not in the Space.
func (s *Space) dataTypeFor(value ua.Variant) *Node {
	switch t := value.Type(); t {
	case ua.TypeNull, ua.TypeVariant:
		return s.known.baseDataType
	case ua.TypeExtensionObject:
		e, ok := ua.As[ua.ExtensionObject](value)
		if list, _ := ua.ArrayOf[ua.ExtensionObject](value); !ok && len(list) > 0 {
			e, ok = list[0], true
		}
		if !ok {
			return s.zero(uaid.Structure)
		}
		return s.dataTypeOf(&e)
	default:
		return s.zero(uint32(t))
	}
}

// describe adds the properties that the options ask for.
func (s *Space) describe(v *Variable, set *settings) {
	zero := func(name string) Option { return WithBrowseName(ua.QualifiedName{Name: name}) }
	if set.limits != nil {
		s.AddProperty(v, "EURange", ua.NewExtensionObject(set.limits).Variant(), zero("EURange"))
	}
	if set.unit != nil {
		s.AddProperty(v, "EngineeringUnits", ua.NewExtensionObject(set.unit).Variant(), zero("EngineeringUnits"))
	}
	switch {
	case set.twoStates:
		s.AddProperty(v, "FalseState", set.states[0].Variant(), zero("FalseState"))
		s.AddProperty(v, "TrueState", set.states[1].Variant(), zero("TrueState"))
	case len(set.states) > 0:
		s.AddProperty(v, "EnumStrings", ua.Array(set.states), zero("EnumStrings"))
	}
}

// Wrap makes a value of a structure. Its type may be in any namespace of the Space; it is
// BadDataTypeIdUnknown for others.
func (s *Space) Wrap(x ua.Structure) (ua.Variant, error) {
	id := x.BinaryID()
	if id.NamespaceURI != "" {
		i, ok := s.index(id.NamespaceURI)
		if !ok {
			return ua.Variant{}, fmt.Errorf("memspace: no namespace %q: %w", id.NamespaceURI, ua.BadDataTypeIdUnknown)
		}
		id.NodeID = id.NodeID.WithNamespace(i)
	}
	return ua.ExtensionObject{TypeID: id.NodeID, Value: x}.Variant(), nil
}
