package filter

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// typeTable is a small part of namespace 0, and a type of a vendor.
type typeTable struct {
	super  map[ua.NodeID]ua.NodeID
	class  map[ua.NodeID]ua.NodeClass
	fields map[ua.NodeID]map[string]ua.NodeClass
}

var vendorType = ua.NewNodeID(2, 1000) // below ConditionType, with fields of its own

var testTypes = newTypeTable()

func newTypeTable() *typeTable {
	t := &typeTable{map[ua.NodeID]ua.NodeID{}, map[ua.NodeID]ua.NodeClass{}, map[ua.NodeID]map[string]ua.NodeClass{}}
	add := func(class ua.NodeClass, super ua.NodeID, ids ...ua.NodeID) {
		for _, id := range ids {
			t.super[id], t.class[id] = super, class
		}
	}
	data := func(super uint32, ids ...uint32) {
		for _, id := range ids {
			add(ua.NodeClassDataType, ua.ID(super), ua.ID(id))
		}
	}
	data(0, uaid.BaseDataType)
	data(uaid.BaseDataType, uaid.Boolean, uaid.Number, uaid.String, uaid.DateTime, uaid.Guid, uaid.ByteString, uaid.XmlElement,
		uaid.NodeId, uaid.ExpandedNodeId, uaid.StatusCode, uaid.QualifiedName, uaid.LocalizedText, uaid.Structure, uaid.Enumeration,
		uaid.DataValue, uaid.DiagnosticInfo)
	data(uaid.Number, uaid.Integer, uaid.UInteger, uaid.Float, uaid.Double)
	data(uaid.Integer, uaid.SByte, uaid.Int16, uaid.Int32, uaid.Int64)
	data(uaid.UInteger, uaid.Byte, uaid.UInt16, uaid.UInt32, uaid.UInt64)
	data(uaid.Double, uaid.Duration)
	data(uaid.DateTime, uaid.UtcTime)
	data(uaid.Enumeration, uaid.ServerState)
	add(ua.NodeClassObjectType, ua.ID(uaid.BaseObjectType), ua.ID(uaid.BaseEventType), ua.ID(uaid.FolderType))
	add(ua.NodeClassObjectType, ua.NodeID{}, ua.ID(uaid.BaseObjectType))
	add(ua.NodeClassObjectType, ua.ID(uaid.BaseEventType), ua.ID(uaid.SystemEventType), ua.ID(uaid.ConditionType),
		ua.ID(uaid.EventQueueOverflowEventType), ua.ID(uaid.AuditEventType))
	add(ua.NodeClassObjectType, ua.ID(uaid.SystemEventType), ua.ID(uaid.DeviceFailureEventType))
	add(ua.NodeClassObjectType, ua.ID(uaid.ConditionType), vendorType)
	add(ua.NodeClassObject, ua.NodeID{}, ua.ID(uaid.Server))
	base := map[string]ua.NodeClass{}
	for f := EventID; f <= ConditionSubClassName; f++ {
		base[f.String()] = ua.NodeClassVariable
	}
	t.fields[ua.ID(uaid.BaseEventType)] = base
	t.fields[ua.ID(uaid.ConditionType)] = map[string]ua.NodeClass{"Retain": ua.NodeClassVariable, "EnabledState": ua.NodeClassVariable, "EnabledState/Id": ua.NodeClassVariable}
	t.fields[vendorType] = map[string]ua.NodeClass{"2:Text": ua.NodeClassVariable, "2:Number": ua.NodeClassVariable, "2:List": ua.NodeClassVariable,
		"2:Flag": ua.NodeClassVariable, "2:Node": ua.NodeClassVariable, "2:Any": ua.NodeClassVariable, "2:Denied": ua.NodeClassVariable, "2:Unsure": ua.NodeClassVariable, "2:Box": ua.NodeClassObject}
	return t
}

func (t *typeTable) IsSubtype(id, super ua.NodeID) bool {
	for !id.IsNull() {
		if id == super {
			return true
		}
		id = t.super[id]
	}
	return false
}

func (t *typeTable) NodeClass(id ua.NodeID) ua.NodeClass { return t.class[id] }

func (t *typeTable) FieldClass(eventType ua.NodeID, path []ua.QualifiedName) ua.NodeClass {
	name := ""
	for i, q := range path {
		if i > 0 {
			name += "/"
		}
		name += q.String()
	}
	if eventType == ua.ID(uaid.BaseEventType) {
		for _, fields := range t.fields {
			if c := fields[name]; c != 0 {
				return c
			}
		}
	}
	for id := eventType; !id.IsNull(); id = t.super[id] {
		if c := t.fields[id][name]; c != 0 {
			return c
		}
	}
	return 0
}
