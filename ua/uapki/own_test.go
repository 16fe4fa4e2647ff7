package uapki

import (
	"bytes"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

func TestOwnCertificateFaults(t *testing.T) {
	id := sign(t, 0, nil)
	key, err := encodeKey(id.Key)
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := encodeKey(rsaKeys[1]())
	if err != nil {
		t.Fatal(err)
	}
	const cert, private = "own/certs/application.der", "own/private/application.pem"
	for _, c := range []struct {
		name  string
		files map[string][]byte
		opts  CertificateOptions
		want  error
		text  []string
	}{
		{"no key", map[string][]byte{cert: id.Chain[0]}, baseOptions, ua.BadCertificateInvalid, []string{"application.der", "put the key there"}},
		{"key of another", map[string][]byte{cert: id.Chain[0], private: otherKey}, baseOptions, ua.BadCertificateInvalid, []string{"application.der", "delete"}},
		{"unreadable key", map[string][]byte{cert: id.Chain[0], private: []byte("x")}, baseOptions, ua.BadCertificateInvalid, []string{"application.pem"}},
		{"unreadable certificate", map[string][]byte{cert: []byte("x"), private: key}, baseOptions, ua.BadCertificateInvalid, []string{"application.der"}},
		{"unreadable key alone", map[string][]byte{private: []byte("x")}, baseOptions, nil, []string{"application.pem", "restore"}},
		{"expired", map[string][]byte{cert: id.Chain[0], private: key},
			CertificateOptions{Now: func() time.Time { return now.Add(6 * 365 * 24 * time.Hour) }}, ua.BadCertificateTimeInvalid, []string{"application.der", "expired", "renew"}},
		{"not yet valid", map[string][]byte{cert: id.Chain[0], private: key},
			CertificateOptions{Now: func() time.Time { return now.Add(-48 * time.Hour) }}, ua.BadCertificateTimeInvalid, []string{"clock"}},
		{"other URI", map[string][]byte{cert: id.Chain[0], private: key},
			CertificateOptions{ApplicationURI: "urn:other", Now: clock}, ua.BadCertificateUriInvalid, []string{"urn:other", "urn:plant:Line 1", "application.der"}},
		{"impossible key size", nil, CertificateOptions{Bits: 1000}, nil, []string{"1000"}},
		{"impossible URI", nil, CertificateOptions{ApplicationURI: "urn:Größe"}, nil, []string{"urn:Größe"}},
	} {
		s := open(t)
		for name, data := range c.files {
			write(t, s.path(name), data)
		}
		got, created, err := s.LoadOrCreate(c.opts)
		if err == nil || got != nil || created || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v %v", c.name, created, err)
			continue
		}
		for _, text := range c.text {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %v", c.name, text, err)
			}
		}
		if c.want != nil && ua.StatusOf(err) != c.want {
			t.Errorf("%s: status %v", c.name, ua.StatusOf(err))
		}
	}
}

func TestLoadOrCreate(t *testing.T) {
	s := open(t)
	id, created, err := s.LoadOrCreate(baseOptions)
	if err != nil || !created {
		t.Fatal(created, err)
	}
	again, created, err := s.LoadOrCreate(baseOptions)
	if err != nil || created || !bytes.Equal(again.Certificate(), id.Certificate()) || !again.Key.Equal(id.Key) || again.ApplicationURI != "urn:plant:Line 1" {
		t.Fatalf("loaded %v %v", created, err)
	}
	info, err := os.Stat(s.path("own/private/application.pem"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file %v %v", info.Mode(), err)
	}
	// A crash after the key was published, and a deleted certificate.
	if err := os.Remove(s.path("own/certs/application.der")); err != nil {
		t.Fatal(err)
	}
	renewed, created, err := s.LoadOrCreate(baseOptions)
	if err != nil || !created || !renewed.Key.Equal(id.Key) || bytes.Equal(renewed.Chain[0], id.Chain[0]) {
		t.Errorf("renewed %v %v", created, err)
	}
	// A certificate from an authority beside it, valid longer, with its chain.
	ca := newAuthority(t, nil, "ca", nil)
	leaf := issue(t, ca, "by the ca", &id.Key.PublicKey, func(c *x509.Certificate) { c.NotAfter = now.Add(20 * 365 * 24 * time.Hour) })
	write(t, s.path("own/certs/site.pem"), append(pemOf(ca.cert), pemOf(leaf)...))
	site, created, err := s.LoadOrCreate(CertificateOptions{Now: clock})
	if err != nil || created || len(site.Chain) != 2 || !bytes.Equal(site.Chain[0], leaf.Raw) || !bytes.Equal(site.Chain[1], ca.cert.Raw) {
		t.Errorf("from the authority: %v", err)
	}
}

// TestLoadOrCreateAtOnce: every process gets the same pair, with hard links and
// on file systems that have none.
func TestLoadOrCreateAtOnce(t *testing.T) {
	noLinks := func(string, string) error { return errors.New("links are not supported") }
	for name, link := range map[string]func(string, string) error{"links": os.Link, "no links": noLinks} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var wg sync.WaitGroup
			ids := make([]*Identity, 4)
			makers := make([]bool, len(ids))
			for i := range ids {
				wg.Go(func() {
					s, err := Open(dir)
					if err != nil {
						t.Error(err)
						return
					}
					s.link = link
					if ids[i], makers[i], err = s.LoadOrCreate(baseOptions); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			made := 0
			for i, id := range ids {
				if id == nil {
					t.Fatal("no identity")
				}
				if makers[i] {
					made++
				}
				if !id.Key.Equal(ids[0].Key) || !bytes.Equal(id.Chain[0], ids[0].Chain[0]) {
					t.Errorf("process %d has another identity", i)
				}
			}
			if made != 1 {
				t.Errorf("%d processes made the certificate", made)
			}
			for _, f := range []string{"own/certs", "own/private"} {
				entries, err := os.ReadDir(filepath.Join(dir, f))
				if err != nil || len(entries) != 1 {
					t.Errorf("%s holds %v", f, entries)
				}
			}
		})
	}
}

// An old certificate is put aside whole, and only then a new one made with a new key.
func TestRetire(t *testing.T) {
	s := open(t)
	if id, file, err := s.Own(); id != nil || file != "" || err != nil {
		t.Fatal(id, file, err)
	}
	if dir, err := s.Retire(now); err != nil || !strings.Contains(dir, "replaced") {
		t.Fatal(dir, err) // there was nothing
	}
	old, _, err := s.LoadOrCreate(baseOptions)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := s.Retire(now)
	if err != nil {
		t.Fatal(err)
	}
	if id, _, err := s.Own(); id != nil || err != nil {
		t.Fatal(id, err)
	}
	again, err := LoadIdentity(filepath.Join(dir, "certs", ownCertificate), filepath.Join(dir, "private", ownKey))
	if err != nil || !again.Key.Equal(old.Key) {
		t.Error(err)
	}
	renewed, created, err := s.LoadOrCreate(baseOptions)
	if err != nil || !created || renewed.Key.Equal(old.Key) {
		t.Error(created, err)
	}
	if id, file, err := s.Own(); err != nil || !id.Key.Equal(renewed.Key) || filepath.Base(file) != ownCertificate {
		t.Error(file, err)
	}
	os.RemoveAll(s.path("own/replaced"))
	write(t, s.path("own/replaced"), []byte("a file"))
	if _, err := s.Retire(now); err == nil {
		t.Error("put aside into a file")
	}
	if id, _, err := s.Own(); id == nil || err != nil {
		t.Error("the certificate is gone", err)
	}
}
