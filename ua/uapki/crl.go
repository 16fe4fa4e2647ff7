package uapki

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/actua/actua/ua"
)

// RevocationEntry is one revocation list of the store with the file it lies in.
type RevocationEntry struct {
	File string
	List *x509.RevocationList
}

// ReadRevocationLists reads a file of revocation lists, DER or PEM.
func ReadRevocationLists(file string) ([]*x509.RevocationList, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("uapki: revocation list: %w", err)
	}
	lists, err := decodeRevocations(data)
	if err != nil {
		return nil, fmt.Errorf("uapki: %s is no revocation list in PEM or DER: %w", file, err)
	}
	all := make([]*x509.RevocationList, len(lists))
	for i, r := range lists {
		all[i] = r.list
	}
	return all, nil
}

// AddRevocationList puts an authority's revocation list beside its certificate, into trusted/crl or
// issuers/crl, and returns the file. It replaces an earlier list of the same authority. A list of an
// authority that is in neither folder is refused with BadCertificateChainIncomplete, since it would
// revoke nothing; one that is not signed by it, or that is older than the one there, with
// BadCertificateInvalid.
func (s *Store) AddRevocationList(list *x509.RevocationList) (file string, err error) {
	issuer, folder, err := s.issuerOf(list)
	if err != nil {
		return "", err
	}
	known, err := s.ListRevocations()
	if err != nil {
		return "", err
	}
	file = filepath.Join(s.path(folder), plainName(issuer.Subject.CommonName)+" ["+hexThumbprint(issuer)+"].crl")
	for _, e := range known {
		if bytes.Equal(e.List.RawIssuer, list.RawIssuer) && e.List.CheckSignatureFrom(issuer) == nil && olderList(list, e.List) {
			return "", fmt.Errorf("uapki: %s has a newer revocation list of %s: %w", e.File, describe(issuer), ua.BadCertificateInvalid)
		}
	}
	if err := replaceFile(file, list.Raw, 0o644); err != nil {
		return "", fmt.Errorf("uapki: adding a revocation list: %w", err)
	}
	return file, nil
}

// olderList compares the numbers of two lists of one authority, or their times when it does not number them.
func olderList(a, b *x509.RevocationList) bool {
	if a.Number != nil && b.Number != nil {
		return a.Number.Cmp(b.Number) < 0
	}
	return a.ThisUpdate.Before(b.ThisUpdate)
}

// issuerOf finds the authority that signed a list, and the folder for lists beside it.
func (s *Store) issuerOf(list *x509.RevocationList) (issuer *x509.Certificate, folder string, err error) {
	trusted, err := s.ListTrusted()
	if err != nil {
		return nil, "", err
	}
	issuers, err := s.ListIssuers()
	if err != nil {
		return nil, "", err
	}
	var unsigned error
	for i, e := range append(trusted, issuers...) {
		if !bytes.Equal(e.Certificate.RawSubject, list.RawIssuer) {
			continue
		}
		if err := list.CheckSignatureFrom(e.Certificate); err != nil {
			unsigned = errors.Join(unsigned, err)
			continue
		}
		if i < len(trusted) {
			return e.Certificate, "trusted/crl", nil
		}
		return e.Certificate, "issuers/crl", nil
	}
	if unsigned != nil {
		return nil, "", fmt.Errorf("uapki: the revocation list of %.200q is not signed by the authority of that name here: %w: %w",
			list.Issuer.String(), unsigned, ua.BadCertificateInvalid)
	}
	return nil, "", fmt.Errorf("uapki: the authority of the revocation list, %.200q, is neither trusted nor among the issuers: %w",
		list.Issuer.String(), ua.BadCertificateChainIncomplete)
}

// ListRevocations returns the revocation lists in trusted/crl and issuers/crl that can be read.
func (s *Store) ListRevocations() ([]RevocationEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []RevocationEntry
	for i := range s.crls {
		items, err := s.crls[i].load()
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			all = append(all, RevocationEntry{File: it.file, List: it.value.list})
		}
	}
	return all, nil
}
