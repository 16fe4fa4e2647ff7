package uapki

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// CertificateOptions says what a new application certificate holds (Part 6,
// 6.2.2). The zero value makes one for this machine.
type CertificateOptions struct {
	// ApplicationURI is the globally unique identifier of the installation,
	// the same as ApplicationDescription.ApplicationUri. Default:
	// urn:<host>:<CommonName>. It must be ASCII.
	ApplicationURI string
	// CommonName is the application's name, "actua" by default. Organization
	// is left out when empty.
	CommonName, Organization string
	// HostNames are the DNS names and IP addresses under which clients reach
	// the application. Default: the machine's name and addresses, and
	// localhost.
	HostNames []string
	// Bits is the RSA key size: 2048 (default), 3072 or 4096.
	Bits int
	// Validity is the certificate's life from now on, 5 years by default. The
	// certificate begins a day earlier, because clocks in a plant differ.
	Validity time.Duration
	// Now is the clock, time.Now by default.
	Now func() time.Time
}

// maxAddresses bounds the machine's addresses that get into a certificate by
// default; hosts of many containers have hundreds that no client knows.
const maxAddresses = 8

func (o CertificateOptions) withDefaults() (CertificateOptions, error) {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	if o.CommonName == "" {
		o.CommonName = "actua"
	}
	if o.ApplicationURI == "" {
		o.ApplicationURI = "urn:" + host + ":" + strings.ReplaceAll(o.CommonName, " ", "-")
	}
	if o.HostNames == nil {
		o.HostNames = machineNames(host)
	}
	if o.Bits == 0 {
		o.Bits = 2048
	}
	if o.Bits != 2048 && o.Bits != 3072 && o.Bits != 4096 {
		return o, fmt.Errorf("uapki: key of %d bits, wanted 2048, 3072 or 4096", o.Bits)
	}
	if o.Validity == 0 {
		o.Validity = 5 * 365 * 24 * time.Hour
	}
	if o.Validity < 0 {
		return o, fmt.Errorf("uapki: certificate validity of %v", o.Validity)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	for _, s := range append([]string{o.ApplicationURI}, o.HostNames...) {
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' && r != ' ' || r > '~' }) {
			return o, fmt.Errorf("uapki: %q cannot be an application URI or host name: ASCII without control characters wanted", s)
		}
	}
	return o, nil
}

// machineNames lists how others may address this machine.
func machineNames(host string) []string {
	names := []string{host}
	if host != "localhost" {
		names = append(names, "localhost")
	}
	names = append(names, "127.0.0.1", "::1")
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return names
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && len(names) < 4+maxAddresses {
			names = append(names, n.IP.String())
		}
	}
	return names
}

// NewIdentity makes a key pair and a self-signed application certificate as
// Part 6, 6.2.2 describes it: SHA-256, the application URI and host names as
// alternative names, for use by client and server. Nothing is written.
func NewIdentity(opts CertificateOptions) (*Identity, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, opts.Bits)
	if err != nil {
		return nil, fmt.Errorf("uapki: making a key of %d bits: %w", opts.Bits, err)
	}
	return selfSign(key, opts)
}

// selfSign makes the certificate for a key. Options have their defaults.
func selfSign(key *rsa.PrivateKey, opts CertificateOptions) (*Identity, error) {
	san, err := alternativeNames(opts.ApplicationURI, opts.HostNames)
	if err != nil {
		return nil, err
	}
	serial := make([]byte, 16)
	if _, err := rand.Read(serial); err != nil {
		return nil, err
	}
	serial[0] = serial[0]&0x3f | 0x40 // positive, and always 16 bytes long
	subject := pkix.Name{CommonName: opts.CommonName}
	if opts.Organization != "" {
		subject.Organization = []string{opts.Organization}
	}
	keyID := sha1.Sum(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	now := opts.Now()
	template := &x509.Certificate{
		SerialNumber:       new(big.Int).SetBytes(serial),
		Subject:            subject,
		NotBefore:          now.Add(-24 * time.Hour).UTC().Truncate(time.Second),
		NotAfter:           now.Add(opts.Validity).UTC().Truncate(time.Second),
		SignatureAlgorithm: x509.SHA256WithRSA,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment |
			x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true, // and no CA: it signs itself, nothing else
		SubjectKeyId:          keyID[:],
		AuthorityKeyId:        keyID[:],
		ExtraExtensions:       []pkix.Extension{san},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("uapki: making the certificate: %w", err)
	}
	if _, err := x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("uapki: application URI %q or a host name of %q is refused in certificates: %w", opts.ApplicationURI, opts.HostNames, err)
	}
	return &Identity{Chain: [][]byte{der}, Key: key, ApplicationURI: opts.ApplicationURI}, nil
}

var oidSubjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// Tags of GeneralName (RFC 5280, 4.2.1.6).
const (
	tagDNSName = 2
	tagURI     = 6
	tagIP      = 7
)

// alternativeNames encodes the extension itself, because crypto/x509 would take
// the URI apart and write it in another form, and peers compare it as a string.
func alternativeNames(uri string, hosts []string) (pkix.Extension, error) {
	name := func(tag int, b []byte) asn1.RawValue {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: b}
	}
	names := []asn1.RawValue{name(tagURI, []byte(uri))}
	for _, h := range hosts {
		ip := net.ParseIP(h)
		switch v4 := ip.To4(); {
		case v4 != nil:
			names = append(names, name(tagIP, v4))
		case ip != nil:
			names = append(names, name(tagIP, ip))
		default:
			names = append(names, name(tagDNSName, []byte(h)))
		}
	}
	der, err := asn1.Marshal(names)
	if err != nil {
		return pkix.Extension{}, fmt.Errorf("uapki: encoding the alternative names: %w", err)
	}
	return pkix.Extension{Id: oidSubjectAltName, Value: der}, nil
}

// ApplicationURIOf returns the application URI of a certificate, the first URI
// among its alternative names exactly as written (Part 6, 6.2.2), or "".
func ApplicationURIOf(cert *x509.Certificate) string {
	if uris := applicationURIs(cert); len(uris) > 0 {
		return uris[0]
	}
	return ""
}

func applicationURIs(cert *x509.Certificate) []string {
	var uris []string
	for _, ext := range cert.Extensions {
		if !ext.Id.Equal(oidSubjectAltName) {
			continue
		}
		var names []asn1.RawValue
		if _, err := asn1.Unmarshal(ext.Value, &names); err != nil {
			return nil
		}
		for _, n := range names {
			if n.Class == asn1.ClassContextSpecific && n.Tag == tagURI {
				uris = append(uris, string(n.Bytes))
			}
		}
	}
	return uris
}

// Thumbprint returns the SHA-1 digest that names a certificate on the wire and
// in file names (Part 6, 6.7.2.3). Of a chain only the leaf, the first DER
// element, counts.
func Thumbprint(der []byte) [20]byte { return secpol.Thumbprint(der) }

// ParseChain takes a certificate field apart, DER certificates one behind the
// other with the leaf first (Part 6, 6.7.2.3). An empty field, a certificate that
// does not parse and a chain of more than ten give an error that wraps
// ua.BadCertificateInvalid and says which certificate is at fault.
func ParseChain(der []byte) ([]*x509.Certificate, error) {
	elements, err := secpol.SplitChain(der)
	if err != nil {
		return nil, fmt.Errorf("uapki: %w", err)
	}
	chain := make([]*x509.Certificate, len(elements))
	for i, e := range elements {
		if chain[i], err = x509.ParseCertificate(e); err != nil {
			return nil, fmt.Errorf("uapki: certificate %d of %d: %v: %w", i+1, len(elements), err, ua.BadCertificateInvalid)
		}
	}
	return chain, nil
}

var errNoCertificate = errors.New("no certificate in it")

// decodeCertificates reads a certificate file: DER, or PEM with anything else
// between the certificates.
func decodeCertificates(data []byte) ([]*x509.Certificate, error) {
	if !bytes.Contains(data, []byte("-----BEGIN ")) {
		return ParseChain(data)
	}
	var certs []*x509.Certificate
	for block := range pemBlocks(data) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %v: %w", len(certs)+1, err, ua.BadCertificateInvalid)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("%w: %w", errNoCertificate, ua.BadCertificateInvalid)
	}
	return certs, nil
}
