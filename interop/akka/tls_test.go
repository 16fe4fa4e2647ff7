package akka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"
)

// authority issues certificates and is trusted by nodes that get its roots.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	roots       string // a PEM file
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "Test Authority " + nextID()},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate, a.key = sign(t, template, nil, nil)
	a.roots = filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(a.roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

func sign(t *testing.T, template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c, key
}

// issue makes a certificate for both roles and returns the PKCS#12 file and what a Go program takes.
func (a *authority) issue(t *testing.T) (string, tls.Certificate) {
	t.Helper()
	leaf, key := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "akka.test"}, DNSNames: []string{"akka.test", "localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, a.key)
	pfx, err := pkcs12.Modern.Encode(key, leaf, []*x509.Certificate{a.certificate}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "node.pfx")
	if err := os.WriteFile(file, pfx, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

func secured(file string, mutual, suppress bool) []string {
	text := map[bool]string{true: "true", false: "false"}
	return []string{"--tls-cert", file, "--tls-password", "secret", "--tls-mutual", text[mutual], "--tls-suppress", text[suppress]}
}

// TestTLS talks over TLS with and without certificates of clients, that are looked at or not.
func TestTLS(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		trusted := newAuthority(t)
		cert, _ := trusted.issue(t)
		other, _ := newAuthority(t).issue(t)
		launchIn := func(k kind, args []string) *node {
			return launchWith(t, k, systemName("S"), []string{"SSL_CERT_FILE=" + trusted.roots}, args...)
		}
		for _, c := range []struct {
			name string
			a, b []string
			work bool
		}{
			{"server only", secured(cert, false, true), secured(cert, false, true), true},
			{"mutual, validated", secured(cert, true, false), secured(cert, true, false), true},
			// Ours shows its certificate to whom asks for it; Akka.NET does only where it asks for one itself.
			{"mutual on one side", secured(cert, false, true), secured(cert, true, true), p.a == golang},
			{"a stranger's certificate", secured(other, true, false), secured(cert, true, false), false},
			{"one without TLS", nil, secured(cert, false, true), false},
		} {
			t.Run(c.name, func(t *testing.T) {
				a, b := launchIn(p.a, c.a), launchIn(p.b, c.b)
				a.ready(t)
				b.ready(t)
				if want := "akka.ssl.tcp://"; !strings.HasPrefix(b.address, want) {
					t.Fatalf("the address is %s, want %s", b.address, want)
				}
				// One without TLS has another protocol: it is asked for at the address as it is, and at that of its own protocol.
				if !c.work {
					for _, to := range []string{b.address, strings.Replace(b.address, "ssl.", "", 1)} {
						if e := a.answer(t, to+"/user/echo", "string", "x", 2*time.Second); e.text("event") != "ask-failed" {
							t.Errorf("answered: %s", e)
						}
					}
					b.ask(t, "/user/echo", patience)
					return
				}
				a.ask(t, b.path("/user/echo"), patience)
				b.ask(t, a.path("/user/echo"), patience)
				if e := a.answer(t, b.path("/user/echo"), "big", 120000, patience); len(e.text("value")) != 120000 {
					t.Errorf("%.200s", e)
				}
				whole := a.watch(t, b.path("/user/watchme"))
				b.do("stop", "name", "watchme")
				a.terminated(t, 0, whole, false)
			})
		}
	})
}

// TestRawTLS dials a node with TLS as peers of every age do.
func TestRawTLS(t *testing.T) {
	t.Parallel()
	trusted := newAuthority(t)
	cert, client := trusted.issue(t)
	_, stranger := newAuthority(t).issue(t)
	env := []string{"SSL_CERT_FILE=" + trusted.roots}
	k := targetKind()
	open := launchWith(t, k, systemName("T"), env, secured(cert, false, false)...)
	strict := launchWith(t, k, systemName("T"), env, secured(cert, true, false)...)
	open.ready(t)
	strict.ready(t)
	for _, c := range []struct {
		name string
		to   *node
		cfg  *tls.Config
		work bool
	}{
		{"1.4: no certificate", open, &tls.Config{}, true},
		{"TLS 1.2", open, &tls.Config{MaxVersion: tls.VersionTLS12}, true},
		{"another name", open, &tls.Config{ServerName: "someone.else"}, true},
		{"a certificate nobody asked for", open, &tls.Config{Certificates: []tls.Certificate{client}}, true},
		{"certificate", strict, &tls.Config{Certificates: []tls.Certificate{client}}, true},
		{"certificate, TLS 1.2", strict, &tls.Config{Certificates: []tls.Certificate{client}, MaxVersion: tls.VersionTLS12}, true},
		{"none where one is wanted", strict, &tls.Config{}, false},
		{"none where one is wanted, TLS 1.2", strict, &tls.Config{MaxVersion: tls.VersionTLS12}, false},
		{"a stranger's", strict, &tls.Config{Certificates: []tls.Certificate{stranger}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRaw(t, c.to)
			r.protocol = "ssl.tcp"
			c.cfg.InsecureSkipVerify = true
			plain := r.dial()
			conn := tls.Client(plain, c.cfg)
			_ = conn.SetDeadline(time.Now().Add(patience))
			err := conn.Handshake()
			w := &wire{t, conn}
			if !c.work {
				// With TLS 1.3 the dialer learns of it with its first read.
				if err == nil {
					w.send(r.associatePDU())
					if p, err := w.read(patience); err == nil && p != nil {
						t.Errorf("answered with %v", p)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.send(r.associatePDU())
			if k == dotnet {
				// What comes right behind the handshake of TLS lies there unseen until more comes.
				time.Sleep(500 * time.Millisecond)
				w.send(control(cmdHeartbeat))
			}
			r.welcome(w)
			r.ask(w)
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		r := newRaw(t, open)
		c := r.dial()
		c.send(r.associatePDU())
		if p, err := c.read(patience); err == nil && p != nil {
			t.Errorf("answered with %v", p)
		}
	})
}
