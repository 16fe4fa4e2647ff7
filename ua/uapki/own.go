package uapki

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/actua/actua/ua"
)

// Names of the files that LoadOrCreate makes.
const (
	ownCertificate = "application.der"
	ownKey         = "application.pem"
)

// LoadOrCreate returns the application's own certificate and key, and makes
// them, self-signed, when own/certs is empty. It reports whether it made the
// certificate.
//
// In own/certs any file name will do, DER or PEM with intermediates; the key is
// the one in own/private that belongs to it. A certificate without its key, one
// that is expired, and one for another application URI than opts asks for are
// errors that name the file and what to do; they wrap
// ua.BadCertificateInvalid, ua.BadCertificateTimeInvalid and
// ua.BadCertificateUriInvalid.
//
// Any number of processes may call it at once for the same directory; all get
// the same identity. That needs no lock: the key is published first and only
// once, and whoever makes the certificate makes it from the published key, so
// the two belong together whichever process wins, and after a crash between
// the two steps as well.
func (s *Store) LoadOrCreate(opts CertificateOptions) (*Identity, bool, error) {
	wanted := opts.ApplicationURI
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, false, err
	}
	id, file, err := s.loadOwn()
	if err != nil {
		return nil, false, err
	}
	created := false
	if id == nil {
		if created, err = s.create(opts); err != nil {
			return nil, false, err
		}
		if id, file, err = s.loadOwn(); err != nil {
			return nil, false, err
		}
		if id == nil {
			return nil, false, fmt.Errorf("uapki: the certificate in %s vanished while it was being made", s.path("own/certs"))
		}
	}
	if err := checkOwn(id, file, wanted, opts.Now()); err != nil {
		return nil, false, err
	}
	return id, created, nil
}

// Own returns the application's certificate with its key and the file that it lies in, and makes none:
// it is nil when own/certs is empty. It may be expired. A certificate without its key is an error as
// in LoadOrCreate.
func (s *Store) Own() (id *Identity, file string, err error) { return s.loadOwn() }

// Retire puts the files of own/certs and own/private aside, into a new folder below own/replaced, whose
// name it returns, so that LoadOrCreate makes a new certificate and key. Peers that trust the old one
// have to trust the new one then.
func (s *Store) Retire(now time.Time) (dir string, err error) {
	if err := os.MkdirAll(s.path("own/replaced"), 0o700); err != nil {
		return "", fmt.Errorf("uapki: %w", err)
	}
	if dir, err = os.MkdirTemp(s.path("own/replaced"), now.UTC().Format("2006-01-02T150405Z-*")); err != nil {
		return "", fmt.Errorf("uapki: %w", err)
	}
	// The certificate goes first: a key that stayed behind gets a new certificate, a certificate without
	// its key would be an error.
	for _, from := range []string{"own/certs", "own/private"} {
		files, err := filesIn(s.path(from))
		if err != nil {
			return dir, err
		}
		to := filepath.Join(dir, filepath.Base(from))
		if err := os.Mkdir(to, 0o700); err != nil {
			return dir, fmt.Errorf("uapki: %w", err)
		}
		for _, f := range files {
			if err := os.Rename(f, filepath.Join(to, filepath.Base(f))); err != nil {
				return dir, fmt.Errorf("uapki: putting the old certificate aside: %w", err)
			}
		}
	}
	return dir, nil
}

// checkOwn refuses an identity with which every peer would refuse us.
func checkOwn(id *Identity, file, wantedURI string, now time.Time) error {
	leaf, err := id.Leaf()
	if err != nil {
		return err
	}
	const remedy = "renew it, or delete the file to have a new self-signed one made from the same key"
	if now.After(leaf.NotAfter) {
		return fmt.Errorf("uapki: the own certificate %s expired at %s: %s: %w", file, leaf.NotAfter.Format(time.RFC3339), remedy, ua.BadCertificateTimeInvalid)
	}
	if now.Before(leaf.NotBefore) {
		return fmt.Errorf("uapki: the own certificate %s is valid from %s only: check the clock of this machine, else %s: %w", file, leaf.NotBefore.Format(time.RFC3339), remedy, ua.BadCertificateTimeInvalid)
	}
	if wantedURI != "" && !slices.Contains(applicationURIs(leaf), wantedURI) {
		return fmt.Errorf("uapki: the own certificate %s is for application URI %q, the configuration says %q: change the configuration, or %s: %w", file, id.ApplicationURI, wantedURI, remedy, ua.BadCertificateUriInvalid)
	}
	return nil
}

// create publishes key and certificate and reports whether the certificate in
// place is the one made here.
func (s *Store) create(opts CertificateOptions) (bool, error) {
	keyFile := filepath.Join(s.path("own/private"), ownKey)
	key, err := readKey(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		if key, err = s.createKey(keyFile, opts.Bits); err != nil {
			return false, err
		}
	} else if err != nil {
		return false, fmt.Errorf("%w: restore the file, or delete it to have a new key made", err)
	}
	id, err := selfSign(key, opts)
	if err != nil {
		return false, err
	}
	created, err := s.createFile(filepath.Join(s.path("own/certs"), ownCertificate), id.Chain[0], 0o644)
	if err != nil {
		return false, fmt.Errorf("uapki: writing the own certificate: %w", err)
	}
	return created, nil
}

// createKey makes a key, publishes it and returns the one in place, which
// another process may have made.
func (s *Store) createKey(file string, bits int) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, fmt.Errorf("uapki: making a key of %d bits: %w", bits, err)
	}
	text, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	if _, err := s.createFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("uapki: writing the private key: %w", err)
	}
	return readKey(file)
}

// loadOwn finds the own certificate and its key, or nil when there is no
// certificate at all. Of several that have a key, the one valid longest is
// taken, so that a renewed certificate can be put beside the old one.
func (s *Store) loadOwn() (best *Identity, file string, err error) {
	certFiles, err := filesIn(s.path("own/certs"))
	if err != nil || len(certFiles) == 0 {
		return nil, "", err
	}
	keyFiles, err := filesIn(s.path("own/private"))
	if err != nil {
		return nil, "", err
	}
	var keys []*rsa.PrivateKey
	var faults []error
	for _, f := range keyFiles {
		if key, err := readKey(f); err == nil {
			keys = append(keys, key)
		} else {
			faults = append(faults, err)
		}
	}
	var until time.Time
	for _, f := range certFiles {
		certs, err := ReadCertificates(f)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		id, end := withKey(certs, keys)
		if id != nil && (best == nil || end.After(until)) {
			best, file, until = id, f, end
		}
	}
	if best != nil {
		return best, file, nil
	}
	return nil, "", fmt.Errorf("uapki: no private key in %s belongs to a certificate in %s: put the key there, or delete the certificate to have a new one made%s: %w",
		s.path("own/private"), strings.Join(certFiles, ", "), notes(faults), ua.BadCertificateInvalid)
}

func withKey(certs []*x509.Certificate, keys []*rsa.PrivateKey) (*Identity, time.Time) {
	for _, key := range keys {
		if id := identityOf(certs, key); id != nil {
			leaf, err := id.Leaf()
			if err == nil {
				return id, leaf.NotAfter
			}
		}
	}
	return nil, time.Time{}
}

// filesIn lists the files of a folder, sorted, hidden ones left out.
func filesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("uapki: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}
