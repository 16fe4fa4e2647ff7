package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

// reason says why a step failed, and what to change.
func (x *explainer) reason(p *uaclient.Progress) (why, fix string) {
	err := p.Err
	var e *uaclient.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	if p.Step != uaclient.StepTCP && isAny(err, ua.BadTimeout, context.DeadlineExceeded) {
		why, fix = x.silent(p)
		return why, fix
	}
	switch p.Step {
	case uaclient.StepTCP:
		why, fix = x.network(err)
	case uaclient.StepHello:
		why, fix = x.greeting(err)
	case uaclient.StepEndpoints:
		why, fix = x.offer(p, err)
	case uaclient.StepCertificate:
		why, fix = x.certificate(p, err)
	case uaclient.StepActivate:
		why, fix = x.login(err)
	}
	if why == "" {
		why, fix = x.busy(err)
	}
	if why == "" {
		why, fix = x.refused(p, err)
	}
	if why == "" {
		why = plain(err)
		fix = "the log of the server says more; `actua endpoints " + x.url.String() + "` lists what it offers"
	}
	return why, fix
}

// isAny reports whether an error is one of several.
func isAny[E error](err error, some E, more ...error) bool {
	return errors.Is(err, some) || slices.ContainsFunc(more, func(e error) bool { return errors.Is(err, e) })
}

func (x *explainer) silent(p *uaclient.Progress) (why, fix string) {
	within := x.flags.timeout.String()
	switch p.Step {
	case uaclient.StepHello:
		return fmt.Sprintf("%s takes connections, but answers nothing within %s", x.url.Host, within),
			"check the port: something else may listen there, or the server hangs and has to be restarted; --timeout waits longer"
	case uaclient.StepActivate, uaclient.StepSession:
		return "the server did not answer within " + within,
			"it may be busy, or ask somebody else about the user: wait longer with --timeout 60s, and look at its log"
	}
	return "the server did not answer within " + within, "it may be busy, or far away: wait longer with --timeout 60s"
}

// network explains why there is no TCP connection.
func (x *explainer) network(err error) (why, fix string) {
	host, port := x.url.Hostname(), x.url.Port()
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Sprintf("the host name %q is not known", host), "check the spelling, or use the address of the machine, such as 10.0.0.5"
	case errors.As(err, &unknown):
		return fmt.Sprintf("the host name %q cannot be looked up: %s", host, unknown.Err), "check the network and its name server, or use the address of the machine"
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens on port %s of %s", port, host),
			"start the server there, or use the port that it prints at its start (" + uaclient.DefaultPort + " is the usual one)"
	case isAny(err, ua.BadTimeout, context.DeadlineExceeded):
		return fmt.Sprintf("%s does not answer within %s", host, x.flags.timeout),
			fmt.Sprintf("check that the machine is on and that no firewall on the way holds back TCP port %s; --timeout waits longer", port)
	case isAny(err, syscall.EHOSTUNREACH, syscall.ENETUNREACH):
		return "there is no way to " + host + " in the network", "check the address, the cable and the VPN"
	}
	return plain(err), "check the address and the network"
}

// greeting explains why what listens there did not say Acknowledge (Part 6, 7.1.2).
func (x *explainer) greeting(err error) (why, fix string) {
	const port = "use the port of the OPC UA server; " + uaclient.DefaultPort + " is the usual one"
	switch {
	case isAny(err, ua.BadTcpEndpointUrlInvalid):
		return fmt.Sprintf("the server does not serve the path %q", x.url.Path), "leave the path out, or use the address that the server prints"
	case isAny(err, ua.BadProtocolVersionUnsupported):
		return "the server speaks another version of the protocol: " + plain(err), "update the server"
	case isAny(err, ua.BadTcpMessageTypeInvalid, ua.BadDecodingError):
		return "what listens on " + x.url.Host + " does not speak OPC UA (opc.tcp)", port
	case isAny(err, ua.BadConnectionClosed, syscall.ECONNRESET):
		return x.url.Host + " takes the connection and closes it again at the first message",
			"if it is no OPC UA server, " + port + "; if it is, it may have too many connections: its log says so"
	}
	return "", ""
}

// busy explains what passes by itself.
func (x *explainer) busy(err error) (why, fix string) {
	switch {
	case isAny(err, ua.BadTooManySessions):
		return "the server has as many sessions as it allows",
			"close other clients, or wait: sessions of clients that have gone end by themselves, mostly within a minute; or let the server allow more"
	case isAny(err, ua.BadServerTooBusy, ua.BadTcpServerTooBusy, ua.BadTcpNotEnoughResources, ua.BadOutOfMemory,
		ua.BadResourceUnavailable, ua.BadTooManyOperations, ua.BadMaxConnectionsReached):
		return "the server is too busy: " + plain(err), "try again in some seconds; if it stays so, the server has too many clients or too little memory"
	case isAny(err, ua.BadServerHalted, ua.BadShutdown):
		return "the server is starting or stopping: " + plain(err), "wait until it runs"
	}
	return "", ""
}

// offer explains why no endpoint fits.
func (x *explainer) offer(p *uaclient.Progress, err error) (why, fix string) {
	switch {
	case p.Offered == nil:
		return "", "" // it was not even asked
	case len(p.Offered) == 0:
		return "the server offers no endpoint", "enable an endpoint in the configuration of the server"
	case isAny(err, ua.BadSecurityPolicyRejected):
		best, deprecated := "", ""
		for _, known := range uaclient.Policies() { // the best comes last
			if known.Name == "None" || !slices.ContainsFunc(p.Offered, func(e ua.EndpointDescription) bool { return e.SecurityPolicyURI == known.URI }) {
				continue
			}
			if known.Deprecated {
				deprecated = known.Name
			} else {
				best = known.Name
			}
		}
		switch {
		case best != "":
			return plain(err), "use --security " + best + ", or enable the policy at the server"
		case deprecated != "":
			return plain(err), "enable Basic256Sha256 or better at the server; until then --security " + deprecated + " --allow-deprecated"
		case offersNone(p.Offered):
			return plain(err), "enable Basic256Sha256 or better at the server; until then --security None, without any protection"
		}
		return plain(err), "enable Basic256Sha256 or better at the server"
	case isAny(err, ua.BadSecurityModeRejected):
		var modes []string
		for _, e := range p.Offered {
			if m := "--mode " + e.SecurityMode.String(); e.SecurityMode > ua.MessageSecurityModeNone && !slices.Contains(modes, m) {
				modes = append(modes, m)
			}
		}
		if len(modes) == 0 {
			return plain(err), "leave --mode out, or enable a policy with security at the server"
		}
		return plain(err), "use " + strings.Join(modes, " or ") + ", or enable the mode at the server"
	case isAny(err, ua.BadIdentityTokenRejected):
		return plain(err), x.otherLogin(p)
	}
	return "", ""
}

// otherLogin says how the server could be logged in to.
func (x *explainer) otherLogin(p *uaclient.Progress) string {
	accepts := func(want ua.UserTokenType, encrypted bool) bool {
		return slices.ContainsFunc(p.Offered, func(e ua.EndpointDescription) bool {
			return (!encrypted || e.SecurityMode == ua.MessageSecurityModeSignAndEncrypt) &&
				slices.ContainsFunc(e.UserIdentityTokens, func(t ua.UserTokenPolicy) bool { return t.TokenType == want })
		})
	}
	user := accepts(ua.UserTokenTypeUserName, false)
	switch {
	case x.flags.user == "" && user:
		return "log in with --user NAME"
	case x.flags.user == "":
		return "allow anonymous users or user names at the server; actua has no other login"
	case accepts(ua.UserTokenTypeUserName, true) && (x.flags.security != "auto" || x.flags.mode != ""):
		return "use an encrypted endpoint: leave --security and --mode out"
	case user:
		return "let the server offer an encrypted endpoint, SignAndEncrypt, for its users"
	case accepts(ua.UserTokenTypeAnonymous, false):
		return "leave --user out, or enable user names at the server"
	}
	return "enable user names at the server"
}

// pki repeats the flag for a command to try.
func (x *explainer) pki() string {
	return (&certFlags{pki: x.flags.pki}).again()
}

// certificate explains why the server's certificate is not accepted, or our own cannot be used.
func (x *explainer) certificate(p *uaclient.Progress, err error) (why, fix string) {
	var refused *uaclient.CertificateError
	switch {
	case errors.As(err, &refused):
	case x.done[uaclient.StepCertificate]: // the server's was accepted, so it is ours
		return plain(err), "make a new one with `actua cert create --replace" + x.pki() + "`, which the server has to trust then"
	default:
		return plain(err), "check the certificates: `actua cert list` shows those of this client, `actua endpoints " + x.url.String() + "` that of the server"
	}
	cert := refused.Certificate
	leaf, found := cert.Chain[0], cert.Err
	if found == nil { // it was the storing of it that failed
		return plain(refused.Err), "check the rights of the folder of certificates, or give another one with --pki DIR"
	}
	const renew = "have the certificate of the server renewed (of `actua serve`: `actua cert create --server --replace`)"
	switch {
	case isAny(found, ua.BadCertificateUntrusted, ua.BadCertificateChainIncomplete):
		why = fmt.Sprintf("the server's certificate is not trusted here: %s, SHA-1 %s", leaf.Subject, cert.Thumbprint)
		if x.flags.store != nil && x.flags.replaced(cert) != "" {
			why += "; this application is trusted with another certificate: it was renewed, or somebody else answers"
		}
		fix = fmt.Sprintf("compare the thumbprint with the one that the server shows; if it is the same, `actua cert trust %s%s`, or --trust", cert.Thumbprint[:8], x.pki())
		if offersNone(cert.Offered) {
			fix += "; or --security None, without any protection"
		}
		return why, fix
	case isAny(found, ua.BadCertificateTimeInvalid) && expired(leaf, time.Now()):
		here := time.Now()
		there := here.Add(p.ClockAhead)
		why = fmt.Sprintf("the server's certificate is valid from %s to %s, and here it is %s", leaf.NotBefore.UTC().Format(time.DateOnly),
			leaf.NotAfter.UTC().Format(time.DateOnly), here.UTC().Format(time.DateOnly))
		if p.ClockAhead != 0 && !expired(leaf, there) {
			return why + "; " + clockText(p.ClockAhead), "set the clock of this machine"
		}
		if here.Before(leaf.NotBefore) {
			return why, "check the clocks of both machines, or " + renew
		}
		return why, renew + "; until then --insecure, which does not look at it"
	case isAny(found, ua.BadCertificateHostNameInvalid):
		names := hostNames(leaf)
		why = fmt.Sprintf("the server's certificate is not for %q, only for %s", cert.HostName, orDash(strings.Join(names, ", ")))
		fix = fmt.Sprintf("have it made for this name too (of `actua serve`: `actua cert create --server --replace --host %s`)", cert.HostName)
		if len(names) > 0 {
			fix = "use " + names[0] + " in the URL, or " + fix
		}
		return why, fix
	case isAny(found, ua.BadCertificateUriInvalid):
		return fmt.Sprintf("the server calls itself %q, its certificate is for %q", cert.Endpoint.Server.ApplicationURI, uapki.ApplicationURIOf(leaf)),
			"set the application URI of the server to that of its certificate, or " + renew
	case isAny(found, ua.BadCertificatePolicyCheckFailed):
		return "the server's certificate does not go with " + policyName(cert.Endpoint.SecurityPolicyURI) + ": " + plain(found),
			"use another --security, or " + renew
	case isAny(found, ua.BadCertificateRevoked, ua.BadCertificateIssuerRevoked):
		return plain(found), "do not connect: who issued the certificate has taken it back; " + renew
	}
	return plain(found), renew
}

// refused explains what the server has against this client's certificate (Part 4, 6.1.3) and its clock.
func (x *explainer) refused(p *uaclient.Progress, err error) (why, fix string) {
	if isAny(err, ua.BadInvalidTimestamp) {
		return strings.TrimSuffix("the server does not accept our time: "+clockText(p.ClockAhead), ": "), "set the clocks of both machines"
	}
	if p.Endpoint == nil || p.Endpoint.SecurityMode == ua.MessageSecurityModeNone || x.flags.store == nil {
		return "", ""
	}
	id, file, ownErr := x.flags.store.Own()
	if id == nil || ownErr != nil {
		return "", ""
	}
	leaf, ownErr := id.Leaf()
	if ownErr != nil {
		return "", ""
	}
	thumb := thumbprint(leaf)
	renew := "make a new one with `actua cert create --replace" + x.pki() + "`"
	says := "the server refuses this client's certificate, " + thumb
	closed := p.Step == uaclient.StepChannel && isAny(err, ua.BadConnectionClosed, ua.BadSecureChannelClosed, syscall.ECONNRESET)
	switch {
	case closed || isAny(err, ua.BadCertificateUntrusted, ua.BadSecurityChecksFailed, ua.BadCertificateChainIncomplete) && p.Step == uaclient.StepChannel:
		why = says + ", most likely because it does not trust it yet"
		if isAny(err, ua.BadCertificateUntrusted) {
			why = says + ": it does not trust it yet"
		}
		if here := refusedHere(thumb); here != "" {
			return why, fmt.Sprintf("trust it at the server: `actua cert trust %s --server`; it lies in %s", thumb[:8], here)
		}
		return why, fmt.Sprintf("at the server, move the certificate with this thumbprint from the folder rejected/certs of its certificate store to trusted/certs (at `actua serve`: `actua cert trust %s --server`, with the --pki of the server if it has one)", thumb[:8])
	case isAny(err, ua.BadCertificateTimeInvalid, ua.BadCertificateIssuerTimeInvalid):
		why = fmt.Sprintf("%s: it is valid from %s to %s, and by the server's clock it is %s", says, leaf.NotBefore.UTC().Format(time.DateOnly),
			leaf.NotAfter.UTC().Format(time.DateOnly), time.Now().Add(p.ClockAhead).UTC().Format(time.DateOnly))
		if skew := clockText(p.ClockAhead); skew != "" {
			return why + "; " + skew, "set the clocks of both machines, or " + renew
		}
		return why, renew + ", or set the clock of the server"
	case isAny(err, ua.BadCertificatePolicyCheckFailed):
		return fmt.Sprintf("%s: its key, %s, does not go with %s at the server", says, keyName(leaf), policyName(p.Endpoint.SecurityPolicyURI)),
			"use another --security, or another --bits: " + renew
	case isAny(err, ua.BadCertificateRevoked, ua.BadCertificateIssuerRevoked):
		return says + ": it was revoked", "ask who issued it for a new one, or " + renew
	case isAny(err, ua.BadCertificateUriInvalid, ua.BadCertificateHostNameInvalid, ua.BadCertificateUseNotAllowed, ua.BadCertificateIssuerUseNotAllowed,
		ua.BadCertificateInvalid) && p.Step == uaclient.StepChannel:
		return says + ": " + plain(err), "look at it with `actua cert show " + file + "`, or " + renew
	case isAny(err, ua.BadSecurityPolicyRejected, ua.BadSecurityModeRejected):
		return "the server offers this policy and mode, but refuses them: " + plain(err), "try another --security or --mode"
	case p.Step == uaclient.StepSession && isAny(err, ua.BadSecurityChecksFailed, ua.BadCertificateInvalid, ua.BadApplicationSignatureInvalid, ua.BadNonceInvalid):
		return plain(err), "somebody between here and the server may change the messages: connect from another place in the network, and compare `actua endpoints " + x.url.String() + "`"
	}
	return "", ""
}

// login explains why the user was not let in (Part 4, 5.7.3).
func (x *explainer) login(err error) (why, fix string) {
	if !isAny(err, ua.BadUserAccessDenied, ua.BadIdentityTokenRejected, ua.BadIdentityTokenInvalid, ua.BadUserSignatureInvalid) {
		return "", ""
	}
	if x.flags.user == "" {
		return "the server does not let anonymous users in", "log in with --user NAME"
	}
	if isAny(err, ua.BadIdentityTokenInvalid) {
		return "the server cannot read the login: " + plain(err), "try another --security"
	}
	return fmt.Sprintf("the server refuses the user %q with this password", x.flags.user),
		"check --user and --password (or ACTUA_PASSWORD); after several wrong passwords servers refuse the right one too for a while, `actua serve` for ten seconds if its configuration does not say otherwise"
}
