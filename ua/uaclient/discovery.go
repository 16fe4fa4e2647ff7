package uaclient

import (
	"context"
	"net/url"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/secpol"
)

// GetEndpoints asks a server for its endpoints over a channel without security (Part 4, 5.5.4). The
// answer is not protected: Dial compares it with what the secured session says.
func GetEndpoints(ctx context.Context, address string, config *Config) ([]ua.EndpointDescription, error) {
	s, u, err := prepare("GetEndpoints", address, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx)
	defer cancel()
	ch, err := s.openPlain(ctx, "GetEndpoints", u)
	if err != nil {
		return nil, err
	}
	defer ch.close()
	return ch.getEndpoints(ctx, u)
}

// FindServers asks a server, usually a discovery server, for the applications it knows (Part 4,
// 5.5.2). uris narrows the answer to these ApplicationURIs.
func FindServers(ctx context.Context, address string, config *Config, uris ...string) ([]ua.ApplicationDescription, error) {
	s, u, err := prepare("FindServers", address, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.limited(ctx)
	defer cancel()
	ch, err := s.openPlain(ctx, "FindServers", u)
	if err != nil {
		return nil, err
	}
	defer ch.close()
	req := &ua.FindServersRequest{EndpointURL: u.String(), LocaleIDs: s.Locales, ServerURIs: uris}
	var resp ua.FindServersResponse
	err = ch.roundTrip(ctx, &req.RequestHeader, req, &resp, &resp.ResponseHeader)
	return resp.Servers, stepError(StepEndpoints, "FindServers", err)
}

// prepare checks what the user gave.
func prepare(op, address string, config *Config) (*settings, *url.URL, error) {
	s, err := config.check()
	if err != nil {
		return nil, nil, stepError(StepEndpoints, op, err)
	}
	u, err := ParseURL(address)
	if err != nil {
		return nil, nil, stepError(StepTCP, op, err)
	}
	return s, u, nil
}

func (ch *channel) getEndpoints(ctx context.Context, u *url.URL) ([]ua.EndpointDescription, error) {
	req := &ua.GetEndpointsRequest{EndpointURL: u.String(), LocaleIDs: ch.settings.Locales}
	var resp ua.GetEndpointsResponse
	err := ch.roundTrip(ctx, &req.RequestHeader, req, &resp, &resp.ResponseHeader)
	ch.settings.steps.heard(&resp.ResponseHeader)
	return resp.Endpoints, stepError(StepEndpoints, "GetEndpoints", err)
}

// openPlain opens a channel without security.
func (s *settings) openPlain(ctx context.Context, op string, u *url.URL) (*channel, error) {
	return s.open(ctx, op, u, &tcp.ClientConfig{Policy: secpol.None, Mode: ua.MessageSecurityModeNone})
}

// open connects and opens a channel; the rest of the link's configuration comes from the settings.
func (s *settings) open(ctx context.Context, op string, u *url.URL, config *tcp.ClientConfig) (*channel, error) {
	config.Limits = s.Messages.wire()
	config.DecodeLimits = s.Messages.decode()
	config.Types = s.Types
	config.Lifetime = s.ChannelLifetime
	config.Dialer = s.Dialer
	config.Log = s.Log
	config.Done = func(step string) { s.steps.end(Step(step), nil) }
	conn, err := tcp.Dial(ctx, u.String(), config)
	if err != nil {
		return nil, stepError(StepTCP, op, err)
	}
	return &channel{conn: conn, settings: s}, nil
}

// closeWait is how long an orderly end may take: requests that are already on their way keep their
// order, so waiting for the answers is a courtesy.
const closeWait = 500 * time.Millisecond
