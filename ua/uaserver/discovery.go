package uaserver

import (
	"net/url"
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// transportProfile is opc.tcp with the binary encoding (Part 7, UA-TCP UA-SC UA-Binary).
const transportProfile = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary"

// Policy ids of the user tokens, as clients send them back (Part 4, 7.41).
const (
	anonymousPolicyID = "anonymous"
	userNamePolicyID  = "username"
)

// findServers is the service FindServers (Part 4, 5.5.2): this server is the only one it knows.
func findServers(k *call, q *ua.FindServersRequest, p *ua.FindServersResponse) outcome {
	p.Servers = p.Servers[:0]
	if len(q.ServerURIs) == 0 || slices.Contains(q.ServerURIs, k.server.cfg.ApplicationURI) {
		p.Servers = append(p.Servers, k.server.application(k.server.addresses(k.clientURL(q.EndpointURL))))
	}
	return answered
}

// getEndpoints is the service GetEndpoints (Part 4, 5.5.4). Texts exist in one language only, so
// LocaleIds makes no difference.
func getEndpoints(k *call, q *ua.GetEndpointsRequest, p *ua.GetEndpointsResponse) outcome {
	p.Endpoints = k.server.endpoints(k.clientURL(q.EndpointURL), q.ProfileURIs)
	return answered
}

// clientURL is the address that the client used: what it says in the request, or in its Hello.
func (k *call) clientURL(said string) string {
	for _, text := range []string{said, k.conn.channel.EndpointURL()} {
		if u, err := url.Parse(text); err == nil && u.Scheme == "opc.tcp" && u.Host != "" && len(text) <= 4096 {
			return text
		}
	}
	return ""
}

// addresses are the server's URLs with host and port as the client used them, since it may have come
// through a port mapping or by a name that the server does not know. Without that, its own.
func (s *Server) addresses(clientURL string) []string {
	used, err := url.Parse(clientURL)
	var list []string
	s.mu.Lock()
	own := slices.Concat(s.cfg.URLs, s.listening)
	s.mu.Unlock()
	for _, text := range own {
		if err == nil && used.Host != "" {
			if u, err := url.Parse(text); err == nil {
				u.Host = used.Host
				text = u.String()
			}
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 && clientURL != "" {
		list = append(list, clientURL)
	}
	return list
}

func (s *Server) application(urls []string) ua.ApplicationDescription {
	return ua.ApplicationDescription{
		ApplicationURI:  s.cfg.ApplicationURI,
		ProductURI:      s.cfg.ProductURI,
		ApplicationName: ua.LocalizedText{Locale: "en", Text: s.cfg.ApplicationName},
		ApplicationType: ua.ApplicationTypeServer,
		DiscoveryURLs:   urls,
	}
}

// Endpoints are the endpoints that clients are offered, with the server's own addresses (Part 4, 7.14).
func (s *Server) Endpoints() []ua.EndpointDescription { return s.endpoints("", nil) }

func (s *Server) endpoints(clientURL string, profiles []string) []ua.EndpointDescription {
	list := []ua.EndpointDescription{}
	if len(profiles) > 0 && !slices.Contains(profiles, transportProfile) {
		return list
	}
	urls := s.addresses(clientURL)
	app := s.application(urls)
	for _, u := range urls {
		for _, sec := range s.cfg.secure {
			e := ua.EndpointDescription{
				EndpointURL:         u,
				Server:              app,
				SecurityMode:        sec.mode,
				SecurityPolicyURI:   sec.policy.URI,
				UserIdentityTokens:  s.tokenPolicies(sec),
				TransportProfileURI: transportProfile,
				SecurityLevel:       sec.policy.SecurityLevel,
				ServerCertificate:   s.cfg.cert,
			}
			if sec.mode == ua.MessageSecurityModeSignAndEncrypt {
				e.SecurityLevel += 100
			}
			list = append(list, e)
		}
	}
	return list
}

// tokenPolicies are the kinds of login that an endpoint offers. Where the channel does not protect the
// password, its token has a policy of its own that does.
func (s *Server) tokenPolicies(sec security) []ua.UserTokenPolicy {
	list := []ua.UserTokenPolicy{}
	if s.cfg.AllowAnonymous {
		list = append(list, ua.UserTokenPolicy{PolicyID: anonymousPolicyID, TokenType: ua.UserTokenTypeAnonymous})
	}
	if len(s.cfg.passwords) == 0 && s.cfg.Authenticate == nil {
		return list
	}
	p := ua.UserTokenPolicy{PolicyID: userNamePolicyID, TokenType: ua.UserTokenTypeUserName}
	if sec.policy.IsNone() {
		switch {
		case s.cfg.Identity != nil:
			p.PolicyID += "-encrypted"
			p.SecurityPolicyURI = secpol.URIPrefix + "Basic256Sha256"
		case !s.cfg.AllowPlainPasswords:
			return list
		}
	}
	return append(list, p)
}
