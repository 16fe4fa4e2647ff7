package uaserver

import "github.com/actua/actua/ua"

// The services that this server has. Requests for all others are answered BadServiceUnsupported.
func init() {
	row("FindServers", noSession,
		func(q *ua.FindServersRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.FindServersResponse) *ua.ResponseHeader { return &p.ResponseHeader }, findServers)
	row("GetEndpoints", noSession,
		func(q *ua.GetEndpointsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.GetEndpointsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, getEndpoints)
	row("CreateSession", noSession,
		func(q *ua.CreateSessionRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.CreateSessionResponse) *ua.ResponseHeader { return &p.ResponseHeader }, createSession)
	row("ActivateSession", created,
		func(q *ua.ActivateSessionRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.ActivateSessionResponse) *ua.ResponseHeader { return &p.ResponseHeader }, activateSession)
	row("CloseSession", created,
		func(q *ua.CloseSessionRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.CloseSessionResponse) *ua.ResponseHeader { return &p.ResponseHeader }, closeSession)
	row("Cancel", activated,
		func(q *ua.CancelRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.CancelResponse) *ua.ResponseHeader { return &p.ResponseHeader }, cancelRequests)
	row("Browse", activated,
		func(q *ua.BrowseRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.BrowseResponse) *ua.ResponseHeader { return &p.ResponseHeader }, browse)
	row("BrowseNext", activated,
		func(q *ua.BrowseNextRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.BrowseNextResponse) *ua.ResponseHeader { return &p.ResponseHeader }, browseNext)
	row("TranslateBrowsePathsToNodeIds", activated,
		func(q *ua.TranslateBrowsePathsToNodeIDsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.TranslateBrowsePathsToNodeIDsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, translate)
	row("RegisterNodes", activated,
		func(q *ua.RegisterNodesRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.RegisterNodesResponse) *ua.ResponseHeader { return &p.ResponseHeader }, registerNodes)
	row("UnregisterNodes", activated,
		func(q *ua.UnregisterNodesRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.UnregisterNodesResponse) *ua.ResponseHeader { return &p.ResponseHeader }, unregisterNodes)
	row("Read", activated,
		func(q *ua.ReadRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.ReadResponse) *ua.ResponseHeader { return &p.ResponseHeader }, read)
	row("Write", activated,
		func(q *ua.WriteRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.WriteResponse) *ua.ResponseHeader { return &p.ResponseHeader }, write)
	row("Call", activated,
		func(q *ua.CallRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.CallResponse) *ua.ResponseHeader { return &p.ResponseHeader }, callMethods)
	row("CreateSubscription", activated,
		func(q *ua.CreateSubscriptionRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.CreateSubscriptionResponse) *ua.ResponseHeader { return &p.ResponseHeader }, createSubscription)
	row("ModifySubscription", activated,
		func(q *ua.ModifySubscriptionRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.ModifySubscriptionResponse) *ua.ResponseHeader { return &p.ResponseHeader }, modifySubscription)
	row("SetPublishingMode", activated,
		func(q *ua.SetPublishingModeRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.SetPublishingModeResponse) *ua.ResponseHeader { return &p.ResponseHeader }, setPublishingMode)
	row("Publish", activated,
		func(q *ua.PublishRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.PublishResponse) *ua.ResponseHeader { return &p.ResponseHeader }, publish)
	row("Republish", activated,
		func(q *ua.RepublishRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.RepublishResponse) *ua.ResponseHeader { return &p.ResponseHeader }, republish)
	row("TransferSubscriptions", activated,
		func(q *ua.TransferSubscriptionsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.TransferSubscriptionsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, transferSubscriptions)
	row("DeleteSubscriptions", activated,
		func(q *ua.DeleteSubscriptionsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.DeleteSubscriptionsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, deleteSubscriptions)
	row("CreateMonitoredItems", activated,
		func(q *ua.CreateMonitoredItemsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.CreateMonitoredItemsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, createMonitoredItems)
	row("ModifyMonitoredItems", activated,
		func(q *ua.ModifyMonitoredItemsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.ModifyMonitoredItemsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, modifyMonitoredItems)
	row("SetMonitoringMode", activated,
		func(q *ua.SetMonitoringModeRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.SetMonitoringModeResponse) *ua.ResponseHeader { return &p.ResponseHeader }, setMonitoringMode)
	row("SetTriggering", activated,
		func(q *ua.SetTriggeringRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.SetTriggeringResponse) *ua.ResponseHeader { return &p.ResponseHeader }, setTriggering)
	row("DeleteMonitoredItems", activated,
		func(q *ua.DeleteMonitoredItemsRequest) *ua.RequestHeader { return &q.RequestHeader },
		func(p *ua.DeleteMonitoredItemsResponse) *ua.ResponseHeader { return &p.ResponseHeader }, deleteMonitoredItems)
}
