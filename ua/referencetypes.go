package ua

import "sort"

// referenceTypes are the reference types of namespace 0 by name (Part 6, A.3), sorted. Paths name
// them without a look at the server; package ua cannot import uaid, which has the same numbers.
var referenceTypes = [...]struct {
	name string
	id   uint32
}{
	{"Aggregates", 44},
	{"AlarmGroupMember", 16362},
	{"AlarmSuppressionGroupMember", 32059},
	{"AliasFor", 23469},
	{"AlwaysGeneratesEvent", 3065},
	{"AssociatedWith", 24137},
	{"Controls", 25254},
	{"DataSetToWriter", 14936},
	{"FromState", 51},
	{"GeneratesEvent", 41},
	{"HasAddIn", 17604},
	{"HasAlarmSuppressionGroup", 16361},
	{"HasArgumentDescription", 129},
	{"HasAttachedComponent", 25264},
	{"HasCause", 53},
	{"HasChild", 34},
	{"HasComponent", 47},
	{"HasCondition", 9006},
	{"HasContainedComponent", 25263},
	{"HasCurrentData", 32633},
	{"HasCurrentEvent", 32634},
	{"HasDataSetReader", 15297},
	{"HasDataSetWriter", 15296},
	{"HasDescription", 39},
	{"HasDictionaryEntry", 17597},
	{"HasEffect", 54},
	{"HasEffectDisable", 17276},
	{"HasEffectEnable", 17983},
	{"HasEffectSuppressed", 17984},
	{"HasEffectUnsuppressed", 17985},
	{"HasEncoding", 38},
	{"HasEngineeringUnitDetails", 32558},
	{"HasEventSource", 36},
	{"HasFalseSubState", 9005},
	{"HasGuard", 15112},
	{"HasHistoricalConfiguration", 56},
	{"HasInterface", 17603},
	{"HasKeyValueDescription", 32407},
	{"HasLowerLayerInterface", 25238},
	{"HasModellingRule", 37},
	{"HasNotifier", 48},
	{"HasOptionalInputArgumentDescription", 131},
	{"HasOrderedComponent", 49},
	{"HasPhysicalComponent", 25262},
	{"HasProperty", 46},
	{"HasPubSubConnection", 14476},
	{"HasPushedSecurityGroup", 25345},
	{"HasQuantity", 32559},
	{"HasReaderGroup", 18805},
	{"HasReferenceDescription", 32679},
	{"HasStructuredComponent", 24136},
	{"HasSubStateMachine", 117},
	{"HasSubtype", 45},
	{"HasTrueSubState", 9004},
	{"HasTypeDefinition", 40},
	{"HasWriterGroup", 18804},
	{"HierarchicalReferences", 33},
	{"IsDeprecated", 23562},
	{"IsExecutableOn", 25253},
	{"IsExecutingOn", 25265},
	{"IsHostedBy", 25261},
	{"IsPhysicallyConnectedTo", 25257},
	{"NonHierarchicalReferences", 32},
	{"Organizes", 35},
	{"References", 31},
	{"RepresentsSameEntityAs", 25258},
	{"RepresentsSameFunctionalityAs", 25260},
	{"RepresentsSameHardwareAs", 25259},
	{"Requires", 25256},
	{"ToState", 52},
	{"UsesPriorityMappingTable", 25237},
	{"Utilizes", 25255},
}

// referenceTypeNamed is the reference type of namespace 0 with this browse name.
func referenceTypeNamed(name string) (NodeID, bool) {
	i := sort.Search(len(referenceTypes), func(i int) bool { return referenceTypes[i].name >= name })
	if i < len(referenceTypes) && referenceTypes[i].name == name {
		return ID(referenceTypes[i].id), true
	}
	return NodeID{}, false
}

// referenceTypeName is the browse name of a reference type of namespace 0, or "".
func referenceTypeName(id NodeID) string {
	for i := range referenceTypes {
		if ID(referenceTypes[i].id) == id {
			return referenceTypes[i].name
		}
	}
	return ""
}
