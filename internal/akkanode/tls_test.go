package akkanode

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// pfx makes a certificate of its own in a file.
func pfx(t *testing.T, password string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	data, err := pkcs12.Modern.Encode(key, c, nil, password)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "node.pfx")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// With TLS a node is at akka.ssl.tcp, and those without cannot reach it.
func TestTLS(t *testing.T) {
	file := pfx(t, "geheim")
	secure := func(c *Config) { c.TLS.Cert, c.TLS.Password, c.TLS.Mutual = file, "geheim", true }
	a, b := start(t, "NetA", secure), start(t, "NetB", secure)
	if !strings.HasPrefix(a.address, "akka.ssl.tcp://") {
		t.Error(a.address)
	}
	a.say(`{"cmd":"ask","to":"%s/user/echo","value":"x","id":"1"}`, b.address)
	a.wait(`{"event":"reply","id":"1","value":"x"}`)

	plain := start(t, "NetC")
	plain.say(`{"cmd":"ask","to":"%s/user/echo","value":"x","id":"1","timeoutMs":300}`, b.address)
	plain.wait(`{"event":"ask-failed","id":"1"}`)
	plain.say(`{"cmd":"ask","to":"%s/user/echo","value":"x","id":"2","timeoutMs":300}`, strings.Replace(b.address, ".ssl", "", 1))
	plain.wait(`{"event":"ask-failed","id":"2"}`)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for password, certificate := range map[string]string{"falsch": file, "": file + "x"} {
		cfg := Defaults()
		cfg.TLS.Cert, cfg.TLS.Password = certificate, password
		if c, err := Connect(ctx, cfg, b.n.Address()); err == nil {
			c.Close()
			t.Errorf("%s with password %q can be read", certificate, password)
		}
	}
	cfg := Defaults()
	secure(&cfg)
	c, err := Connect(ctx, cfg, b.n.Address())
	if err != nil {
		t.Fatal(err)
	}
	if e, err := c.Ask(ctx, b.address+"/user/echo", "int", []byte("5")); err != nil || e.Text("value") != "5" {
		t.Error(e, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}

	// Nobody has signed the certificate: who verifies it goes no further.
	secure(&cfg)
	cfg.TLS.Suppress = false
	if c, err = Connect(ctx, cfg, b.n.Address()); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var lost *ConnectError
	if _, err := c.Identify(ctx, b.address+"/user/echo"); !errors.As(err, &lost) {
		t.Error(err)
	}
}
