package uaserver

import (
	"math"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/filter"
	"github.com/actua/actua/ua/uaid"
)

// productValue is a limit of the whole server that follows from those of its parts; 0, none, where one of
// them or their product is none.
func productValue(parts ...func(*Limits) int) func(*Server, ua.DateTime) ua.Variant {
	return func(s *Server, _ ua.DateTime) ua.Variant {
		n := 1.0
		for _, get := range parts {
			part := get(&s.cfg.Limits)
			if n *= float64(part); part >= noLimit || n > math.MaxUint32 {
				return ua.UInt32(0)
			}
		}
		return ua.UInt32(uint32(n))
	}
}

// profiles are the profiles that the server conforms to (Part 7, 6.6): Micro adds to Nano subscriptions for
// data changes, and two sessions.
func (s *Server) profiles() []string {
	const prefix = "http://opcfoundation.org/UA-Profile/Server/"
	list := []string{prefix + "NanoEmbeddedDevice2017"}
	if l := &s.cfg.Limits; l.MaxSessions >= 2 && l.MaxMonitoredItems >= 2 && l.MaxPublishRequests >= 2 {
		list = append(list, prefix+"MicroEmbeddedDevice2017")
	}
	return list
}

// init adds what clients of subscriptions may ask for (Part 5, 6.3.2 and 6.3.11).
func init() {
	sessions := func(l *Limits) int { return l.MaxSessions }
	subscriptions := func(l *Limits) int { return l.MaxSubscriptions }
	items := func(l *Limits) int { return l.MaxMonitoredItems }
	for id, f := range map[uint32]func(*Server, ua.DateTime) ua.Variant{
		uaid.Server_ServerCapabilities_ServerProfileArray: func(s *Server, _ ua.DateTime) ua.Variant {
			return ua.Array(s.profiles())
		},
		uaid.Server_ServerCapabilities_MinSupportedSampleRate: func(s *Server, _ ua.DateTime) ua.Variant {
			return ua.Double(float64(s.cfg.Limits.MinSamplingInterval) / float64(time.Millisecond))
		},
		uaid.Server_ServerCapabilities_MaxSubscriptions:                 productValue(sessions, subscriptions),
		uaid.Server_ServerCapabilities_MaxMonitoredItems:                productValue(sessions, subscriptions, items),
		uaid.Server_ServerCapabilities_MaxSubscriptionsPerSession:       limitValue(subscriptions),
		uaid.Server_ServerCapabilities_MaxMonitoredItemsPerSubscription: limitValue(items),
		uaid.Server_ServerCapabilities_MaxMonitoredItemsQueueSize: limitValue(func(l *Limits) int {
			return max(l.MaxDataQueue, l.MaxEventQueue)
		}),
		uaid.Server_ServerCapabilities_MaxSelectClauseParameters: limitValue(func(*Limits) int { return filter.DefaultSelectClauses }),
		uaid.Server_ServerCapabilities_MaxWhereClauseParameters:  limitValue(func(*Limits) int { return filter.DefaultWhereOperands }),
		uaid.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall: limitValue(func(l *Limits) int {
			return l.MaxMonitoredItemsPerCall
		}),
	} {
		liveValues[id] = f
	}
}
