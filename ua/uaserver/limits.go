package uaserver

import (
	"fmt"
	"time"
)

// Limits bound what clients can make the server do. Zero takes the default, a negative number means
// no limit. Counts are per session unless they say otherwise.
type Limits struct {
	MaxSessions int // of the server; default 1000
	MaxChannels int // connections of the server; default 2000

	MinSessionTimeout time.Duration // default 10 s
	MaxSessionTimeout time.Duration // default 1 h
	// ActivationTimeout is how long a session may stay unactivated; default 10 s.
	ActivationTimeout time.Duration

	// Items in one request, advertised in ServerCapabilities/OperationLimits (Part 5, 6.3.11);
	// default 10,000 each.
	MaxNodesPerRead           int
	MaxNodesPerWrite          int
	MaxNodesPerBrowse         int
	MaxNodesPerMethodCall     int
	MaxNodesPerRegisterNodes  int
	MaxNodesPerTranslatePaths int

	// MaxReferencesPerNode is how many references one Browse or BrowseNext returns of a node at
	// most; default no limit but the message size.
	MaxReferencesPerNode       int
	MaxBrowseContinuationPoint int // default 100
	// MaxPendingRequests is how many requests may wait for callbacks at a time; default 100.
	MaxPendingRequests int
	// MaxHandshakes is how many CreateSession and ActivateSession calls of all clients are worked
	// on at a time; further ones are answered BadServerTooBusy. Default 8 a processor, at least 128.
	MaxHandshakes int

	// Subscriptions and monitored items (Part 4, 5.13 and 5.14).
	MaxSubscriptions           int           // of a session; default 100
	MaxMonitoredItems          int           // of a subscription; default 100,000
	MaxMonitoredItemsPerCall   int           // default 10,000
	MaxPublishRequests         int           // that wait, of a session; the oldest is answered BadTooManyPublishRequests; default 20
	MaxRetransmissionQueue     int           // messages that are kept until they are acknowledged, of a subscription; default 100
	MaxNotificationsPerPublish int           // default 10,000
	MaxDataQueue               int           // values of a monitored item; default 1000
	MaxEventQueue              int           // events of a monitored item; default 10,000
	MinPublishingInterval      time.Duration // default 10 ms
	MaxPublishingInterval      time.Duration // default 1 h
	MinSamplingInterval        time.Duration // of nodes that are read to see changes; default 10 ms
	MinSubscriptionLifetime    time.Duration // default 10 s
	MaxSubscriptionLifetime    time.Duration // default 1 h
	// MaxDurableLifetime is how long a durable subscription lives without its client, in whole hours
	// (Part 5, 9.3). Default: there are none, and SetSubscriptionDurable answers BadNotSupported.
	MaxDurableLifetime time.Duration

	MaxMessageSize int // bytes of a request or response; default 16 MiB
	MaxBufferSize  int // bytes of a chunk, 8192 and above; default 65,535
	MaxChunkCount  int // chunks of a request; default as many of 8192 bytes as MaxMessageSize needs
	// MaxReceiveMemory is how many bytes the unfinished requests of all clients hold; default 256 MiB.
	// Complete and decoded they may take twice as much until they are answered, and one of them a
	// quarter of that: it is answered BadEncodingLimitsExceeded if it is larger, and BadServerTooBusy
	// when others leave no room for a second.
	MaxReceiveMemory int
	MaxStringLength  int           // bytes; default 16 Mi
	MaxByteString    int           // bytes; default 16 Mi
	MaxArrayLength   int           // elements; default 16 Mi
	MaxNesting       int           // of values in values; default 100
	HandshakeTimeout time.Duration // from the connection to the open channel; default 10 s
	IdleTimeout      time.Duration // of a connection without any request; default none but the token's lifetime
	MinTokenLifetime time.Duration // default 60 s
	MaxTokenLifetime time.Duration // default 1 h

	// MaxLoginFailures wrong passwords of a user from one address lock that pair out for
	// LockoutTime; defaults 5 and 10 s.
	MaxLoginFailures int
	LockoutTime      time.Duration
}

const noLimit = 1<<31 - 1

// leastBody is what a chunk of 8192 bytes, the smallest buffer, holds at least with any policy: headers,
// signature and padding take less than 192 bytes.
const leastBody = 8000

func defaultTo[T int | time.Duration](v *T, d T) {
	switch {
	case *v == 0:
		*v = d
	case *v < 0:
		*v = noLimit
		if d, ok := any(v).(*time.Duration); ok {
			*d = 1<<63 - 1
		}
	}
}

// withDefaults returns the limits with every default filled in.
func (l Limits) withDefaults() (Limits, error) {
	defaultTo(&l.MaxSessions, 1000)
	defaultTo(&l.MaxChannels, 2000)
	defaultTo(&l.MinSessionTimeout, 10*time.Second)
	defaultTo(&l.MaxSessionTimeout, time.Hour)
	defaultTo(&l.ActivationTimeout, 10*time.Second)
	for _, v := range []*int{&l.MaxNodesPerRead, &l.MaxNodesPerWrite, &l.MaxNodesPerBrowse,
		&l.MaxNodesPerMethodCall, &l.MaxNodesPerRegisterNodes, &l.MaxNodesPerTranslatePaths} {
		defaultTo(v, 10_000)
	}
	defaultTo(&l.MaxReferencesPerNode, noLimit)
	defaultTo(&l.MaxBrowseContinuationPoint, 100)
	defaultTo(&l.MaxPendingRequests, 100)
	defaultTo(&l.MaxHandshakes, max(128, 8*processors()))
	defaultTo(&l.MaxSubscriptions, 100)
	defaultTo(&l.MaxMonitoredItems, 100_000)
	defaultTo(&l.MaxMonitoredItemsPerCall, 10_000)
	defaultTo(&l.MaxPublishRequests, 20)
	defaultTo(&l.MaxRetransmissionQueue, 100)
	defaultTo(&l.MaxNotificationsPerPublish, 10_000)
	defaultTo(&l.MaxDataQueue, 1000)
	defaultTo(&l.MaxEventQueue, 10_000)
	defaultTo(&l.MinPublishingInterval, 10*time.Millisecond)
	defaultTo(&l.MaxPublishingInterval, time.Hour)
	defaultTo(&l.MinSamplingInterval, 10*time.Millisecond)
	defaultTo(&l.MinSubscriptionLifetime, 10*time.Second)
	defaultTo(&l.MaxSubscriptionLifetime, time.Hour)
	defaultTo(&l.MaxDurableLifetime, 0)
	defaultTo(&l.MaxMessageSize, 16<<20)
	defaultTo(&l.MaxBufferSize, 65_535)
	defaultTo(&l.MaxChunkCount, l.MaxMessageSize/leastBody+1)
	defaultTo(&l.MaxReceiveMemory, 256<<20)
	defaultTo(&l.MaxStringLength, 16<<20)
	defaultTo(&l.MaxByteString, 16<<20)
	defaultTo(&l.MaxArrayLength, 16<<20)
	defaultTo(&l.MaxNesting, 100)
	defaultTo(&l.HandshakeTimeout, 10*time.Second)
	defaultTo(&l.MinTokenLifetime, time.Minute)
	defaultTo(&l.MaxTokenLifetime, time.Hour)
	defaultTo(&l.MaxLoginFailures, 5)
	defaultTo(&l.LockoutTime, 10*time.Second)
	switch {
	case l.MinSessionTimeout > l.MaxSessionTimeout:
		return l, fmt.Errorf("Limits.MinSessionTimeout %v is above MaxSessionTimeout %v", l.MinSessionTimeout, l.MaxSessionTimeout)
	case l.MinPublishingInterval > l.MaxPublishingInterval:
		return l, fmt.Errorf("Limits.MinPublishingInterval %v is above MaxPublishingInterval %v", l.MinPublishingInterval, l.MaxPublishingInterval)
	case l.MinSubscriptionLifetime > l.MaxSubscriptionLifetime:
		return l, fmt.Errorf("Limits.MinSubscriptionLifetime %v is above MaxSubscriptionLifetime %v", l.MinSubscriptionLifetime, l.MaxSubscriptionLifetime)
	case l.MaxBufferSize < 8192:
		return l, fmt.Errorf("Limits.MaxBufferSize %d is below 8192, the least that OPC UA allows", l.MaxBufferSize)
	}
	return l, nil
}

// advertised is a limit as clients read it: 0 stands for none.
func advertised(n int) uint32 {
	if n >= noLimit {
		return 0
	}
	return uint32(n)
}
