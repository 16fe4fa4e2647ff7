package uapki

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// maxKeyBits bounds the keys of certificates that a peer sends: verifying with
// a much larger one is a cheap way to keep a receiver busy.
const maxKeyBits = 8192

// maxSignatures bounds the signatures that are verified to find a chain. Honest
// chains need one per certificate.
const maxSignatures = 32

func isSelfIssued(c *x509.Certificate) bool {
	return bytes.Equal(c.RawSubject, c.RawIssuer)
}

// signatureOf checks that issuer's key signed child, and no more. It does not
// ask whether the issuer may sign, because self-signed application certificates
// are no authorities, and lets SHA-1 pass, on which the caller decides.
func signatureOf(child, issuer *x509.Certificate) error {
	return issuer.CheckSignature(child.SignatureAlgorithm, child.RawTBSCertificate, child.Signature)
}

// path is a way from a leaf towards a root.
type path struct {
	certs    []*x509.Certificate
	trusted  bool  // one of certs is in the trust list
	complete bool  // the last one is a root
	fault    error // why an issuer that was found could not be used
}

// better orders paths: trusted before not, complete before not, and the longer
// one, because each issuer that is known brings its revocation list.
func (p path) better(than path) bool {
	if p.trusted != than.trusted {
		return p.trusted
	}
	if p.complete != than.complete {
		return p.complete
	}
	return len(p.certs) > len(than.certs)
}

// builder finds the best path with the certificates that the peer sent and
// those in the store.
type builder struct {
	trusted []*x509.Certificate
	pool    []*x509.Certificate // issuers to try, in the order of preference
	now     time.Time
	budget  int
}

func newBuilder(trusted, issuers, sent []*x509.Certificate, now time.Time) *builder {
	return &builder{
		trusted: trusted,
		pool:    slices.Concat(trusted, issuers, sent),
		now:     now,
		budget:  maxSignatures,
	}
}

// climb extends a path to its root in the best way there is.
func (b *builder) climb(certs []*x509.Certificate) path {
	last := certs[len(certs)-1]
	best := path{
		certs:   slices.Clone(certs),
		trusted: slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return contains(b.trusted, c) }),
	}
	if isSelfIssued(last) && (len(last.AuthorityKeyId) == 0 || len(last.SubjectKeyId) == 0 || bytes.Equal(last.AuthorityKeyId, last.SubjectKeyId)) {
		if best.fault = b.spend(); best.fault != nil {
			return best
		}
		if err := signatureOf(last, last); err != nil {
			best.fault = fmt.Errorf("uapki: the signature of %s is wrong (%v): %w", describe(last), err, ua.BadCertificateInvalid)
			return best
		}
		best.complete = true
		return best
	}
	if len(certs) == secpol.MaxChain {
		best.fault = fmt.Errorf("uapki: chain of more than %d certificates: %w", secpol.MaxChain, ua.BadCertificateInvalid)
		return best
	}
	for _, issuer := range b.candidates(last, certs) {
		if err := b.spend(); err != nil {
			if best.fault == nil {
				best.fault = err
			}
			break
		}
		if err := mayIssue(last, issuer, len(certs)-1); err != nil {
			if best.fault == nil {
				best.fault = err
			}
			continue
		}
		if p := b.climb(append(certs, issuer)); p.better(best) {
			best = p
		}
		if best.trusted && best.complete {
			break
		}
	}
	return best
}

func (b *builder) spend() error {
	if b.budget == 0 {
		return fmt.Errorf("uapki: no chain found within %d signatures: %w", maxSignatures, ua.BadCertificateInvalid)
	}
	b.budget--
	return nil
}

// candidates returns the certificates that by their names may have issued
// child, valid ones first.
func (b *builder) candidates(child *x509.Certificate, used []*x509.Certificate) []*x509.Certificate {
	var valid, rest []*x509.Certificate
	for _, c := range b.pool {
		if !bytes.Equal(c.RawSubject, child.RawIssuer) || contains(used, c) || contains(valid, c) || contains(rest, c) {
			continue
		}
		if len(child.AuthorityKeyId) > 0 && len(c.SubjectKeyId) > 0 && !bytes.Equal(child.AuthorityKeyId, c.SubjectKeyId) {
			continue
		}
		if b.now.Before(c.NotBefore) || b.now.After(c.NotAfter) {
			rest = append(rest, c)
		} else {
			valid = append(valid, c)
		}
	}
	return append(valid, rest...)
}

// mayIssue checks that issuer signed child and is an authority that may
// (Part 4, 6.1.3, certificate usage; Part 6, 6.2.4). below is the number of
// authorities between issuer and the leaf.
func mayIssue(child, issuer *x509.Certificate, below int) error {
	if err := signatureOf(child, issuer); err != nil {
		return fmt.Errorf("uapki: the signature of %s is not from %s (%v): %w", describe(child), describe(issuer), err, ua.BadCertificateInvalid)
	}
	refuse := func(why string) error {
		return fmt.Errorf("uapki: %s %s, but signed %s: %w", describe(issuer), why, describe(child), ua.BadCertificateIssuerUseNotAllowed)
	}
	switch {
	case !issuer.BasicConstraintsValid || !issuer.IsCA:
		return refuse("is no authority")
	case issuer.KeyUsage != 0 && issuer.KeyUsage&x509.KeyUsageCertSign == 0:
		return refuse("may not sign certificates")
	case len(applicationURIs(issuer)) > 0 && issuer.KeyUsage&(x509.KeyUsageKeyEncipherment|x509.KeyUsageDataEncipherment) != 0:
		// Some products set the CA flag in the self-signed certificates of
		// their applications. Whoever trusts one application must not
		// thereby trust all that it signs (Part 6, 6.2.2).
		return refuse("is an application")
	case (issuer.MaxPathLen > 0 || issuer.MaxPathLenZero) && below > issuer.MaxPathLen:
		return refuse(fmt.Sprintf("allows %d authorities below it", issuer.MaxPathLen))
	}
	if issuer.PermittedDNSDomainsCritical {
		return fmt.Errorf("uapki: %s has name constraints, which are not supported: %w", describe(issuer), ua.BadCertificateInvalid)
	}
	return nil
}

// checkForm refuses what no path is searched for.
func checkForm(c *x509.Certificate) error {
	if pub, ok := c.PublicKey.(*rsa.PublicKey); ok && pub.N.BitLen() > maxKeyBits {
		return fmt.Errorf("uapki: %s has a key of %d bits, at most %d are handled: %w", describe(c), pub.N.BitLen(), maxKeyBits, ua.BadCertificateInvalid)
	}
	if len(c.UnhandledCriticalExtensions) > 0 {
		return fmt.Errorf("uapki: %s has the unknown critical extension %v: %w", describe(c), c.UnhandledCriticalExtensions[0], ua.BadCertificateInvalid)
	}
	return nil
}

func contains(list []*x509.Certificate, c *x509.Certificate) bool {
	return slices.ContainsFunc(list, c.Equal)
}
