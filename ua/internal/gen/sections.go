package main

import "strings"

// sections tells where Part 4 describes the services and their types: the NodeSet has only the
// sections of types that are nodes. The numbers are those of 1.05.07, each checked against
// reference.opcfoundation.org; in 1.05.03 and before, clause 5 counted one less from 5.5 on and some
// of clause 7 stood one further. They go before those of the NodeSet.
var sections = map[string]string{
	"FindServers": "5.5.2", "FindServersOnNetwork": "5.5.3", "GetEndpoints": "5.5.4",
	"RegisterServer": "5.5.5", "RegisterServer2": "5.5.6",
	"OpenSecureChannel": "5.6.2", "CloseSecureChannel": "5.6.3", "ChannelSecurityToken": "5.6.2",
	"CreateSession": "5.7.2", "ActivateSession": "5.7.3", "CloseSession": "5.7.4", "Cancel": "5.7.5",
	"AddNodes": "5.8.2", "AddReferences": "5.8.3", "DeleteNodes": "5.8.4", "DeleteReferences": "5.8.5",
	"AddNodesResult": "5.8.2", "DeleteReferencesItem": "5.8.5.2",
	"Browse": "5.9.2", "BrowseDescription": "5.9.2", "BrowseResultMask": "5.9.2", "BrowseNext": "5.9.3",
	"TranslateBrowsePathsToNodeIds": "5.9.4", "BrowsePath": "5.9.4", "BrowsePathResult": "5.9.4",
	"BrowsePathTarget": "5.9.4", "RegisterNodes": "5.9.5", "UnregisterNodes": "5.9.6",
	"Read": "5.11.2", "HistoryRead": "5.11.3", "HistoryReadValueId": "5.11.3", "HistoryReadResult": "5.11.3",
	"Write": "5.11.4", "WriteValue": "5.11.4", "HistoryUpdate": "5.11.5", "HistoryUpdateResult": "5.11.5",
	"Call": "5.12.2", "CallMethodRequest": "5.12.2", "CallMethodResult": "5.12.2",
	"CreateMonitoredItems": "5.13.2", "MonitoredItemCreateRequest": "5.13.2", "MonitoredItemCreateResult": "5.13.2",
	"ModifyMonitoredItems": "5.13.3", "MonitoredItemModifyRequest": "5.13.3", "MonitoredItemModifyResult": "5.13.3",
	"SetMonitoringMode": "5.13.4", "SetTriggering": "5.13.5", "DeleteMonitoredItems": "5.13.6",
	"CreateSubscription": "5.14.2", "ModifySubscription": "5.14.3", "SetPublishingMode": "5.14.4",
	"Publish": "5.14.5", "SubscriptionAcknowledgement": "5.14.5", "Republish": "5.14.6",
	"TransferSubscriptions": "5.14.7", "TransferResult": "5.14.7", "DeleteSubscriptions": "5.14.8",

	"SessionlessInvokeRequestType": "6.3", "SessionlessInvokeResponseType": "6.3",

	"BrowseDirection": "7.5", "BrowseResult": "7.6",
	"ContentFilterResult": "7.7.2", "ContentFilterElementResult": "7.7.2",
	"MonitoringParameters": "7.21", "MonitoringFilterResult": "7.22.1", "DataChangeFilter": "7.22.2",
	"DataChangeTrigger": "7.22.2", "DeadbandType": "7.22.2", "EventFilterResult": "7.22.3",
	"AggregateFilter": "7.22.4", "AggregateFilterResult": "7.22.4", "MonitoringMode": "7.23",
	"NodeAttributes": "7.24.1", "NodeAttributesMask": "7.24.1", "ObjectAttributes": "7.24.2",
	"VariableAttributes": "7.24.3", "MethodAttributes": "7.24.4", "ObjectTypeAttributes": "7.24.5",
	"VariableTypeAttributes": "7.24.6", "ReferenceTypeAttributes": "7.24.7", "DataTypeAttributes": "7.24.8",
	"ViewAttributes": "7.24.9", "GenericAttributes": "7.24.10", "GenericAttributeValue": "7.24.10",
	"NotificationData": "7.25.1", "DataChangeNotification": "7.25.2", "MonitoredItemNotification": "7.25.2",
	"EventNotificationList": "7.25.3", "EventFieldList": "7.25.3", "StatusChangeNotification": "7.25.4",
	"NotificationMessage": "7.26", "ReadValueId": "7.28", "ReferenceDescription": "7.29",
	"RequestHeader": "7.32", "ResponseHeader": "7.33", "ServiceFault": "7.34",
	"TimestampsToReturn": "7.39", "ViewDescription": "7.44",

	// The Query services are deprecated and stand in an annex.
	"QueryFirst": "B.2.3", "QueryDataDescription": "B.2.3", "NodeTypeDescription": "B.2.3",
	"ParsingResult": "B.2.3", "QueryNext": "B.2.4", "QueryDataSet": "B.2.5",
}

// historySections is the same for Part 11, of 1.05.04.
var historySections = map[string]string{
	"HistoryReadDetails": "6.5", "ReadEventDetails": "6.5.2", "ReadEventDetails2": "6.5.2",
	"ReadEventDetailsSorted": "6.5.2.5", "ReadRawModifiedDetails": "6.5.3", "ReadProcessedDetails": "6.5",
	"ReadAtTimeDetails": "6.5", "ReadAnnotationDataDetails": "6.5", "SortRuleElement": "6.5.7",
	"HistoryData": "6.6.2", "HistoryModifiedData": "6.6.3",
	"HistoryUpdateDetails": "6.9", "UpdateDataDetails": "6.9", "UpdateStructureDataDetails": "6.9",
	"UpdateEventDetails": "6.9.4", "DeleteRawModifiedDetails": "6.9.5", "DeleteAtTimeDetails": "6.9",
	"DeleteEventDetails": "6.9",
}

// pubSubSections is the same for the JSON messages of Part 14, of 1.05.07.
var pubSubSections = map[string]string{
	"JsonNetworkMessage": "7.2.5.3", "JsonDataSetMessage": "7.2.5.4", "JsonDataSetMetaDataMessage": "7.2.5.5.2",
	"JsonApplicationDescriptionMessage": "7.2.5.5.3", "JsonServerEndpointsMessage": "7.2.5.5.4",
	"JsonStatusMessage": "7.2.5.5.5", "JsonPubSubConnectionMessage": "7.2.5.5.6",
	"JsonActionMetaDataMessage": "7.2.5.5.7", "JsonActionResponderMessage": "7.2.5.5.8",
	"JsonActionNetworkMessage": "7.2.5.6", "JsonActionRequestMessage": "7.2.5.6.2",
	"JsonActionResponseMessage": "7.2.5.6.3",
}

// serviceType says what a type is to the services, and the place in the standard, or "".
func serviceType(name string) (what, section string) {
	what = "a structure"
	if s := historySections[name]; s != "" {
		return what, "Part 11, " + s
	}
	if s := pubSubSections[name]; s != "" {
		return what, "Part 14, " + s
	}
	s := sections[name]
	for _, suffix := range []string{"Request", "Response"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && s == "" && sections[base] != "" {
			what, s = "the "+strings.ToLower(suffix)+" of the service "+base, sections[base]
		}
	}
	if s == "" {
		return what, ""
	}
	return what, "Part 4, " + s
}
