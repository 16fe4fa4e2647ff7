package uapki

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOpenWhereNoFolderCanBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
}

func TestOpenMakesTheFolders(t *testing.T) {
	s := open(t)
	for _, f := range []string{"own/certs", "own/private", "trusted/certs", "trusted/crl", "issuers/certs", "issuers/crl", "rejected/certs"} {
		info, err := os.Stat(s.path(f))
		if err != nil || !info.IsDir() {
			t.Errorf("%s: %v", f, err)
		}
		if f == "own/private" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}
	if _, err := Open(s.Dir()); err != nil {
		t.Errorf("opened again: %v", err)
	}
}

// TestFileNamesFromPeers: a common name is the peer's text.
func TestFileNamesFromPeers(t *testing.T) {
	s := open(t)
	for _, cn := range []string{"../../../etc/passwd", "..", "", "a/b\\c:d*e", "\x00\n", strings.Repeat("x", 300), ".hidden", "Ä"} {
		cert := leafOf(t, sign(t, 0, nil))
		cert.Subject.CommonName = cn
		if err := s.Reject(cert); err != nil {
			t.Errorf("%q: %v", cn, err)
		}
		name := fileName(cert)
		if len(name) > 120 || strings.ContainsAny(name, "/\\:\x00\n") || name[0] == '.' {
			t.Errorf("%q gives %q", cn, name)
		}
	}
	if list, err := s.ListRejected(); err != nil || len(list) != 8 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

func TestRejectedAreBounded(t *testing.T) {
	s := open(t)
	folder := s.path("rejected/certs")
	first := leafOf(t, sign(t, 0, nil))
	old := time.Now().Add(-time.Hour)
	for i := range MaxRejected {
		file := filepath.Join(folder, fmt.Sprintf("old%02d.der", i))
		write(t, file, first.Raw)
		at := old.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := s.Reject(first); err != nil { // the same three times
			t.Fatal(err)
		}
	}
	second := leafOf(t, sign(t, 1, nil))
	if err := s.Reject(second); err != nil {
		t.Fatal(err)
	}
	files, err := filesIn(folder)
	if err != nil || len(files) != MaxRejected {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, gone := range []string{"old00.der", "old01.der"} {
		if _, err := os.Stat(filepath.Join(folder, gone)); !os.IsNotExist(err) {
			t.Errorf("%s is still there", gone)
		}
	}
	for _, kept := range []string{"old02.der", fileName(first), fileName(second)} {
		if _, err := os.Stat(filepath.Join(folder, kept)); err != nil {
			t.Error(err)
		}
	}
}

func TestTrustAndUntrust(t *testing.T) {
	s := open(t)
	cert := leafOf(t, sign(t, 0, nil))
	state := func(trusted bool, nTrusted, nRejected int) {
		t.Helper()
		got, err := s.Trusted(cert)
		list, _ := s.ListTrusted()
		rejected, _ := s.ListRejected()
		if err != nil || got != trusted || len(list) != nTrusted || len(rejected) != nRejected {
			t.Errorf("trusted %v %v, lists %d and %d", got, err, len(list), len(rejected))
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	state(false, 0, 0)
	must(s.Reject(cert))
	state(false, 0, 1)
	must(s.Trust(cert))
	state(true, 1, 0)
	must(s.Trust(cert))
	state(true, 1, 0)
	must(s.Reject(cert))
	state(true, 1, 1) // a refusal for another reason takes no trust away
	must(s.Untrust(cert))
	state(false, 0, 1)

	bundle := s.path("trusted/certs/bundle.pem")
	other := leafOf(t, sign(t, 1, nil))
	write(t, bundle, append(pemOf(cert), pemOf(other)...))
	state(true, 2, 1)
	if err := s.Untrust(cert); err == nil || !strings.Contains(err.Error(), "bundle.pem") {
		t.Errorf("untrusted one of a bundle: %v", err)
	}
	state(true, 2, 1)
}

func pemOf(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

// TestUnreadableFilesAreNamed: garbage in a trust list breaks nothing else, and
// the message about a missing certificate points to it.
func TestUnreadableFilesAreNamed(t *testing.T) {
	s := open(t)
	id := sign(t, 0, nil)
	write(t, s.path("trusted/certs/readme.txt"), []byte("put certificates here"))
	write(t, s.path("trusted/certs/.tmp-1"), []byte("half a file"))
	if err := os.Mkdir(s.path("trusted/certs/folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(id.Chain, ValidateOptions{Now: now}); err == nil || !strings.Contains(err.Error(), "readme.txt") {
		t.Errorf("text: %v", err)
	}
	if p := s.Problems(); len(p) != 1 {
		t.Errorf("problems %v", p)
	}
	if err := s.Trust(leafOf(t, id)); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(id.Chain, ValidateOptions{Now: now}); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(s.path("trusted/certs")); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(id.Chain, ValidateOptions{Now: now}); err == nil {
		t.Error("trusted by a folder that is gone")
	}
}

func BenchmarkValidateKnown(b *testing.B) {
	s := open(b)
	id := sign(b, 0, nil)
	if err := s.Trust(leafOf(b, id)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Validate(id.Chain, ValidateOptions{Now: now}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStoreIsSafeForConcurrentUse(t *testing.T) {
	s := open(t)
	id, other := sign(t, 0, nil), sign(t, 1, nil)
	cert, stranger := leafOf(t, id), leafOf(t, other)
	if err := s.Trust(cert); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if err := s.Validate(id.Chain, ValidateOptions{Now: now}); err != nil {
					t.Error(err)
				}
				if err := s.Validate(other.Chain, ValidateOptions{Now: now}); err == nil {
					t.Error("a stranger is trusted")
				}
				if err := s.Reject(stranger); err != nil {
					t.Error(err)
				}
				if err := s.Trust(cert); err != nil {
					t.Error(err)
				}
				s.Problems()
			}
		})
	}
	wg.Wait()
}
