package uaserver

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// What Part 5, 6.3.3 to 6.3.5 shows of sessions and subscriptions. It is counted only while diagnostics are on.

// sessionDiagnostics is what a session counts for diagnostics.
type sessionDiagnostics struct {
	endpointURL, serverURI string // as CreateSession had them
	services               []serviceCount
	unauthorized           atomic.Uint32

	users []string // who logged in, oldest first; guarded by session.mu
}

// serviceCount are the requests of a service.
type serviceCount struct{ total, failed atomic.Uint32 }

// maxEndpointURL is how long an EndpointUrl is remembered, in bytes.
const maxEndpointURL = 4096

// maxUserHistory is how many changes of the user a session remembers.
const maxUserHistory = 32

// request counts a request of the session.
func (s *session) request(service *service) {
	if d := s.diagnostics; d != nil {
		d.services[service.index].total.Add(1)
	}
}

// requestFailed counts one that was answered with a ServiceFault.
func (s *session) requestFailed(service *service, status ua.StatusCode) {
	d := s.diagnostics
	if d == nil {
		return
	}
	d.services[service.index].failed.Add(1)
	switch status {
	case ua.BadUserAccessDenied, ua.BadIdentityTokenInvalid, ua.BadIdentityTokenRejected:
		d.unauthorized.Add(1)
	}
}

// loggedIn remembers who uses the session. session.mu is held.
func (d *sessionDiagnostics) loggedIn(user string) {
	if d == nil || len(d.users) > 0 && d.users[len(d.users)-1] == user {
		return
	}
	if len(d.users) == maxUserHistory {
		d.users = slices.Delete(d.users, 0, 1)
	}
	d.users = append(d.users, user)
}

// MayReadLive reports whether a client may have the value of a live node (Server.Live). What
// SessionSecurityDiagnosticsArray tells is for users who have logged in by name, over an encrypted channel
// (Part 5, 6.3.4); all else is for everybody.
func (s *Server) MayReadLive(id uint32, session *SessionInfo) bool {
	if id != uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray {
		return true
	}
	return !session.Anonymous() && session.SecurityMode == ua.MessageSecurityModeSignAndEncrypt
}

// snapshot is a value that is made once for a moment: a request can ask for it thousands of times.
type snapshot[T any] struct {
	mu    sync.Mutex
	at    ua.DateTime
	made  bool
	value T
}

func (c *snapshot[T]) get(now ua.DateTime, make func() T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.made || c.at != now {
		c.at, c.made, c.value = now, true, make()
	}
	return c.value
}

func (c *snapshot[T]) forget() {
	var none T
	c.mu.Lock()
	c.made, c.value = false, none
	c.mu.Unlock()
}

// snapshots are those of the arrays.
type snapshots struct {
	subscriptions, sessions, security snapshot[ua.Variant]
	intervals                         snapshot[uint32]
}

// forget gives their memory back.
func (c *snapshots) forget() {
	c.subscriptions.forget()
	c.sessions.forget()
	c.security.forget()
}

// structures makes the value of an array of structures.
func structures[T any, P interface {
	*T
	ua.Structure
}](list []T) ua.Variant {
	objects := make([]ua.ExtensionObject, len(list))
	for i := range list {
		objects[i] = ua.NewExtensionObject(P(&list[i]))
	}
	return ua.Array(objects)
}

// subscriptionDiagnostics is the value of SubscriptionDiagnosticsArray (Part 5, 7.11).
func (s *Server) subscriptionDiagnostics() ua.Variant {
	now := s.clock(s.now())
	all := s.subs.List()
	list := make([]ua.SubscriptionDiagnosticsDataType, 0, len(all))
	for _, sub := range all {
		var d ua.SubscriptionDiagnosticsDataType
		if !sub.Diagnostics(now, &d) {
			continue
		}
		if x, ok := sub.SessionTag().(*session); ok {
			d.SessionID = x.id
		}
		list = append(list, d)
	}
	return structures(list)
}

// publishingIntervals counts the different publishing intervals of subscriptions.
func (s *Server) publishingIntervals() uint32 {
	seen := map[time.Duration]struct{}{}
	for _, sub := range s.subs.List() {
		seen[sub.Params().PublishingInterval] = struct{}{}
	}
	return uint32(len(seen))
}

// sessionDiagnostics is the value of SessionDiagnosticsArray (Part 5, 7.13).
func (s *Server) sessionDiagnostics() ua.Variant {
	all := s.sessions.all()
	list := make([]ua.SessionDiagnosticsDataType, len(all))
	for i, x := range all {
		x.diagnose(&list[i])
	}
	return structures(list)
}

// diagnose fills in what is known of the session.
func (s *session) diagnose(d *ua.SessionDiagnosticsDataType) {
	*d = ua.SessionDiagnosticsDataType{
		SessionID: s.id, SessionName: s.name, ClientDescription: s.client,
		ActualSessionTimeout:   float64(s.timeout.Milliseconds()),
		MaxResponseMessageSize: uint32(s.maxResponse),
		ClientConnectionTime:   ua.NewDateTime(s.createdAt),
		ClientLastContactTime:  ua.NewDateTime(time.Unix(0, s.lastUse.Load())),
	}
	if info := s.info.Load(); info != nil {
		d.LocaleIDs = info.locales
	}
	if x := s.subscriptions(); x != nil {
		subscriptions, items, parked := x.Usage()
		d.CurrentSubscriptionsCount, d.CurrentMonitoredItemsCount, d.CurrentPublishRequestsInQueue = uint32(subscriptions), uint32(items), uint32(parked)
	}
	c := s.diagnostics
	if c == nil {
		return
	}
	d.EndpointURL, d.ServerURI, d.UnauthorizedRequestCount = c.endpointURL, c.serverURI, c.unauthorized.Load()
	for i, service := range services {
		n := ua.ServiceCounterDataType{TotalCount: c.services[i].total.Load(), ErrorCount: c.services[i].failed.Load()}
		d.TotalRequestCount.TotalCount += n.TotalCount
		d.TotalRequestCount.ErrorCount += n.ErrorCount
		if field := serviceField(d, service.name); field != nil {
			*field = n
		}
	}
}

// serviceField is where the counts of a service are shown; nil for one that has no place of its own.
func serviceField(d *ua.SessionDiagnosticsDataType, service string) *ua.ServiceCounterDataType {
	switch service {
	case "Read":
		return &d.ReadCount
	case "Write":
		return &d.WriteCount
	case "Call":
		return &d.CallCount
	case "CreateMonitoredItems":
		return &d.CreateMonitoredItemsCount
	case "ModifyMonitoredItems":
		return &d.ModifyMonitoredItemsCount
	case "SetMonitoringMode":
		return &d.SetMonitoringModeCount
	case "SetTriggering":
		return &d.SetTriggeringCount
	case "DeleteMonitoredItems":
		return &d.DeleteMonitoredItemsCount
	case "CreateSubscription":
		return &d.CreateSubscriptionCount
	case "ModifySubscription":
		return &d.ModifySubscriptionCount
	case "SetPublishingMode":
		return &d.SetPublishingModeCount
	case "Publish":
		return &d.PublishCount
	case "Republish":
		return &d.RepublishCount
	case "TransferSubscriptions":
		return &d.TransferSubscriptionsCount
	case "DeleteSubscriptions":
		return &d.DeleteSubscriptionsCount
	case "Browse":
		return &d.BrowseCount
	case "BrowseNext":
		return &d.BrowseNextCount
	case "TranslateBrowsePathsToNodeIds":
		return &d.TranslateBrowsePathsToNodeIDsCount
	case "RegisterNodes":
		return &d.RegisterNodesCount
	case "UnregisterNodes":
		return &d.UnregisterNodesCount
	}
	return nil
}

// securityDiagnostics is the value of SessionSecurityDiagnosticsArray (Part 5, 7.15).
func (s *Server) securityDiagnostics() ua.Variant {
	all := s.sessions.all()
	list := make([]ua.SessionSecurityDiagnosticsDataType, len(all))
	for i, x := range all {
		d := &list[i]
		*d = ua.SessionSecurityDiagnosticsDataType{
			SessionID: x.id, Encoding: "UA Binary", TransportProtocol: "opc.tcp",
			SecurityMode: x.security.mode, SecurityPolicyURI: x.security.policy.URI, ClientCertificate: x.certificate,
		}
		x.mu.Lock()
		if info := x.info.Load(); info != nil {
			if d.AuthenticationMechanism = "UserName"; info.Anonymous() {
				d.AuthenticationMechanism = "Anonymous"
			}
			d.ClientUserIDOfSession = info.User
		}
		if x.diagnostics != nil {
			d.ClientUserIDHistory = slices.Clone(x.diagnostics.users)
		}
		x.mu.Unlock()
	}
	return structures(list)
}

// diagnosticsSummary is the value of ServerDiagnosticsSummary (Part 5, 12.9).
func (s *Server) diagnosticsSummary(now ua.DateTime) ua.ServerDiagnosticsSummaryDataType {
	t := s.Stats()
	return ua.ServerDiagnosticsSummaryDataType{
		CurrentSessionCount:          uint32(t.Sessions),
		CumulatedSessionCount:        uint32(t.SessionsCreated),
		SecurityRejectedSessionCount: uint32(t.LoginsRejected),
		RejectedSessionCount:         uint32(t.SessionsRejected + t.LoginsRejected),
		SessionTimeoutCount:          uint32(t.SessionsTimedOut),
		CurrentSubscriptionCount:     uint32(s.subs.Count()),
		CumulatedSubscriptionCount:   uint32(t.SubscriptionsCreated),
		PublishingIntervalCount:      s.snapshots.intervals.get(now, s.publishingIntervals),
		RejectedRequestsCount:        uint32(t.RequestsRejected),
	}
}

// init adds what is under ServerDiagnostics to the live values.
func init() {
	for id, f := range map[uint32]func(*Server, ua.DateTime) ua.Variant{
		uaid.Server_ServerDiagnostics_EnabledFlag: func(s *Server, _ ua.DateTime) ua.Variant {
			return ua.Boolean(s.cfg.Diagnostics)
		},
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary: func(s *Server, now ua.DateTime) ua.Variant {
			sum := s.diagnosticsSummary(now)
			return ua.NewExtensionObject(&sum).Variant()
		},
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSessionCount:   countValue(func(t Stats) uint64 { return t.Sessions }),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CumulatedSessionCount: countValue(func(t Stats) uint64 { return t.SessionsCreated }),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SessionTimeoutCount:   countValue(func(t Stats) uint64 { return t.SessionsTimedOut }),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_RejectedSessionCount: countValue(func(t Stats) uint64 {
			return t.SessionsRejected + t.LoginsRejected
		}),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SecurityRejectedSessionCount: countValue(func(t Stats) uint64 { return t.LoginsRejected }),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_RejectedRequestsCount:        countValue(func(t Stats) uint64 { return t.RequestsRejected }),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CumulatedSubscriptionCount:   countValue(func(t Stats) uint64 { return t.SubscriptionsCreated }),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSubscriptionCount: func(s *Server, _ ua.DateTime) ua.Variant {
			return ua.UInt32(uint32(s.subs.Count()))
		},
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_PublishingIntervalCount: func(s *Server, now ua.DateTime) ua.Variant {
			return ua.UInt32(s.snapshots.intervals.get(now, s.publishingIntervals))
		},
		uaid.Server_ServerDiagnostics_SubscriptionDiagnosticsArray: func(s *Server, now ua.DateTime) ua.Variant {
			return s.snapshots.subscriptions.get(now, s.subscriptionDiagnostics)
		},
		uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionDiagnosticsArray: func(s *Server, now ua.DateTime) ua.Variant {
			return s.snapshots.sessions.get(now, s.sessionDiagnostics)
		},
		uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray: func(s *Server, now ua.DateTime) ua.Variant {
			return s.snapshots.security.get(now, s.securityDiagnostics)
		},
	} {
		liveValues[id] = f
	}
}
