package remote

import (
	"fmt"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
)

// Settings are the settings of remoting with Akka.NET 1.5's names and defaults (akka.remote, and dot-netty.tcp below
// it). Start from DefaultSettings: a zero means zero. What stands under "Ours" has no counterpart there.
type Settings struct {
	// The listener (dot-netty.tcp).

	// Hostname is what the listener binds to: a name, an IPv4 or an IPv6 address; empty: all addresses. Default "".
	Hostname string
	// Port to bind, 0 for any. Default 2552.
	Port int
	// PublicHostname is what others are told; empty: Hostname. Default "".
	PublicHostname string
	// PublicPort is what others are told; 0: the port that was bound. Default 0.
	PublicPort int
	// ConnectionTimeout bounds a TCP connect, and then once more the handshake on it. Default 15 s.
	ConnectionTimeout time.Duration
	// SendBufferSize of the socket in bytes; the kernel may have a limit. Default 256000.
	SendBufferSize int
	// ReceiveBufferSize of the socket in bytes; the kernel may have a limit. Default 256000.
	ReceiveBufferSize int
	// Backlog of the listener; the kernel may have a lower limit. Default 4096.
	Backlog int
	// TCPNoDelay sends without waiting for more. Default true.
	TCPNoDelay bool
	// TCPKeepAlive has the kernel probe idle connections. Default true.
	TCPKeepAlive bool
	// MaximumFrameSize bounds a frame in bytes, its four bytes of length included. Default 128000, at least 32000.
	MaximumFrameSize int
	// BigEndian turns the length of frames round. Default false.
	BigEndian bool
	// BatchingMaxPendingWrites is after how many messages Akka.NET sends a batch. Without effect here: a batch leaves at the
	// end of the sender's turn. Default 30.
	BatchingMaxPendingWrites int
	// TLS of the connections (dot-netty.tcp.ssl).
	TLS TLSSettings

	// Connections.

	// HandshakeTimeout bounds the handshake where the transport has no ConnectionTimeout. Default 15 s.
	HandshakeTimeout time.Duration
	// HeartbeatInterval is how often a connection shows that it lives (transport-failure-detector). Default 4 s.
	HeartbeatInterval time.Duration
	// AcceptableHeartbeatPause is by how much a peer may exceed the interval (transport-failure-detector). Default 120 s.
	AcceptableHeartbeatPause time.Duration
	// BackoffInterval is after how long a failed accept is tried again. Default 50 ms.
	BackoffInterval time.Duration
	// UsePassiveConnections writes to connections that the peer has made. Default true.
	UsePassiveConnections bool

	// Remote addresses.

	// RetryGateClosedFor is how long an address is left alone after a failure. Default 5 s.
	RetryGateClosedFor time.Duration
	// PruneQuarantineMarkerAfter is when the quarantine of an incarnation is forgotten. Default 5 d.
	PruneQuarantineMarkerAfter time.Duration
	// QuarantineAfterSilence ends a link with undelivered system messages to a system that was not heard for so long. Default 2 d.
	QuarantineAfterSilence time.Duration
	// StartupTimeout bounds the start of the listener, the resolution of its host included. Default 10 s.
	StartupTimeout time.Duration
	// ShutdownTimeout bounds the end of Akka.NET's transports. Without effect here: FlushWaitOnShutdown is. Default 10 s.
	ShutdownTimeout time.Duration
	// FlushWaitOnShutdown is how long connections may take to empty at the end. Default 2 s.
	FlushWaitOnShutdown time.Duration
	// CommandAckTimeout bounds commands to Akka.NET's transports. Without effect here. Default 30 s.
	CommandAckTimeout time.Duration
	// LogBufferSizeExceeding is with how many waiting messages Akka.NET logs a warning. Without effect here: see
	// PendingSendLimit. Default 50000.
	LogBufferSizeExceeding int

	// System messages.

	// SystemMessageBufferSize bounds those without acknowledgement; one more ends the association for good. Default 20000.
	SystemMessageBufferSize int
	// SystemMessageAckPiggybackTimeout is how long an acknowledgement waits for a message to ride on. Default 0.3 s.
	SystemMessageAckPiggybackTimeout time.Duration
	// ResendInterval is after how long without progress they are sent again. Default 2 s.
	ResendInterval time.Duration
	// ResendLimit is how many are sent again at once, and how many may be on their way. Default 200.
	ResendLimit int
	// InitialSystemMessageDeliveryTimeout gives up on a system that was never reached. Default 3 min.
	InitialSystemMessageDeliveryTimeout time.Duration
	// GiveUpSystemMessageAfter quarantines a system that is connected but acknowledges nothing for so long; 0: never. Default
	// 0: classic remoting has no such limit (Artery has 6 h).
	GiveUpSystemMessageAfter time.Duration

	// Remote watch.

	// WatchHeartbeatInterval is how often watched nodes are asked (watch-failure-detector). Default 1 s.
	WatchHeartbeatInterval time.Duration
	// WatchUnreachableReaperInterval is how often their detectors are looked at. Default 1 s.
	WatchUnreachableReaperInterval time.Duration
	// WatchExpectedResponseAfter is when the first answer is taken as due. Default 1 s.
	WatchExpectedResponseAfter time.Duration
	// WatchDetector judges the answers.
	WatchDetector PhiSettings
	// UntrustedMode takes no harmful messages from others and deploys nothing for them. Default false.
	UntrustedMode bool
	// TrustedSelectionPaths are the actors that a selection may reach in untrusted mode. Default none.
	TrustedSelectionPaths []string

	// Ours.

	// PendingSendLimit bounds the messages that wait for a connection to one address; more become dead letters. Default
	// 50000 (Akka.NET has no limit).
	PendingSendLimit int
	// SystemMessageReceiveWindow is how far ahead of a gap a system message is kept. Default 2000.
	SystemMessageReceiveWindow int
	// HoldLimit bounds the bytes that a connection keeps until it has a reader; then it is not read. Default 1 MiB.
	HoldLimit int
	// StashLimit bounds the inbound connections of one address that wait for our own dial; the oldest goes. Default 4.
	StashLimit int
}

// PhiSettings are those of the phi accrual failure detector of remote watch (watch-failure-detector).
type PhiSettings struct {
	// Threshold of phi from which a peer counts as dead. Default 10.
	Threshold float64
	// MaxSampleSize is how many intervals are remembered. Default 200.
	MaxSampleSize int
	// MinStdDeviation keeps very regular heartbeats from making the detector nervous. Default 100 ms.
	MinStdDeviation time.Duration
	// AcceptableHeartbeatPause is added to the mean interval. Default 10 s.
	AcceptableHeartbeatPause time.Duration
	// FirstHeartbeatEstimate starts the history. Default 1 s, the interval.
	FirstHeartbeatEstimate time.Duration
}

const (
	day = 24 * time.Hour

	// minFrameSize is the smallest MaximumFrameSize, in bytes.
	minFrameSize = 32000
)

// DefaultSettings are those of Akka.NET 1.5.
func DefaultSettings() Settings {
	return Settings{
		Port:                     2552,
		ConnectionTimeout:        15 * time.Second,
		SendBufferSize:           256000,
		ReceiveBufferSize:        256000,
		Backlog:                  4096,
		TCPNoDelay:               true,
		TCPKeepAlive:             true,
		MaximumFrameSize:         128000,
		BatchingMaxPendingWrites: 30,
		TLS:                      TLSSettings{RequireMutualAuthentication: true},

		HandshakeTimeout:         15 * time.Second,
		HeartbeatInterval:        4 * time.Second,
		AcceptableHeartbeatPause: 120 * time.Second,
		BackoffInterval:          50 * time.Millisecond,
		UsePassiveConnections:    true,

		RetryGateClosedFor:         5 * time.Second,
		PruneQuarantineMarkerAfter: 5 * day,
		QuarantineAfterSilence:     2 * day,
		StartupTimeout:             10 * time.Second,
		ShutdownTimeout:            10 * time.Second,
		FlushWaitOnShutdown:        2 * time.Second,
		CommandAckTimeout:          30 * time.Second,
		LogBufferSizeExceeding:     50000,

		SystemMessageBufferSize:             20000,
		SystemMessageAckPiggybackTimeout:    300 * time.Millisecond,
		ResendInterval:                      2 * time.Second,
		ResendLimit:                         200,
		InitialSystemMessageDeliveryTimeout: 3 * time.Minute,

		WatchHeartbeatInterval:         time.Second,
		WatchUnreachableReaperInterval: time.Second,
		WatchExpectedResponseAfter:     time.Second,
		WatchDetector: PhiSettings{
			Threshold:                10,
			MaxSampleSize:            200,
			MinStdDeviation:          100 * time.Millisecond,
			AcceptableHeartbeatPause: 10 * time.Second,
			FirstHeartbeatEstimate:   time.Second,
		},

		PendingSendLimit:           50000,
		SystemMessageReceiveWindow: 2000,
		HoldLimit:                  1 << 20,
		StashLimit:                 4,
	}
}

// Check reports the first setting that cannot work, by its name.
func (s *Settings) Check() error {
	for _, h := range []struct{ name, host string }{{"Hostname", s.Hostname}, {"PublicHostname", s.PublicHostname}} {
		if h.host == "" {
			continue
		}
		if _, err := actor.NewAddress("akka", "a", h.host, 0); err != nil {
			return fmt.Errorf("%s is %q: %w", h.name, h.host, err)
		}
	}
	if s.MaximumFrameSize < minFrameSize {
		return fmt.Errorf("MaximumFrameSize is %d bytes, the least is %d", s.MaximumFrameSize, minFrameSize)
	}
	for _, p := range []struct {
		name string
		port int
	}{{"Port", s.Port}, {"PublicPort", s.PublicPort}} {
		if p.port < 0 || p.port > 65535 {
			return fmt.Errorf("%s is %d: a port is 0 to 65535", p.name, p.port)
		}
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"ConnectionTimeout", s.ConnectionTimeout}, {"HandshakeTimeout", s.HandshakeTimeout},
		{"HeartbeatInterval", s.HeartbeatInterval}, {"AcceptableHeartbeatPause", s.AcceptableHeartbeatPause},
		{"BackoffInterval", s.BackoffInterval}, {"RetryGateClosedFor", s.RetryGateClosedFor},
		{"PruneQuarantineMarkerAfter", s.PruneQuarantineMarkerAfter}, {"QuarantineAfterSilence", s.QuarantineAfterSilence},
		{"StartupTimeout", s.StartupTimeout}, {"ShutdownTimeout", s.ShutdownTimeout}, {"FlushWaitOnShutdown", s.FlushWaitOnShutdown},
		{"CommandAckTimeout", s.CommandAckTimeout}, {"SystemMessageAckPiggybackTimeout", s.SystemMessageAckPiggybackTimeout},
		{"ResendInterval", s.ResendInterval}, {"InitialSystemMessageDeliveryTimeout", s.InitialSystemMessageDeliveryTimeout},
		{"WatchHeartbeatInterval", s.WatchHeartbeatInterval}, {"WatchUnreachableReaperInterval", s.WatchUnreachableReaperInterval},
		{"WatchExpectedResponseAfter", s.WatchExpectedResponseAfter}, {"WatchDetector.MinStdDeviation", s.WatchDetector.MinStdDeviation},
		{"WatchDetector.FirstHeartbeatEstimate", s.WatchDetector.FirstHeartbeatEstimate},
	} {
		if d.d <= 0 {
			return fmt.Errorf("%s is %v: it has to be longer than nothing", d.name, d.d)
		}
	}
	if s.GiveUpSystemMessageAfter < 0 || s.WatchDetector.AcceptableHeartbeatPause < 0 {
		return fmt.Errorf("GiveUpSystemMessageAfter (%v) and WatchDetector.AcceptableHeartbeatPause (%v) must not be negative",
			s.GiveUpSystemMessageAfter, s.WatchDetector.AcceptableHeartbeatPause)
	}
	for _, n := range []struct {
		name string
		n    int
	}{
		{"Backlog", s.Backlog}, {"SendBufferSize", s.SendBufferSize}, {"ReceiveBufferSize", s.ReceiveBufferSize},
		{"BatchingMaxPendingWrites", s.BatchingMaxPendingWrites}, {"SystemMessageBufferSize", s.SystemMessageBufferSize},
		{"ResendLimit", s.ResendLimit}, {"PendingSendLimit", s.PendingSendLimit}, {"StashLimit", s.StashLimit},
		{"SystemMessageReceiveWindow", s.SystemMessageReceiveWindow}, {"HoldLimit", s.HoldLimit},
		{"WatchDetector.MaxSampleSize", s.WatchDetector.MaxSampleSize},
	} {
		if n.n < 1 {
			return fmt.Errorf("%s is %d, the least is 1", n.name, n.n)
		}
	}
	if !(s.WatchDetector.Threshold > 0) {
		return fmt.Errorf("WatchDetector.Threshold is %v: it has to be above 0", s.WatchDetector.Threshold)
	}
	return s.TLS.check()
}

// assoc are the settings that package assoc decides by.
func (s *Settings) assoc() assoc.Settings {
	return assoc.Settings{
		MaximumFrameSize:                    s.MaximumFrameSize,
		ConnectionTimeout:                   s.ConnectionTimeout,
		HandshakeTimeout:                    s.HandshakeTimeout,
		HeartbeatInterval:                   s.HeartbeatInterval,
		AcceptableHeartbeatPause:            s.AcceptableHeartbeatPause,
		BackoffInterval:                     s.BackoffInterval,
		UsePassiveConnections:               s.UsePassiveConnections,
		RetryGateClosedFor:                  s.RetryGateClosedFor,
		PruneQuarantineMarkerAfter:          s.PruneQuarantineMarkerAfter,
		QuarantineAfterSilence:              s.QuarantineAfterSilence,
		FlushWaitOnShutdown:                 s.FlushWaitOnShutdown,
		SystemMessageBufferSize:             s.SystemMessageBufferSize,
		SystemMessageAckPiggybackTimeout:    s.SystemMessageAckPiggybackTimeout,
		ResendInterval:                      s.ResendInterval,
		ResendLimit:                         s.ResendLimit,
		InitialSystemMessageDeliveryTimeout: s.InitialSystemMessageDeliveryTimeout,
		GiveUpSystemMessageAfter:            s.GiveUpSystemMessageAfter,
		PendingSendLimit:                    s.PendingSendLimit,
		SystemMessageReceiveWindow:          s.SystemMessageReceiveWindow,
		HoldLimit:                           s.HoldLimit,
		StashLimit:                          s.StashLimit,
	}
}
