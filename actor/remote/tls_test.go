package remote

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// authority issues certificates.
type authority struct {
	t     *testing.T
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	roots *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, roots: x509.NewCertPool()}
	a.cert, a.key = a.issue(func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.Subject.CommonName = true, true, x509.KeyUsageCertSign, "authority"
	})
	a.roots.AddCert(a.cert)
	return a
}

// issue makes a certificate; the first one signs itself.
func (a *authority) issue(change func(*x509.Certificate)) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "node"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"akka.example"}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if change != nil {
		change(c)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return out, key
}

func (a *authority) certificate(change func(*x509.Certificate)) *tls.Certificate {
	c, key := a.issue(change)
	return &tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key, Leaf: c}
}

// tls gives settings a certificate of this authority, and the trust in it.
func (a *authority) tls(s *Settings) {
	s.TLS.Enable, s.TLS.Certificate, s.TLS.Roots = true, a.certificate(nil), a.roots
}

func keyPEM(t *testing.T, key crypto.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func TestRow37TLSFilesThatDoNotWork(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(nil)
	_, other := a.issue(nil)
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	encode := func(key any) []byte {
		p, err := pkcs12.Modern.Encode(key, cert, nil, "right")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	pfx := put("node.pfx", encode(key))
	trust, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{cert}, "right")
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		set  TLSSettings
		want string
	}{
		"nothing":                    {TLSSettings{}, "TLS.CertificatePath"},
		"two certificates":           {TLSSettings{CertificatePath: pfx, Certificate: a.certificate(nil)}, "TLS.CertificatePath and Certificate"},
		"a certificate without key":  {TLSSettings{Certificate: &tls.Certificate{Certificate: [][]byte{cert.Raw}}}, "TLS.Certificate lacks"},
		"only a key":                 {TLSSettings{Certificate: a.certificate(nil), KeyPath: "x"}, "TLS.KeyPath"},
		"roots twice":                {TLSSettings{Certificate: a.certificate(nil), Roots: a.roots, RootsPath: "x"}, "TLS.RootsPath"},
		"host of any certificate":    {TLSSettings{Certificate: a.certificate(nil), SuppressValidation: true, ValidateCertificateHostname: true}, "TLS.SuppressValidation"},
		"no such file":               {TLSSettings{CertificatePath: filepath.Join(dir, "none")}, "TLS.CertificatePath: open"},
		"wrong password":             {TLSSettings{CertificatePath: pfx, CertificatePassword: "wrong"}, "TLS.CertificatePassword"},
		"no password":                {TLSSettings{CertificatePath: pfx}, "TLS.CertificatePassword"},
		"garbage":                    {TLSSettings{CertificatePath: put("garbage", []byte("what is this"))}, "TLS.CertificatePath: "},
		"empty":                      {TLSSettings{CertificatePath: put("empty", nil)}, "TLS.CertificatePath: "},
		"cut short":                  {TLSSettings{CertificatePath: put("short.pfx", encode(key)[:200]), CertificatePassword: "right"}, "TLS.CertificatePath: "},
		"PFX without a key":          {TLSSettings{CertificatePath: put("trust.pfx", trust), CertificatePassword: "right"}, "TLS.CertificatePath: "},
		"PFX with another's key":     {TLSSettings{CertificatePath: put("other.pfx", encode(other)), CertificatePassword: "right"}, "not that of the first"},
		"PFX and a key file":         {TLSSettings{CertificatePath: pfx, CertificatePassword: "right", KeyPath: "x"}, "TLS.KeyPath"},
		"PEM without a key":          {TLSSettings{CertificatePath: put("cert.pem", certPEM(cert))}, "TLS.CertificatePath: "},
		"PEM with another's key":     {TLSSettings{CertificatePath: put("c.pem", certPEM(cert)), KeyPath: put("o.pem", keyPEM(t, other))}, "TLS.KeyPath: "},
		"PEM and no such key file":   {TLSSettings{CertificatePath: put("c.pem", certPEM(cert)), KeyPath: filepath.Join(dir, "none")}, "TLS.KeyPath: open"},
		"PEM with an encrypted key":  {TLSSettings{CertificatePath: put("e.pem", append(certPEM(cert), "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"...))}, "encrypted key"},
		"no such roots":              {TLSSettings{Certificate: a.certificate(nil), RootsPath: filepath.Join(dir, "none")}, "TLS.RootsPath: open"},
		"roots without certificates": {TLSSettings{Certificate: a.certificate(nil), RootsPath: put("r.pem", keyPEM(t, key))}, "TLS.RootsPath"},
	} {
		x.set.Enable = true
		_, err := newTransport(carrierSettings(func(s *Settings) { s.TLS = x.set }))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, x.want)
		}
	}
}

// TestRow37TLSRefuses has both ends of a handshake that must fail.
func TestRow37TLSRefuses(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	expired := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	usage := func(u x509.ExtKeyUsage) func(c *x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{u} }
	}
	for name, x := range map[string]struct{ server, client func(*TLSSettings) }{
		"server of another authority": {server: func(s *TLSSettings) { s.Certificate = stranger.certificate(nil) }},
		"client of another authority": {client: func(s *TLSSettings) { s.Certificate = stranger.certificate(nil) }},
		"server expired":              {server: func(s *TLSSettings) { s.Certificate = a.certificate(expired) }},
		"client expired":              {client: func(s *TLSSettings) { s.Certificate = a.certificate(expired) }},
		"server not for servers":      {server: func(s *TLSSettings) { s.Certificate = a.certificate(usage(x509.ExtKeyUsageClientAuth)) }},
		"client not for clients":      {client: func(s *TLSSettings) { s.Certificate = a.certificate(usage(x509.ExtKeyUsageServerAuth)) }},
		"another host":                {client: func(s *TLSSettings) { s.ValidateCertificateHostname = true }},
		"another name": {client: func(s *TLSSettings) {
			s.ValidateCertificateHostname, s.ServerName = true, "other.example"
		}},
		"the server's own check": {server: func(s *TLSSettings) { s.VerifyConnection = func(tls.ConnectionState) error { return errors.New("no") } }},
		"the client's own check": {client: func(s *TLSSettings) { s.VerifyConnection = func(tls.ConnectionState) error { return errors.New("no") } }},
	} {
		t.Run(name, func(t *testing.T) {
			side := func(change func(*TLSSettings)) *Settings {
				return carrierSettings(a.tls, func(s *Settings) {
					if change != nil {
						change(&s.TLS)
					}
				})
			}
			c, addr := listening(t, side(x.server))
			d, err := newTransport(side(x.client))
			if err != nil {
				t.Fatal(err)
			}
			ch := accepting(c)
			nc, err := d.dial(soon(t), addr)
			var failed *handshakeError
			if err == nil { // TLS 1.3: the dialer is through before the listener has judged
				nc.SetReadDeadline(time.Now().Add(10 * time.Second))
				if _, err = nc.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the dialer did not learn of it: %v", err)
				} else if !strings.Contains(err.Error(), "remote error: tls:") {
					t.Errorf("the dialer learned %v, want the alert", err)
				}
				nc.Close()
			} else if !errors.As(err, &failed) {
				t.Errorf("dial gave %v", err)
			}
			if got := wait(t, ch); !errors.As(got.err, &failed) {
				t.Errorf("accept gave %v, %v", got.nc, got.err)
			}
		})
	}
}

func TestRow37TLSWorks(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(nil)
	dir := t.TempDir()
	write := func(name string, data []byte, err error) string {
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	modern, err := pkcs12.Modern.Encode(key, cert, []*x509.Certificate{a.cert}, "secret")
	pfx := write("modern.pfx", modern, err)
	old, err := pkcs12.LegacyDES.Encode(key, cert, nil, "")
	legacy := write("legacy.pfx", old, err)
	both := write("both.pem", append(certPEM(cert), keyPEM(t, key)...), nil)
	certFile, keyFile := write("cert.pem", certPEM(cert), nil), write("key.pem", keyPEM(t, key), nil)
	roots := write("roots.pem", certPEM(a.cert), nil)
	stranger := newAuthority(t)
	for name, x := range map[string]struct{ server, client func(*TLSSettings) }{
		"mutual":                  {},
		"PFX, roots in a file":    {server: func(s *TLSSettings) { s.Certificate, s.CertificatePath, s.CertificatePassword = nil, pfx, "secret" }, client: func(s *TLSSettings) { s.Roots, s.RootsPath = nil, roots }},
		"PFX of old, no password": {server: func(s *TLSSettings) { s.Certificate, s.CertificatePath = nil, legacy }},
		"PEM":                     {server: func(s *TLSSettings) { s.Certificate, s.CertificatePath = nil, both }},
		"PEM in two files":        {client: func(s *TLSSettings) { s.Certificate, s.CertificatePath, s.KeyPath = nil, certFile, keyFile }},
		"as before 1.5.52":        {server: func(s *TLSSettings) { s.RequireMutualAuthentication = false }, client: func(s *TLSSettings) { s.Certificate = stranger.certificate(nil) }},
		"anything goes": {func(s *TLSSettings) { s.Certificate, s.SuppressValidation = stranger.certificate(nil), true },
			func(s *TLSSettings) { s.Certificate, s.SuppressValidation = newAuthority(t).certificate(nil), true }},
		"hostname, by another name": {client: func(s *TLSSettings) { s.ValidateCertificateHostname, s.ServerName = true, "akka.example" }},
		"hostname, an IP address": {server: func(s *TLSSettings) {
			s.Certificate = a.certificate(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)} })
		}, client: func(s *TLSSettings) { s.ValidateCertificateHostname = true }},
	} {
		t.Run(name, func(t *testing.T) {
			side := func(change func(*TLSSettings)) *Settings {
				return carrierSettings(a.tls, func(s *Settings) {
					if change != nil {
						change(&s.TLS)
					}
				})
			}
			c, addr := listening(t, side(x.server))
			if addr.Protocol() != "akka.ssl.tcp" {
				t.Errorf("the address is %s", addr)
			}
			d, err := newTransport(side(x.client))
			if err != nil {
				t.Fatal(err)
			}
			near, far := pair(t, d, c, addr)
			talk(t, near, far)
			// A read that was woken does no harm.
			near.SetReadDeadline(time.Unix(1, 0))
			if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			near.SetReadDeadline(time.Now().Add(10 * time.Second))
			talk(t, far, near)
		})
	}
}

// TestRow37TLSVersions has clients of one version each, as Akka.NET's are.
func TestRow37TLSVersions(t *testing.T) {
	a := newAuthority(t)
	c, addr := listening(t, carrierSettings(a.tls))
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		ch := accepting(c)
		raw := rawDial(t, addr)
		// The name asked for is that of the client's own certificate, whatever it is: .NET does so.
		own := tls.Client(raw, &tls.Config{MinVersion: version, MaxVersion: version, RootCAs: a.roots, ServerName: "akka.example",
			Certificates: []tls.Certificate{*a.certificate(nil)}})
		err := own.HandshakeContext(soon(t))
		got := wait(t, ch)
		if (err == nil) != want || (got.err == nil) != want {
			t.Errorf("%s: client %v, server %v", tls.VersionName(version), err, got.err)
		}
		if got.nc != nil {
			got.nc.Close()
		}
		raw.Close()
	}
}

// secured is where a listener would be if it had TLS.
func secured(t *testing.T, a actor.Address) actor.Address {
	t.Helper()
	b, err := actor.NewAddress("akka.ssl.tcp", a.System(), a.Host(), a.Port())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func rawDial(t *testing.T, a actor.Address) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", net.JoinHostPort(a.Host(), strconv.Itoa(a.Port())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

// TestRow37PlainMeetsTLS has a system with TLS and one without: neither may wait for ever, and others get through.
func TestRow37PlainMeetsTLS(t *testing.T) {
	a := newAuthority(t)
	secure, at := listening(t, carrierSettings(a.tls))
	t.Run("plain client", func(t *testing.T) {
		ch := accepting(secure)
		raw := rawDial(t, at)
		raw.Write([]byte{2, 0, 0, 0, 18, 0})
		var failed *handshakeError
		if got := wait(t, ch); !errors.As(got.err, &failed) {
			t.Errorf("accept gave %v, %v", got.nc, got.err)
		}
		raw.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, raw); err != nil {
			t.Errorf("the client got %v, want an orderly end", err)
		}
	})
	t.Run("plain server that hangs up", func(t *testing.T) {
		plain, to := listening(t, carrierSettings())
		ch := accepting(plain)
		s := carrierSettings(a.tls)
		d, _ := newTransport(s)
		go func() {
			if got := <-ch; got.err == nil {
				got.nc.Read(make([]byte, 4))
				got.nc.Close()
			}
		}()
		if nc, err := d.dial(soon(t), secured(t, to)); err == nil {
			nc.Close()
			t.Error("the handshake was done")
		}
	})
	t.Run("plain server that says nothing", func(t *testing.T) {
		_, to := listening(t, carrierSettings())
		d, _ := newTransport(carrierSettings(a.tls))
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if _, err := d.dial(ctx, secured(t, to)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestRow37HandshakeThatNeverEnds has clients that say nothing: others get through, and the silent ones are closed.
func TestRow37HandshakeThatNeverEnds(t *testing.T) {
	a := newAuthority(t)
	ended := func(nc net.Conn) {
		t.Helper()
		nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := nc.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a silent client got %v", err)
		}
	}
	t.Run("after the connection timeout", func(t *testing.T) {
		c, addr := listening(t, carrierSettings(a.tls, func(s *Settings) { s.ConnectionTimeout = 50 * time.Millisecond }))
		ended(rawDial(t, addr))
		var failed *handshakeError
		if got := wait(t, accepting(c)); !errors.As(got.err, &failed) || !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("accept gave %v, %v", got.nc, got.err)
		}
	})
	t.Run("others get through", func(t *testing.T) {
		c, addr := listening(t, carrierSettings(a.tls))
		silent := rawDial(t, addr)
		near, far := pair(t, c, c, addr)
		talk(t, near, far)
		c.close()
		ended(silent)
	})
	t.Run("too many: the oldest goes", func(t *testing.T) {
		_, addr := listening(t, carrierSettings(a.tls, func(s *Settings) { s.Backlog, s.ConnectionTimeout = 2, time.Hour }))
		first := rawDial(t, addr)
		rawDial(t, addr)
		rawDial(t, addr)
		ended(first)
	})
	t.Run("nobody accepts", func(t *testing.T) {
		c, addr := listening(t, carrierSettings(a.tls))
		nc, err := c.dial(soon(t), addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c.close()
		ended(nc)
	})
}
