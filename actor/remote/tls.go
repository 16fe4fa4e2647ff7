package remote

import (
	"bytes"
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"

	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// TLSSettings say how connections are secured (dot-netty.tcp.enable-ssl and dot-netty.tcp.ssl). It is TLS 1.2 or 1.3 at
// the same port, from the first byte on; a system with TLS and one without cannot reach each other. A system has one
// certificate, which it shows to whom it dials as well: Akka.NET 1.5.52 and later demand it.
type TLSSettings struct {
	// Enable TLS: the protocol of addresses is akka.ssl.tcp. Default false.
	Enable bool
	// CertificatePath is the file with the certificate and its key: PKCS#12 (PFX), as Akka.NET takes it, or PEM. Further
	// certificates in it are sent along, not trusted. Default "" (certificate.path).
	CertificatePath string
	// CertificatePassword opens the PKCS#12 file. Default "" (certificate.password).
	CertificatePassword string
	// KeyPath is the PEM file with the key, if it is not in that of the certificate. Default "".
	KeyPath string
	// Certificate is taken instead of a file, if it is there. Default nil.
	Certificate *tls.Certificate
	// RootsPath is a PEM file with the certificates to trust instead of the machine's. Default "".
	RootsPath string
	// Roots are taken instead of a file, if they are there. Default nil.
	Roots *x509.CertPool
	// ServerName is asked for when dialing, and is what ValidateCertificateHostname compares with; empty: the host that is
	// dialed. (Akka.NET asks for the name in its own certificate.) Default "".
	ServerName string
	// SuppressValidation takes any certificate. Default false.
	SuppressValidation bool
	// RequireMutualAuthentication has those who dial show a certificate too. Default true (1.5.52 and later; before, nobody asked).
	RequireMutualAuthentication bool
	// ValidateCertificateHostname compares the certificate of whom we dial with the host, or with ServerName. Default false
	// (1.5.53 and later; before, nobody did).
	ValidateCertificateHostname bool
	// VerifyConnection may refuse a connection after all other checks; those of both directions come here. Default nil
	// (custom validators of 1.5.55).
	VerifyConnection func(tls.ConnectionState) error
}

// check reports the first setting that cannot work, by its name.
func (s *TLSSettings) check() error {
	switch {
	case !s.Enable:
		return nil
	case s.CertificatePath == "" && s.Certificate == nil:
		return errors.New("TLS.CertificatePath is empty: TLS needs a certificate on both sides")
	case s.Certificate != nil && s.CertificatePath != "":
		return errors.New("TLS.CertificatePath and Certificate are two certificates: one is needed")
	case s.Certificate != nil && (len(s.Certificate.Certificate) == 0 || s.Certificate.PrivateKey == nil):
		return errors.New("TLS.Certificate lacks its certificate or its key")
	case s.KeyPath != "" && s.CertificatePath == "":
		return errors.New("TLS.KeyPath has no CertificatePath beside it")
	case s.RootsPath != "" && s.Roots != nil:
		return errors.New("TLS.RootsPath and Roots are both there: one is needed")
	case s.SuppressValidation && s.ValidateCertificateHostname:
		return errors.New("TLS.SuppressValidation takes any certificate: ValidateCertificateHostname has no meaning beside it")
	}
	return nil
}

// secrets are what TLS needs for one system.
type secrets struct {
	set         TLSSettings
	certificate *tls.Certificate
	roots       *x509.CertPool // nil: the machine's
	server      *tls.Config
}

func newSecrets(s *TLSSettings) (*secrets, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	k := &secrets{set: *s, certificate: s.Certificate, roots: s.Roots}
	if k.certificate == nil {
		c, field, err := loadCertificate(s)
		if err != nil {
			return nil, fmt.Errorf("TLS.%s: %w", field, err)
		}
		k.certificate = c
	}
	if s.RootsPath != "" {
		text, err := os.ReadFile(s.RootsPath)
		if err != nil {
			return nil, fmt.Errorf("TLS.RootsPath: %w", err)
		}
		k.roots = x509.NewCertPool()
		if !k.roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("TLS.RootsPath: %s has no certificate in PEM form", s.RootsPath)
		}
	}
	k.server = k.config(x509.ExtKeyUsageClientAuth, "")
	k.server.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return k.certificate, nil } // whatever name is asked for
	if s.RequireMutualAuthentication {
		k.server.ClientAuth = tls.RequireAnyClientCert // verified by ours
	}
	return k, nil
}

// config is what both sides have in common. The check of Go's own is off, since it insists on the name.
func (k *secrets) config(usage x509.ExtKeyUsage, name string) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS12,
		InsecureSkipVerify:     true,
		SessionTicketsDisabled: true,
		VerifyConnection:       func(s tls.ConnectionState) error { return k.verify(s, usage, name) },
	}
}

// verify checks the peer's certificate. name is what it has to be for; empty: anything.
func (k *secrets) verify(s tls.ConnectionState, usage x509.ExtKeyUsage, name string) error {
	if len(s.PeerCertificates) > 0 && !k.set.SuppressValidation {
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		o := x509.VerifyOptions{Roots: k.roots, Intermediates: between, DNSName: name, KeyUsages: []x509.ExtKeyUsage{usage}}
		if _, err := s.PeerCertificates[0].Verify(o); err != nil {
			return fmt.Errorf("the certificate of the other side: %w", err)
		}
	}
	if k.set.VerifyConnection != nil {
		return k.set.VerifyConnection(s)
	}
	return nil
}

// accept is the handshake of a connection that has come. It gives up when ctx ends, and closes the connection then.
func (k *secrets) accept(ctx context.Context, nc net.Conn) (net.Conn, error) {
	return shake(ctx, tls.Server(nc, k.server))
}

// dial is the handshake of a connection that was made to host.
func (k *secrets) dial(ctx context.Context, nc net.Conn, host string) (net.Conn, error) {
	if k.set.ServerName != "" {
		host = k.set.ServerName
	}
	name := ""
	if k.set.ValidateCertificateHostname {
		name = host
	}
	c := k.config(x509.ExtKeyUsageServerAuth, name)
	c.ServerName = host
	// Always ours, whatever issuers the other side names.
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return k.certificate, nil }
	return shake(ctx, tls.Client(nc, c))
}

func shake(ctx context.Context, c *tls.Conn) (net.Conn, error) {
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return secureConn{c}, nil
}

// secureConn is a connection with TLS. Its end of output is that of the socket too, as it is without TLS.
type secureConn struct{ *tls.Conn }

// CloseWrite says that nothing more comes.
func (c secureConn) CloseWrite() error {
	err := c.Conn.CloseWrite()
	if h, ok := c.NetConn().(interface{ CloseWrite() error }); ok {
		err = errors.Join(err, h.CloseWrite())
	}
	return err
}

// loadCertificate reads the certificate and its key. field is the setting to blame.
func loadCertificate(s *TLSSettings) (c *tls.Certificate, field string, err error) {
	field = "CertificatePath"
	data, err := os.ReadFile(s.CertificatePath)
	if err != nil {
		return nil, field, err
	}
	if b, _ := pem.Decode(data); b == nil {
		if s.KeyPath != "" {
			return nil, "KeyPath", errors.New("a PKCS#12 file has its key in it")
		}
		c, err = parsePFX(data, s.CertificatePassword)
		if errors.Is(err, pkcs12.ErrIncorrectPassword) || errors.Is(err, pkcs12.ErrDecryption) {
			field = "CertificatePassword"
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.CertificatePath, err)
		}
		return c, field, err
	}
	key, from := data, s.CertificatePath
	if s.KeyPath != "" {
		field, from = "KeyPath", s.KeyPath
		if key, err = os.ReadFile(s.KeyPath); err != nil {
			return nil, field, err
		}
	}
	if bytes.Contains(key, []byte("ENCRYPTED")) {
		return nil, field, fmt.Errorf("%s: an encrypted key in PEM form is not supported, in a PKCS#12 file it is", from)
	}
	pair, err := tls.X509KeyPair(data, key)
	if err != nil {
		return nil, field, fmt.Errorf("%s: %w", from, err)
	}
	return &pair, "", nil
}

func parsePFX(data []byte, password string) (*tls.Certificate, error) {
	key, leaf, others, err := pkcs12.DecodeChain(data, password)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key (%T) that cannot sign", key)
	}
	if pub, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !pub.Equal(leaf.PublicKey) {
		return nil, errors.New("the key is not that of the first certificate")
	}
	c := &tls.Certificate{PrivateKey: key, Leaf: leaf, Certificate: [][]byte{leaf.Raw}}
	for _, o := range others {
		c.Certificate = append(c.Certificate, o.Raw)
	}
	return c, nil
}
