package assoc

import "time"

// defaultSettings are what remote.DefaultSettings has, that is Akka.NET 1.5's reference configuration.
func defaultSettings() Settings {
	return Settings{
		MaximumFrameSize:                    128000,
		ConnectionTimeout:                   15 * time.Second,
		HandshakeTimeout:                    15 * time.Second,
		HeartbeatInterval:                   4 * time.Second,
		AcceptableHeartbeatPause:            120 * time.Second,
		BackoffInterval:                     50 * time.Millisecond,
		UsePassiveConnections:               true,
		RetryGateClosedFor:                  5 * time.Second,
		PruneQuarantineMarkerAfter:          5 * day,
		QuarantineAfterSilence:              2 * day,
		FlushWaitOnShutdown:                 2 * time.Second,
		SystemMessageBufferSize:             20000,
		SystemMessageAckPiggybackTimeout:    300 * time.Millisecond,
		ResendInterval:                      2 * time.Second,
		ResendLimit:                         200,
		InitialSystemMessageDeliveryTimeout: 3 * time.Minute,
		PendingSendLimit:                    50000,
		SystemMessageReceiveWindow:          2000,
		HoldLimit:                           1 << 20,
		StashLimit:                          4,
	}
}

// defaultPhi is the watch-failure-detector of that configuration.
func defaultPhi() PhiSettings {
	return PhiSettings{
		Threshold:                10,
		MaxSampleSize:            200,
		MinStdDeviation:          100 * time.Millisecond,
		AcceptableHeartbeatPause: 10 * time.Second,
		FirstHeartbeatEstimate:   time.Second,
	}
}

const day = 24 * time.Hour
