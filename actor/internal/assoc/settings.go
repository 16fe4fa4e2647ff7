package assoc

import "time"

// Settings are those of remote.Settings that decide something here, under the names that stand and are explained there.
// They are taken as checked.
type Settings struct {
	MaximumFrameSize                    int
	ConnectionTimeout                   time.Duration
	HandshakeTimeout                    time.Duration
	HeartbeatInterval                   time.Duration
	AcceptableHeartbeatPause            time.Duration
	BackoffInterval                     time.Duration
	UsePassiveConnections               bool
	RetryGateClosedFor                  time.Duration
	PruneQuarantineMarkerAfter          time.Duration
	QuarantineAfterSilence              time.Duration
	FlushWaitOnShutdown                 time.Duration
	SystemMessageBufferSize             int
	SystemMessageAckPiggybackTimeout    time.Duration
	ResendInterval                      time.Duration
	ResendLimit                         int
	InitialSystemMessageDeliveryTimeout time.Duration
	GiveUpSystemMessageAfter            time.Duration
	PendingSendLimit                    int
	SystemMessageReceiveWindow          int
	HoldLimit                           int
	StashLimit                          int
}

// PhiSettings are those of a PhiDetector, as remote.PhiSettings explains them.
type PhiSettings struct {
	Threshold                float64
	MaxSampleSize            int
	MinStdDeviation          time.Duration
	AcceptableHeartbeatPause time.Duration
	FirstHeartbeatEstimate   time.Duration
}

// handshake is how long a handshake may take.
func (s *Settings) handshake() time.Duration {
	if s.ConnectionTimeout > 0 {
		return s.ConnectionTimeout
	}
	return s.HandshakeTimeout
}
