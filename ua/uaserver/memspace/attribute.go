package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// attribute is an attribute of the node other than the Value of a variable. An attribute that nodes of
// the class do not have gives BadAttributeIdInvalid (Part 3, 5; Part 6, A.1). Roles are not checked
// here, so their attributes, which are optional, do not exist.
func (n *Node) attribute(ctx *uaserver.Context, a ua.AttributeID) (ua.Variant, ua.StatusCode) {
	switch a {
	case ua.AttributeNodeID:
		return n.id.Variant(), ua.Good
	case ua.AttributeNodeClass:
		return ua.Int32(int32(n.class)), ua.Good
	case ua.AttributeBrowseName:
		return n.name.Variant(), ua.Good
	case ua.AttributeDisplayName:
		return n.DisplayName().Variant(), ua.Good
	case ua.AttributeDescription:
		return n.describe().Variant(), ua.Good
	case ua.AttributeWriteMask:
		return ua.UInt32(uint32(n.writeMask())), ua.Good
	case ua.AttributeUserWriteMask:
		mask := n.writeMask()
		if mask != 0 && !n.allowed(ctx, ua.PermissionTypeWriteAttribute) {
			mask = 0
		}
		return ua.UInt32(uint32(mask)), ua.Good
	}
	switch n.Class() {
	case ua.NodeClassObject:
		if a == ua.AttributeEventNotifier {
			return ua.Byte(n.notifier), ua.Good
		}
	case ua.NodeClassView:
		switch a {
		case ua.AttributeEventNotifier:
			return ua.Byte(n.notifier), ua.Good
		case ua.AttributeContainsNoLoops:
			return ua.Boolean(n.more != nil && n.more.noLoops), ua.Good
		}
	case ua.NodeClassVariable:
		return n.variable.attribute(ctx, a)
	case ua.NodeClassMethod:
		switch a {
		case ua.AttributeExecutable:
			return ua.Boolean(n.executable()), ua.Good
		case ua.AttributeUserExecutable:
			return ua.Boolean(n.executable() && n.allowed(ctx, ua.PermissionTypeCall)), ua.Good
		}
	default:
		return n.typeAttribute(ctx, a)
	}
	return ua.Variant{}, ua.BadAttributeIdInvalid
}

func (n *Node) describe() ua.LocalizedText {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.more == nil {
		return ua.LocalizedText{}
	}
	return n.more.description
}

func (n *Node) writeMask() ua.WriteMask {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.more == nil {
		return 0
	}
	return n.more.writeMask
}

// typeAttribute is an attribute of a type.
func (n *Node) typeAttribute(ctx *uaserver.Context, a ua.AttributeID) (ua.Variant, ua.StatusCode) {
	t := n.info()
	if a == ua.AttributeIsAbstract {
		return ua.Boolean(t.abstract), ua.Good
	}
	switch n.Class() {
	case ua.NodeClassReferenceType:
		switch {
		case a == ua.AttributeSymmetric:
			return ua.Boolean(t.symmetric), ua.Good
		case a == ua.AttributeInverseName && t.inverse.Text != "":
			return t.inverse.Variant(), ua.Good
		}
	case ua.NodeClassDataType:
		if a == ua.AttributeDataTypeDefinition {
			if d := t.definitionOf(); !d.IsNull() {
				return d, ua.Good
			}
		}
	case ua.NodeClassVariableType:
		switch a {
		case ua.AttributeValue:
			if v := n.variable.Get(); !v.IsNull() {
				return v, ua.Good
			}
		case ua.AttributeDataType, ua.AttributeValueRank, ua.AttributeArrayDimensions:
			return n.variable.attribute(ctx, a)
		}
	}
	return ua.Variant{}, ua.BadAttributeIdInvalid
}

// attribute is an attribute that variables have (Part 3, 5.6.2).
func (v *Variable) attribute(ctx *uaserver.Context, a ua.AttributeID) (ua.Variant, ua.StatusCode) {
	h := v.rare()
	switch a {
	case ua.AttributeDataType:
		return v.DataType().Variant(), ua.Good
	case ua.AttributeValueRank:
		return ua.Int32(v.rank), ua.Good
	case ua.AttributeArrayDimensions:
		return ua.Array(v.arrayDimensions()), ua.Good
	case ua.AttributeAccessLevel:
		return ua.Byte(uint8(v.access)), ua.Good
	case ua.AttributeUserAccessLevel:
		return ua.Byte(uint8(v.userAccess(ctx))), ua.Good
	case ua.AttributeAccessLevelEx:
		return ua.UInt32(uint32(v.access)), ua.Good
	case ua.AttributeMinimumSamplingInterval:
		return ua.Double(h.sampling), ua.Good
	case ua.AttributeHistorizing:
		return ua.Boolean(h.historizing), ua.Good
	}
	return ua.Variant{}, ua.BadAttributeIdInvalid
}

// arrayDimensions has an entry a dimension: 0, for any length, unless there is a bound.
func (v *Variable) arrayDimensions() []uint32 {
	if dims := v.rare().dims; len(dims) > 0 || v.rank <= 0 {
		return dims
	}
	return make([]uint32, v.rank)
}

// The bits of an access level that a permission is needed for.
const (
	readBits  = ua.AccessLevelTypeCurrentRead
	writeBits = ua.AccessLevelTypeCurrentWrite | ua.AccessLevelTypeStatusWrite | ua.AccessLevelTypeTimestampWrite
)

func (v *Variable) userAccess(ctx *uaserver.Context) ua.AccessLevelType {
	access := v.access
	if access&readBits != 0 && !v.allowed(ctx, ua.PermissionTypeRead) {
		access &^= readBits
	}
	if access&writeBits != 0 && !v.allowed(ctx, ua.PermissionTypeWrite) {
		access &^= writeBits
	}
	return access
}
