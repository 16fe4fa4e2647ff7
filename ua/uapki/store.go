// Package uapki holds an application's certificate and the directory of the
// certificates it trusts, as OPC UA products lay it out:
//
//	own/certs       own/private      the application's certificate and key
//	trusted/certs   trusted/crl      applications and authorities trusted
//	issuers/certs   issuers/crl      authorities that only complete chains
//	rejected/certs                   peers that were refused, for the administrator
//
// Files are DER or PEM. An administrator works on the directory with a file
// manager; changes hold from the next check on, without a restart.
package uapki

import (
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxRejected bounds the files in rejected/certs. The oldest go first, so that
// a peer that makes new certificates all the time does not fill the disk.
const MaxRejected = 50

// Store is a directory of certificates. It is safe for concurrent use, also by
// several processes.
type Store struct {
	dir string

	mu       sync.Mutex
	trusted  folder[*x509.Certificate]
	issuers  folder[*x509.Certificate]
	rejected folder[*x509.Certificate]
	crls     [2]folder[*revocations]

	link func(from, to string) error // os.Link; tests take it away
}

// Entry is one certificate of a list with the file it lies in.
type Entry struct {
	File        string
	Certificate *x509.Certificate
}

// Open opens the store in dir and makes the folders that are missing. The
// folder of the private key is readable by its owner only.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, link: os.Link}
	for _, f := range []struct {
		path string
		mode fs.FileMode
	}{
		{"own/certs", 0o755}, {"own/private", 0o700},
		{"trusted/certs", 0o755}, {"trusted/crl", 0o755},
		{"issuers/certs", 0o755}, {"issuers/crl", 0o755},
		{"rejected/certs", 0o755},
	} {
		if err := os.MkdirAll(s.path(f.path), f.mode); err != nil {
			return nil, fmt.Errorf("uapki: certificate store %s: %w", dir, err)
		}
	}
	s.trusted = folder[*x509.Certificate]{path: s.path("trusted/certs"), parse: decodeCertificates}
	s.issuers = folder[*x509.Certificate]{path: s.path("issuers/certs"), parse: decodeCertificates}
	s.rejected = folder[*x509.Certificate]{path: s.path("rejected/certs"), parse: decodeCertificates}
	s.crls[0] = folder[*revocations]{path: s.path("trusted/crl"), parse: decodeRevocations}
	s.crls[1] = folder[*revocations]{path: s.path("issuers/crl"), parse: decodeRevocations}
	return s, nil
}

// Dir returns the directory that the store was opened with.
func (s *Store) Dir() string { return s.dir }

func (s *Store) path(slashed string) string {
	return filepath.Join(s.dir, filepath.FromSlash(slashed))
}

// Trusted reports whether exactly this certificate lies in trusted/certs. It
// says nothing about its validity; Validate does.
func (s *Store) Trusted(leaf *x509.Certificate) (bool, error) {
	list, err := s.ListTrusted()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list, func(e Entry) bool { return e.Certificate.Equal(leaf) }), nil
}

// Trust puts a certificate into trusted/certs and takes it out of
// rejected/certs. A certificate that is there already stays as it is.
func (s *Store) Trust(leaf *x509.Certificate) error {
	known, err := s.Trusted(leaf)
	if err != nil {
		return err
	}
	if !known {
		file := filepath.Join(s.path("trusted/certs"), fileName(leaf))
		if err := replaceFile(file, leaf.Raw, 0o644); err != nil {
			return fmt.Errorf("uapki: trusting %s: %w", describe(leaf), err)
		}
	}
	return s.remove(&s.rejected, leaf)
}

// Untrust takes a certificate out of trusted/certs and records it among the
// rejected. Files that hold further certificates are left alone and named in the
// error.
func (s *Store) Untrust(leaf *x509.Certificate) error {
	if err := s.remove(&s.trusted, leaf); err != nil {
		return err
	}
	return s.Reject(leaf)
}

// Reject records the certificate of a refused peer in rejected/certs, where an
// administrator finds it. Of more than MaxRejected files the oldest are
// removed. A trusted certificate stays trusted; Untrust is the opposite of
// Trust.
func (s *Store) Reject(leaf *x509.Certificate) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	folder := s.path("rejected/certs")
	file := filepath.Join(folder, fileName(leaf))
	now := time.Now()
	if os.Chtimes(file, now, now) == nil {
		return nil // known; only its age is new
	}
	if err := replaceFile(file, leaf.Raw, 0o644); err != nil {
		return fmt.Errorf("uapki: recording the rejected %s: %w", describe(leaf), err)
	}
	return prune(folder, MaxRejected, file)
}

// prune removes the oldest files beyond limit, but never keep.
func prune(folder string, limit int, keep string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("uapki: %w", err)
	}
	type aged struct {
		file string
		time time.Time
	}
	var files []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, aged{filepath.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b aged) int { return a.time.Compare(b.time) })
	for over := len(files) - limit; over > 0; files = files[1:] {
		if files[0].file == keep {
			continue
		}
		over--
		if err := os.Remove(files[0].file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("uapki: removing an old rejected certificate: %w", err)
		}
	}
	return nil
}

// remove deletes the files of a folder that hold this certificate only.
func (s *Store) remove(f *folder[*x509.Certificate], cert *x509.Certificate) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	items, err := f.load()
	if err != nil {
		return err
	}
	for _, it := range items {
		if !it.value.Equal(cert) {
			continue
		}
		if len(f.files[it.file].values) > 1 {
			return fmt.Errorf("uapki: %s holds other certificates too: remove %s from it by hand", it.file, describe(cert))
		}
		if err := os.Remove(it.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("uapki: %w", err)
		}
	}
	return nil
}

// AddIssuer puts an authority's certificate into issuers/certs: it completes
// chains, but does not make them trusted.
func (s *Store) AddIssuer(cert *x509.Certificate) error {
	file := filepath.Join(s.path("issuers/certs"), fileName(cert))
	if err := replaceFile(file, cert.Raw, 0o644); err != nil {
		return fmt.Errorf("uapki: adding the issuer %s: %w", describe(cert), err)
	}
	return nil
}

// RemoveIssuer takes an authority's certificate out of issuers/certs and records it among the rejected.
func (s *Store) RemoveIssuer(cert *x509.Certificate) error {
	if err := s.remove(&s.issuers, cert); err != nil {
		return err
	}
	return s.Reject(cert)
}

// ListTrusted returns the certificates in trusted/certs that can be read.
func (s *Store) ListTrusted() ([]Entry, error) { return s.list(&s.trusted) }

// ListIssuers returns the certificates in issuers/certs that can be read.
func (s *Store) ListIssuers() ([]Entry, error) { return s.list(&s.issuers) }

// ListRejected returns the certificates in rejected/certs that can be read.
func (s *Store) ListRejected() ([]Entry, error) { return s.list(&s.rejected) }

func (s *Store) list(f *folder[*x509.Certificate]) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items, err := f.load()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(items))
	for i, it := range items {
		entries[i] = Entry{File: it.file, Certificate: it.value}
	}
	return entries, nil
}

// Problems returns an error for each file in the trust lists that is no
// certificate or revocation list. Validate passes over such files.
func (s *Store) Problems() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for _, load := range []func() []error{
		s.trusted.problems, s.issuers.problems, s.crls[0].problems, s.crls[1].problems,
	} {
		all = append(all, load()...)
	}
	return all
}

// fileName names a certificate's file the way other OPC UA products do. The
// common name comes from a peer, so only harmless characters of it are used.
func fileName(cert *x509.Certificate) string {
	return plainName(cert.Subject.CommonName) + " [" + hexThumbprint(cert) + "].der"
}

func plainName(commonName string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, commonName)
	if len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		name = "certificate"
	}
	return name
}

func hexThumbprint(cert *x509.Certificate) string {
	sum := Thumbprint(cert.Raw)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// describe names a certificate in messages.
func describe(cert *x509.Certificate) string {
	subject := cert.Subject.String()
	if len(subject) > 200 {
		subject = subject[:200] + "…"
	}
	return fmt.Sprintf("certificate %q (SHA-1 %s)", subject, hexThumbprint(cert))
}
