package uapki

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// ValidateOptions says what a peer's certificate is checked against. What is
// empty is not checked, save for Now.
type ValidateOptions struct {
	// ApplicationURI is the URI that the peer claims in its
	// ApplicationDescription.
	ApplicationURI string
	// HostName is the DNS name or IP address that a client dialled.
	HostName string
	// Now is the time to check at, the current time when zero.
	Now time.Time
	// SecurityPolicyURI is the policy of the channel. Key sizes of the whole
	// chain are then checked against it, and a deprecated policy allows SHA-1.
	SecurityPolicyURI string
	// AllowSHA1 lets certificates pass that are signed with SHA-1.
	AllowSHA1 bool
	// User says that the certificate is one of a user (Part 6, 6.2.3), not of
	// an application: any extended key usage will do.
	User bool
}

// Validate decides whether a peer's certificate is to be trusted. chain is what
// the peer sent, the leaf first; each element may itself be a chain field. The
// steps and their order are those of Part 4, 6.1.3, and the error of the first
// that fails wraps its status code:
//
//	form, signatures     BadCertificateInvalid
//	chain                BadCertificateChainIncomplete, BadCertificateIssuerUseNotAllowed
//	security policy      BadCertificatePolicyCheckFailed
//	trust list           BadCertificateUntrusted
//	validity             BadCertificateTimeInvalid, BadCertificateIssuerTimeInvalid
//	host name            BadCertificateHostNameInvalid
//	application URI      BadCertificateUriInvalid
//	usage                BadCertificateUseNotAllowed
//	revocation lists     BadCertificateRevoked, BadCertificateIssuerRevoked
//
// A certificate is trusted when it lies in trusted/certs, or when one of its
// issuers does; issuers are looked for in trusted/certs, in issuers/certs and
// among what the peer sent. Missing issuers above a trusted certificate do not
// matter, because the administrator has decided already. Revocation lists in
// trusted/crl and issuers/crl hold for certificates whose issuer is known; an
// issuer without a list revokes nothing.
//
// The text of an error is for the local log: it tells what the trust list
// lacks, so a server sends its peer the status code at most.
func (s *Store) Validate(chain [][]byte, opts ValidateOptions) error {
	var sent []*x509.Certificate
	for _, der := range chain {
		certs, err := ParseChain(der)
		if err != nil {
			return err
		}
		sent = append(sent, certs...)
	}
	if len(sent) == 0 {
		return fmt.Errorf("uapki: no certificate: %w", ua.BadCertificateInvalid)
	}
	if len(sent) > secpol.MaxChain {
		return fmt.Errorf("uapki: chain of %d certificates, at most %d are taken: %w", len(sent), secpol.MaxChain, ua.BadCertificateInvalid)
	}
	for _, c := range sent {
		if err := checkForm(c); err != nil {
			return err
		}
	}
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	lists, err := s.lists()
	if err != nil {
		return err
	}
	leaf := sent[0]
	p := newBuilder(lists.trusted, lists.issuers, sent[1:], opts.Now).climb(sent[:1:1])
	if isSelfIssued(leaf) && p.fault != nil {
		return p.fault // its own signature is wrong, which no trust heals
	}
	if !p.complete && !p.trusted {
		if p.fault != nil {
			return p.fault
		}
		last := p.certs[len(p.certs)-1]
		return fmt.Errorf("uapki: the issuer %q of %s was neither sent nor is it in %s or %s: %w",
			last.Issuer, describe(last), s.path("issuers/certs"), s.path("trusted/certs"), ua.BadCertificateChainIncomplete)
	}
	if err := checkPolicy(p.certs, opts); err != nil {
		return err
	}
	if !p.trusted {
		return fmt.Errorf("uapki: %s is not trusted: put it, or the authority that issued it, into %s%s: %w",
			describe(leaf), s.path("trusted/certs"), notes(s.Problems()), ua.BadCertificateUntrusted)
	}
	for _, check := range []func([]*x509.Certificate, ValidateOptions) error{checkTime, checkHost, checkURI, checkUsage} {
		if err := check(p.certs, opts); err != nil {
			return err
		}
	}
	return lists.checkRevoked(p.certs)
}

// notes adds the files that could not be used to a message that they may be the
// reason of, as text only: their status codes are not the answer.
func notes(faults []error) string {
	if len(faults) == 0 {
		return ""
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.Error()
	}
	return " (passed over: " + strings.Join(texts, "; ") + ")"
}

type lists struct {
	trusted, issuers []*x509.Certificate
	crls             []*revocations
}

func (s *Store) lists() (lists, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l lists
	for _, f := range []struct {
		from *folder[*x509.Certificate]
		to   *[]*x509.Certificate
	}{{&s.trusted, &l.trusted}, {&s.issuers, &l.issuers}} {
		items, err := f.from.load()
		if err != nil {
			return l, err
		}
		for _, it := range items {
			*f.to = append(*f.to, it.value)
		}
	}
	for i := range s.crls {
		items, err := s.crls[i].load()
		if err != nil {
			return l, err
		}
		for _, it := range items {
			l.crls = append(l.crls, it.value)
		}
	}
	return l, nil
}

// checkPolicy is the security policy check of each certificate of the chain.
func checkPolicy(chain []*x509.Certificate, opts ValidateOptions) error {
	allowSHA1 := opts.AllowSHA1
	var policy *secpol.Policy
	if opts.SecurityPolicyURI != "" {
		var err error
		if policy, err = secpol.ByURI(opts.SecurityPolicyURI); err != nil {
			return fmt.Errorf("uapki: %w", err)
		}
		allowSHA1 = allowSHA1 || policy.Deprecated
	}
	for _, c := range chain {
		switch c.SignatureAlgorithm {
		case x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1:
			if !allowSHA1 {
				return fmt.Errorf("uapki: %s is signed with %v: %w", describe(c), c.SignatureAlgorithm, ua.BadCertificatePolicyCheckFailed)
			}
		}
		if pub, ok := c.PublicKey.(*rsa.PublicKey); ok && policy != nil {
			if err := policy.CheckKey(pub); err != nil {
				return fmt.Errorf("uapki: %s: %w", describe(c), err)
			}
		}
	}
	return nil
}

func checkTime(chain []*x509.Certificate, opts ValidateOptions) error {
	for i, c := range chain {
		code := ua.BadCertificateTimeInvalid
		if i > 0 {
			code = ua.BadCertificateIssuerTimeInvalid
		}
		if opts.Now.Before(c.NotBefore) {
			return fmt.Errorf("uapki: %s is valid from %s, and it is %s: %w", describe(c), c.NotBefore.Format(time.RFC3339), opts.Now.UTC().Format(time.RFC3339), code)
		}
		if opts.Now.After(c.NotAfter) {
			return fmt.Errorf("uapki: %s expired at %s, and it is %s: %w", describe(c), c.NotAfter.Format(time.RFC3339), opts.Now.UTC().Format(time.RFC3339), code)
		}
	}
	return nil
}

func checkHost(chain []*x509.Certificate, opts ValidateOptions) error {
	host := strings.TrimSuffix(strings.Trim(opts.HostName, "[]"), ".")
	leaf := chain[0]
	if host == "" || leaf.VerifyHostname(host) == nil {
		return nil
	}
	// Names that crypto/x509 finds malformed, and addresses among the DNS
	// names, both of which OPC UA products write.
	ip := net.ParseIP(host)
	for _, name := range leaf.DNSNames {
		if strings.EqualFold(name, host) || ip != nil && ip.Equal(net.ParseIP(name)) {
			return nil
		}
	}
	var names []string
	names = append(names, leaf.DNSNames...)
	for _, a := range leaf.IPAddresses {
		names = append(names, a.String())
	}
	return fmt.Errorf("uapki: %s is for the hosts %q, not for %q: %w", describe(leaf), names, host, ua.BadCertificateHostNameInvalid)
}

func checkURI(chain []*x509.Certificate, opts ValidateOptions) error {
	if opts.ApplicationURI == "" {
		return nil
	}
	uris := applicationURIs(chain[0])
	if slices.Contains(uris, opts.ApplicationURI) {
		return nil
	}
	return fmt.Errorf("uapki: %s is for the application URI %q, the peer says %q: %w", describe(chain[0]), uris, opts.ApplicationURI, ua.BadCertificateUriInvalid)
}

// checkUsage wants a leaf that may sign; its issuers were checked on the way.
func checkUsage(chain []*x509.Certificate, opts ValidateOptions) error {
	leaf := chain[0]
	if leaf.KeyUsage != 0 && leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0 {
		return fmt.Errorf("uapki: the key usage of %s has no digitalSignature: %w", describe(leaf), ua.BadCertificateUseNotAllowed)
	}
	if opts.User || len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0 {
		return nil
	}
	for _, u := range leaf.ExtKeyUsage {
		switch u {
		case x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageAny:
			return nil
		}
	}
	return fmt.Errorf("uapki: the extended key usage of %s has neither serverAuth nor clientAuth: %w", describe(leaf), ua.BadCertificateUseNotAllowed)
}
