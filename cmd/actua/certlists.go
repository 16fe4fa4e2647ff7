package main

import (
	"crypto/x509"
	"path/filepath"
	"strconv"
	"time"

	"github.com/actua/actua/ua/uapki"
)

// separateLists takes the files of revocation lists out of the arguments of `cert trust`; a file may hold
// certificates as well.
func separateLists(args []string) (certificates []string, lists []*x509.RevocationList) {
	for _, arg := range args {
		if isFile(arg) {
			if found, err := uapki.ReadRevocationLists(arg); err == nil {
				lists = append(lists, found...)
				if _, err := uapki.ReadCertificates(arg); err != nil {
					continue
				}
			}
		}
		certificates = append(certificates, arg)
	}
	return certificates, lists
}

// addLists puts revocation lists beside the certificates of their authorities.
func (a *app) addLists(f *certFlags, lists []*x509.RevocationList) error {
	if len(lists) == 0 {
		return nil
	}
	store, err := f.open(true)
	if err != nil {
		return err
	}
	for _, list := range lists {
		file, err := store.AddRevocationList(list)
		if err != nil {
			return ourPart(err, "%v (trust the authority first, or put it into the issuers with --issuer)", err)
		}
		e := uapki.RevocationEntry{File: file, List: list}
		if a.json {
			err = a.print(revocationLine(&e))
		} else {
			err = a.printf("%s  %d revoked by %s\n", a.paint(bold, folderOf(&e)), len(list.RevokedCertificateEntries), clean(list.Issuer.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folderOf is the list that a revocation list belongs to: trusted/crl or issuers/crl.
func folderOf(e *uapki.RevocationEntry) string {
	return filepath.Base(filepath.Dir(filepath.Dir(e.File))) + "/crl"
}

func revocationLine(e *uapki.RevocationEntry) *line {
	file, err := filepath.Abs(e.File)
	if err != nil {
		file = e.File
	}
	return new(line).set("list", folderOf(e)).set("file", file).set("issuer", e.List.Issuer.String()).
		set("revoked", len(e.List.RevokedCertificateEntries)).text("thisUpdate", listTime(e.List.ThisUpdate)).text("nextUpdate", listTime(e.List.NextUpdate))
}

func listTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// revocationTable is the part of `cert list` below the certificates, "" without revocation lists.
func revocationTable(all []uapki.RevocationEntry) string {
	if len(all) == 0 {
		return ""
	}
	var t table
	t.add("LIST", "REVOKED", "BY", "NEXT LIST DUE")
	for i := range all {
		due := orDash(listTime(all[i].List.NextUpdate))
		if len(due) > len(time.DateOnly) {
			due = due[:len(time.DateOnly)]
		}
		t.add(folderOf(&all[i]), counted(len(all[i].List.RevokedCertificateEntries)), shorten(clean(all[i].List.Issuer.String()), 40), due)
	}
	return "\n" + t.String()
}

func counted(n int) string {
	if n == 1 {
		return "1 certificate"
	}
	return strconv.Itoa(n) + " certificates"
}
