package uaserver

import "sync/atomic"

// Stats are counts since the server was made, and what is there now.
type Stats struct {
	Sessions uint64 // now, activated or not
	Channels uint64 // connections now

	SessionsCreated  uint64
	SessionsRejected uint64 // refused by CreateSession
	SessionsTimedOut uint64
	Logins           uint64 // successful activations
	LoginsRejected   uint64
	ChannelsRejected uint64 // connections refused or ended because there were too many
	Requests         uint64
	RequestsRejected uint64 // answered with a ServiceFault
}

type counters struct {
	sessionsCreated, sessionsRejected, timedOut, logins, loginsRejected atomic.Uint64
	channels, channelsRejected, requests, rejected                      atomic.Uint64
}

// Stats returns the server's counts.
func (s *Server) Stats() Stats {
	c := &s.stats
	return Stats{
		Sessions:         uint64(s.sessions.count()),
		Channels:         c.channels.Load(),
		SessionsCreated:  c.sessionsCreated.Load(),
		SessionsRejected: c.sessionsRejected.Load(),
		SessionsTimedOut: c.timedOut.Load(),
		Logins:           c.logins.Load(),
		LoginsRejected:   c.loginsRejected.Load(),
		ChannelsRejected: c.channelsRejected.Load(),
		Requests:         c.requests.Load(),
		RequestsRejected: c.rejected.Load(),
	}
}
