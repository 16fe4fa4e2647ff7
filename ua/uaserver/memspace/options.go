package memspace

import (
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// Option says more about a node that is added.
type Option func(*settings)

// settings is what a node is made from.
type settings struct {
	class       ua.NodeClass
	id          ua.NodeID
	name        ua.QualifiedName
	display     *ua.LocalizedText
	description ua.LocalizedText
	writeMask   ua.WriteMask
	allow       AllowFunc
	reference   ua.NodeID // from the parent
	typeDef     ua.NodeID
	notifier    ua.EventNotifierType
	dataType    ua.NodeID
	rank        *int32
	hooks       hooks
	access      ua.AccessLevelType
	unit        *ua.EUInformation
	limits      *ua.Range
	states      []ua.LocalizedText
	twoStates   bool
	abstract    bool
	versioned   bool
	definition  ua.Structure
	err         error
}

// AllowFunc decides whether the session that asks has a permission on a node: PermissionTypeRead and
// Write of a value, WriteAttribute, Call. It is asked often, must not block, and runs before
// callbacks; refusals are answered BadUserAccessDenied (Part 3, 8.55).
type AllowFunc func(session *uaserver.SessionInfo, permission ua.PermissionType) bool

// WithNodeID gives the node an id; its namespace is one of the Space's. Without it the id is the
// browse name behind the id of the parent: "Line1.Machine2.Speed".
func WithNodeID(id ua.NodeID) Option { return func(s *settings) { s.id = id } }

// WithBrowseName gives a browse name of another namespace than the first of the Space.
func WithBrowseName(name ua.QualifiedName) Option { return func(s *settings) { s.name = name } }

// WithDisplayName gives the name that people see; default the browse name.
func WithDisplayName(text ua.LocalizedText) Option { return func(s *settings) { s.display = &text } }

// WithDescription explains the node.
func WithDescription(text string) Option {
	return func(s *settings) { s.description = ua.Text(text) }
}

// WithReference is the type of the reference from the parent. Default: HasComponent, Organizes for
// objects in folders, HasProperty for properties, HasSubtype for types.
func WithReference(referenceType ua.NodeID) Option {
	return func(s *settings) { s.reference = referenceType }
}

// WithTypeDefinition is the type of an object or variable; default BaseObjectType and
// BaseDataVariableType. The children that a type prescribes are not made.
func WithTypeDefinition(id ua.NodeID) Option { return func(s *settings) { s.typeDef = id } }

// WithEventNotifier says that clients can subscribe to the events of an object (Part 3, 5.5.1): its own, and
// those of objects that its references HasEventSource and HasNotifier lead to (Space.AddReference).
func WithEventNotifier(bits ua.EventNotifierType) Option {
	return func(s *settings) { s.notifier = bits }
}

// WithDataType is the data type of a variable; default the built-in type of its first value.
func WithDataType(id ua.NodeID) Option { return func(s *settings) { s.dataType = id } }

// WithRank is the ValueRank of a variable; default that of its first value.
func WithRank(rank int32) Option { return func(s *settings) { s.rank = &rank } }

// WithDimensions bounds the lengths of the dimensions, 0 for no bound, and so sets ValueRank to their
// number (Part 3, 5.6.2).
func WithDimensions(dims ...uint32) Option {
	return func(s *settings) {
		rank := int32(len(dims))
		s.hooks.dims, s.rank = dims, &rank
	}
}

// WithAccess is the access level of a variable (Part 3, 8.57); default CurrentRead.
func WithAccess(bits ua.AccessLevelType) Option { return func(s *settings) { s.access = bits } }

// Writable lets clients write a variable. Of several callbacks the last one counts; see OnWrite.
func Writable(onWrite ...WriteFunc) Option {
	return func(s *settings) {
		s.access |= ua.AccessLevelTypeCurrentWrite
		for _, f := range onWrite {
			s.hooks.onWrite = f
		}
	}
}

// OnWrite is called with what a client writes, after type and access were checked. It may refuse with
// a bad status, which the client gets; otherwise the value is stored and the client gets the status.
func OnWrite(f WriteFunc) Option { return func(s *settings) { s.hooks.onWrite = f } }

// OnRead is called for the value of a variable when a client reads it, unless the client is content
// with the last answer (MaxAge). The answer is kept as the variable's value.
func OnRead(f ReadFunc) Option { return func(s *settings) { s.hooks.onRead = f } }

// NonBlocking declares that the callbacks of a node return at once; they then run where the request
// was read, which is faster. One that blocks all the same delays the requests of many clients.
func NonBlocking() Option { return func(s *settings) { s.hooks.nonBlocking = true } }

// WithSampling is the MinimumSamplingInterval of a variable in ms; 0, the default, for changes that
// are reported as they happen.
func WithSampling(ms float64) Option { return func(s *settings) { s.hooks.sampling = ms } }

// Historizing says that the history of the variable is being recorded (Part 3, 5.6.2).
func Historizing() Option { return func(s *settings) { s.hooks.historizing = true } }

// WithWriteMask lets clients write attributes: WriteMaskDisplayName and WriteMaskDescription.
func WithWriteMask(bits ua.WriteMask) Option {
	return func(s *settings) {
		s.writeMask = bits
		if bits&^(ua.WriteMaskDisplayName|ua.WriteMaskDescription) != 0 {
			s.err = fmt.Errorf("write mask 0x%X has attributes that cannot be written: %w", uint32(bits), ua.BadNotSupported)
		}
	}
}

// Allow restricts what sessions may do with the node; default is that all may do all.
func Allow(f AllowFunc) Option { return func(s *settings) { s.allow = f } }

// WithUnit gives a variable the property EngineeringUnits, and the type AnalogUnitType (Part 8, 5.3).
func WithUnit(unit ua.EUInformation) Option { return func(s *settings) { s.unit = &unit } }

// WithRange gives a variable the property EURange, and the type AnalogItemType (Part 8, 5.3.2).
func WithRange(low, high float64) Option {
	return func(s *settings) { s.limits = &ua.Range{Low: low, High: high} }
}

// WithStates makes a variable a MultiStateDiscreteType: its values, a UInt32 for example, are indexes
// of these texts, in the property EnumStrings (Part 8, 5.3.3).
func WithStates(names ...string) Option {
	return func(s *settings) { s.states, s.typeDef = texts(names), ua.ID(uaid.MultiStateDiscreteType) }
}

// WithTrueFalse makes a Boolean variable a TwoStateDiscreteType with these texts (Part 8, 5.3.3).
func WithTrueFalse(whenTrue, whenFalse string) Option {
	return func(s *settings) {
		s.states, s.twoStates = texts([]string{whenFalse, whenTrue}), true
		s.typeDef = ua.ID(uaid.TwoStateDiscreteType)
	}
}

func texts(names []string) []ua.LocalizedText {
	list := make([]ua.LocalizedText, len(names))
	for i, n := range names {
		list[i] = ua.Text(n)
	}
	return list
}

// Abstract marks a type of which there are no instances (Part 3, 5.5.2).
func Abstract() Option { return func(s *settings) { s.abstract = true } }

// WithDefinition is the DataTypeDefinition of a data type: a ua.StructureDefinition or a
// ua.EnumDefinition (Part 3, 5.8.3).
func WithDefinition(d ua.Structure) Option { return func(s *settings) { s.definition = d } }
