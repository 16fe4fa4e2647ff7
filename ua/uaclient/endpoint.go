package uaclient

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// TransportTCP is the transport profile of opc.tcp with binary encoding (Part 7).
const TransportTCP = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary"

// candidate is an endpoint that this client could use.
type candidate struct {
	endpoint *ua.EndpointDescription
	policy   *secpol.Policy
	token    *ua.UserTokenPolicy
	secret   *secpol.Policy // that encrypts the user's secret
}

// choose lists the endpoints that fit the settings, the best first. When there is none, the error
// names the reason that the standard has a code for (S27): policy, mode, or user token.
func (s *settings) choose(endpoints []ua.EndpointDescription, dialled *url.URL) ([]candidate, error) {
	var offered []candidate
	secured := false
	for i := range endpoints {
		e := &endpoints[i]
		if e.TransportProfileURI != TransportTCP && !(e.TransportProfileURI == "" && strings.HasPrefix(e.EndpointURL, "opc.tcp:")) {
			continue
		}
		if e.SecurityMode > ua.MessageSecurityModeNone {
			secured = true
		}
		if p, err := secpol.ByURI(e.SecurityPolicyURI); err == nil && modeFits(p, e.SecurityMode) {
			offered = append(offered, candidate{endpoint: e, policy: p})
		}
	}
	list := slices.DeleteFunc(slices.Clone(offered), func(c candidate) bool {
		if s.policy != nil {
			return c.policy != s.policy
		}
		return c.policy.Deprecated && !s.AllowDeprecated || c.policy.IsNone() && secured && s.Mode != ua.MessageSecurityModeNone
	})
	if len(list) == 0 {
		return nil, reason(ua.BadSecurityPolicyRejected, "%s (offered: %s)", s.missingPolicy(), describe(endpoints))
	}
	if s.Mode != ua.MessageSecurityModeInvalid {
		list = slices.DeleteFunc(list, func(c candidate) bool { return c.endpoint.SecurityMode != s.Mode })
		if len(list) == 0 {
			return nil, reason(ua.BadSecurityModeRejected, "the server does not offer mode %v (offered: %s)", s.Mode, describe(endpoints))
		}
	}
	list = preferPath(list, dialled)
	var refusal error
	usable := list[:0:0]
	for _, c := range list {
		err := s.chooseToken(&c)
		if err == nil {
			usable = append(usable, c)
		} else if refusal == nil {
			refusal = err
		}
	}
	if len(usable) == 0 {
		return nil, refusal
	}
	sort.SliceStable(usable, func(i, j int) bool { return usable[i].rank() > usable[j].rank() })
	return usable, nil
}

func (s *settings) missingPolicy() string {
	if s.policy != nil {
		return "the server does not offer security policy " + s.policy.Name
	}
	return "the server offers no security policy that is supported and allowed here"
}

func modeFits(p *secpol.Policy, mode ua.MessageSecurityMode) bool {
	if p.IsNone() {
		return mode == ua.MessageSecurityModeNone
	}
	return mode == ua.MessageSecurityModeSign || mode == ua.MessageSecurityModeSignAndEncrypt
}

// rank prefers encryption, then our own order of policies, then the server's level.
func (c *candidate) rank() int {
	return int(c.endpoint.SecurityMode)<<16 | int(c.policy.SecurityLevel)<<8 | int(c.endpoint.SecurityLevel)
}

// preferPath keeps the endpoints whose path is the one that was dialled, if there are any: a server
// may serve several applications on one port.
func preferPath(list []candidate, dialled *url.URL) []candidate {
	want := pathOf(dialled.String())
	same := slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return pathOf(c.endpoint.EndpointURL) != want })
	if len(same) > 0 {
		return same
	}
	return list
}

// describe lists what a server offers, for messages.
func describe(endpoints []ua.EndpointDescription) string {
	var names []string
	for i := range endpoints {
		_, policy, _ := strings.Cut(endpoints[i].SecurityPolicyURI, "#")
		name := fmt.Sprintf("%.64s/%v", policy, endpoints[i].SecurityMode)
		if !slices.Contains(names, name) && len(names) < 20 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// sameEndpoints compares the endpoints of CreateSession with those that discovery, which nobody
// protects, returned before: a difference means that somebody took the better endpoints away (Part 4,
// 5.7.2). Hosts and ports are not compared, nor certificates, which servers may leave out.
func sameEndpoints(discovered, created []ua.EndpointDescription) error {
	a, b := fingerprints(discovered), fingerprints(created)
	if slices.Equal(a, b) {
		return nil
	}
	return reason(ua.BadSecurityChecksFailed,
		"the endpoints of the session (%s) are not those that discovery returned (%s): somebody may have changed the list",
		describe(created), describe(discovered))
}

func fingerprints(endpoints []ua.EndpointDescription) []string {
	var all []string
	for i := range endpoints {
		e := &endpoints[i]
		if e.TransportProfileURI != TransportTCP && e.TransportProfileURI != "" {
			continue
		}
		tokens := make([]string, len(e.UserIdentityTokens))
		for k, t := range e.UserIdentityTokens {
			tokens[k] = fmt.Sprintf("%q %v %q %q", t.PolicyID, t.TokenType, t.IssuedTokenType, t.SecurityPolicyURI)
		}
		sort.Strings(tokens)
		all = append(all, fmt.Sprintf("%q %q %v %q %d %q", e.Server.ApplicationURI, pathOf(e.EndpointURL),
			e.SecurityMode, e.SecurityPolicyURI, e.SecurityLevel, tokens))
	}
	sort.Strings(all)
	return slices.Compact(all)
}
