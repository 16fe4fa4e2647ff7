package uaserver

import (
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Live is the current Value of a variable of namespace 0 that tells something about the server itself:
// ServerStatus and its components, ServerArray, NamespaceArray, ServiceLevel, Auditing, and what is
// under ServerCapabilities and ServerDiagnostics (Part 5, 6.3). id is its number in package
// uaid. It is false for other nodes, whose value then is the node manager's own. A null value cannot be
// read now (BadNotReadable): it belongs to diagnostics that are off. MayReadLive says who may have it. MayReadLive says who may have it.
func (s *Server) Live(id uint32, now ua.DateTime) (ua.Variant, bool) {
	f, ok := liveValues[id]
	switch {
	case !ok:
		return ua.Variant{}, false
	case !s.cfg.Diagnostics && slices.Contains(diagnosticValues, id):
		return ua.Variant{}, true
	}
	return f(s, now), true
}

// diagnosticValues cannot be read while diagnostics are off (Part 5, 6.3.3).
var diagnosticValues = []uint32{
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_ServerViewCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSessionCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CumulatedSessionCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SecurityRejectedSessionCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_RejectedSessionCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SessionTimeoutCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SessionAbortCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_PublishingIntervalCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSubscriptionCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CumulatedSubscriptionCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SecurityRejectedRequestsCount,
	uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_RejectedRequestsCount,
	uaid.Server_ServerDiagnostics_SubscriptionDiagnosticsArray,
	uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionDiagnosticsArray,
	uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray,
}

// Status is what ServerStatus shows (Part 5, 12.10).
func (s *Server) Status(now ua.DateTime) ua.ServerStatusDataType {
	st := ua.ServerStatusDataType{
		StartTime:   s.started,
		CurrentTime: now,
		State:       ua.ServerStateRunning,
		BuildInfo:   s.cfg.BuildInfo,
	}
	if s.stopping.Load() {
		st.State = ua.ServerStateShutdown
		st.ShutdownReason = ua.Text("the server is being stopped")
		if at := ua.DateTime(s.stopAt.Load()); at > now {
			st.SecondsTillShutdown = uint32((at - now) / 10_000_000)
		}
	}
	return st
}

func limitValue(get func(*Limits) int) func(*Server, ua.DateTime) ua.Variant {
	return func(s *Server, _ ua.DateTime) ua.Variant { return ua.UInt32(advertised(get(&s.cfg.Limits))) }
}

func countValue(get func(Stats) uint64) func(*Server, ua.DateTime) ua.Variant {
	return func(s *Server, _ ua.DateTime) ua.Variant { return ua.UInt32(uint32(get(s.Stats()))) }
}

func buildValue(get func(*ua.BuildInfo) ua.Variant) func(*Server, ua.DateTime) ua.Variant {
	return func(s *Server, _ ua.DateTime) ua.Variant { return get(&s.cfg.BuildInfo) }
}

// liveValues has more entries, for ServerCapabilities and ServerDiagnostics, from capabilities.go and
// serverdiagnostics.go.
var liveValues = map[uint32]func(*Server, ua.DateTime) ua.Variant{}

func init() {
	for id, f := range map[uint32]func(*Server, ua.DateTime) ua.Variant{
		uaid.Server_ServerArray: func(s *Server, _ ua.DateTime) ua.Variant {
			return ua.Array([]string{s.cfg.ApplicationURI})
		},
		uaid.Server_NamespaceArray: func(s *Server, _ ua.DateTime) ua.Variant { return ua.Array(s.namespaces) },
		uaid.Server_ServiceLevel:   func(*Server, ua.DateTime) ua.Variant { return ua.Byte(255) },
		uaid.Server_Auditing:       func(*Server, ua.DateTime) ua.Variant { return ua.Boolean(false) },

		uaid.Server_ServerStatus: func(s *Server, now ua.DateTime) ua.Variant {
			st := s.Status(now)
			return ua.NewExtensionObject(&st).Variant()
		},
		uaid.Server_ServerStatus_StartTime:   func(s *Server, _ ua.DateTime) ua.Variant { return s.started.Variant() },
		uaid.Server_ServerStatus_CurrentTime: func(_ *Server, now ua.DateTime) ua.Variant { return now.Variant() },
		uaid.Server_ServerStatus_State: func(s *Server, now ua.DateTime) ua.Variant {
			return ua.Int32(int32(s.Status(now).State))
		},
		uaid.Server_ServerStatus_SecondsTillShutdown: func(s *Server, now ua.DateTime) ua.Variant {
			return ua.UInt32(s.Status(now).SecondsTillShutdown)
		},
		uaid.Server_ServerStatus_ShutdownReason: func(s *Server, now ua.DateTime) ua.Variant {
			return s.Status(now).ShutdownReason.Variant()
		},
		uaid.Server_ServerStatus_BuildInfo: func(s *Server, _ ua.DateTime) ua.Variant {
			b := s.cfg.BuildInfo
			return ua.NewExtensionObject(&b).Variant()
		},
		uaid.Server_ServerStatus_BuildInfo_ProductName:      buildValue(func(b *ua.BuildInfo) ua.Variant { return ua.String(b.ProductName) }),
		uaid.Server_ServerStatus_BuildInfo_ProductUri:       buildValue(func(b *ua.BuildInfo) ua.Variant { return ua.String(b.ProductURI) }),
		uaid.Server_ServerStatus_BuildInfo_ManufacturerName: buildValue(func(b *ua.BuildInfo) ua.Variant { return ua.String(b.ManufacturerName) }),
		uaid.Server_ServerStatus_BuildInfo_SoftwareVersion:  buildValue(func(b *ua.BuildInfo) ua.Variant { return ua.String(b.SoftwareVersion) }),
		uaid.Server_ServerStatus_BuildInfo_BuildNumber:      buildValue(func(b *ua.BuildInfo) ua.Variant { return ua.String(b.BuildNumber) }),
		uaid.Server_ServerStatus_BuildInfo_BuildDate:        buildValue(func(b *ua.BuildInfo) ua.Variant { return b.BuildDate.Variant() }),

		uaid.Server_ServerCapabilities_MaxSessions:                 limitValue(func(l *Limits) int { return l.MaxSessions }),
		uaid.Server_ServerCapabilities_MaxArrayLength:              limitValue(func(l *Limits) int { return l.MaxArrayLength }),
		uaid.Server_ServerCapabilities_MaxStringLength:             limitValue(func(l *Limits) int { return l.MaxStringLength }),
		uaid.Server_ServerCapabilities_MaxByteStringLength:         limitValue(func(l *Limits) int { return l.MaxByteString }),
		uaid.Server_ServerCapabilities_MaxBrowseContinuationPoints: browsePointsValue,
		uaid.Server_ServerCapabilities_LocaleIdArray: func(*Server, ua.DateTime) ua.Variant {
			return ua.Array([]string{"en"})
		},
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead:          limitValue(func(l *Limits) int { return l.MaxNodesPerRead }),
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerWrite:         limitValue(func(l *Limits) int { return l.MaxNodesPerWrite }),
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerMethodCall:    limitValue(func(l *Limits) int { return l.MaxNodesPerMethodCall }),
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerBrowse:        limitValue(func(l *Limits) int { return l.MaxNodesPerBrowse }),
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRegisterNodes: limitValue(func(l *Limits) int { return l.MaxNodesPerRegisterNodes }),
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerTranslateBrowsePathsToNodeIds: limitValue(
			func(l *Limits) int { return l.MaxNodesPerTranslatePaths }),
	} {
		liveValues[id] = f
	}
}

// init gives the mandatory variables whose services do not exist here the value that says so, rather than
// none: queries and history have no continuation points, and there is nothing to count (Part 5, 6.3).
func init() {
	for id, v := range map[uint32]ua.Variant{
		uaid.Server_ServerCapabilities_MaxQueryContinuationPoints:   ua.UInt16(0),
		uaid.Server_ServerCapabilities_MaxHistoryContinuationPoints: ua.UInt16(0),
		uaid.Server_ServerCapabilities_SoftwareCertificates:         ua.Array([]ua.ExtensionObject{}),
		uaid.Server_ServerRedundancy_RedundancySupport:              ua.Int32(int32(ua.RedundancySupportNone)),

		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_ServerViewCount:               ua.UInt32(0),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SessionAbortCount:             ua.UInt32(0),
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_SecurityRejectedRequestsCount: ua.UInt32(0),
	} {
		liveValues[id] = func(*Server, ua.DateTime) ua.Variant { return v }
	}
}

func browsePointsValue(s *Server, _ ua.DateTime) ua.Variant {
	n := advertised(s.cfg.Limits.MaxBrowseContinuationPoint)
	return ua.UInt16(uint16(min(n, 65535)))
}
