package main

import (
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua/uapki"
)

// peer makes a certificate, records it among the rejected ones of the client or the server, and returns its
// thumbprint.
func peer(t *testing.T, role string) string {
	t.Helper()
	id, err := uapki.NewIdentity(uapki.CertificateOptions{CommonName: "peer", ApplicationURI: "urn:peer", HostNames: []string{"peer"}})
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := id.Leaf()
	if err != nil {
		t.Fatal(err)
	}
	store, err := openStore("", role)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Reject(leaf); err != nil {
		t.Fatal(err)
	}
	return thumbprint(leaf)
}

func TestCertificates(t *testing.T) {
	w := isolated(t)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var files [2]string
	var thumb string
	for i, name := range []string{"peer", "old"} {
		id, err := uapki.NewIdentity(uapki.CertificateOptions{
			CommonName: name, ApplicationURI: "urn:" + name, HostNames: []string{name}, Validity: time.Hour,
			Now: func() time.Time { return time.Now().Add(time.Duration(-48*i) * time.Hour) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			leaf, _ := id.Leaf()
			thumb = strings.ToLower(thumbprint(leaf)[:8])
		}
		files[i] = write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: id.Chain[0]}))
	}
	w.names = []string{"PEERFILE", files[0], "OLDFILE", files[1], "PEERTHUMB", thumb, "JUNK", write("junk.der", []byte("junk")),
		"REQUEST", filepath.Join(dir, "request.csr")}
	transcript(t, w, "cert", "")
}

// What is named in several ways, or is not alone in its file.
func TestCertificatesByThumbprint(t *testing.T) {
	w := isolated(t)
	thumb := peer(t, "client")
	spaced := strings.ToLower(thumb[:2] + ":" + thumb[2:4] + " " + thumb[4:])
	code, out, stderr := w.run(t.Context(), "cert", "trust", spaced, "--json")
	var line struct{ List, Thumbprint, File string }
	if err := json.Unmarshal([]byte(out), &line); err != nil || code != 0 || line.List != "trusted" || line.Thumbprint != thumb {
		t.Fatal(code, out, stderr)
	}
	// Of a file with two certificates one cannot be taken away: it says so, and both stay.
	der, err := os.ReadFile(line.File)
	if err != nil {
		t.Fatal(err)
	}
	second := peer(t, "client")
	store, err := openStore("", "client")
	if err != nil {
		t.Fatal(err)
	}
	rejected, err := store.ListRejected()
	if err != nil || len(rejected) != 1 {
		t.Fatal(rejected, err)
	}
	both := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rejected[0].Certificate.Raw})...)
	if err := os.WriteFile(line.File, both, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := w.run(t.Context(), "cert", "reject", second); code != exitOurPart || !strings.Contains(stderr, "by hand") {
		t.Error(code, stderr)
	}
	// The second certificate of a file given is put into the issuers, where it makes nobody trusted.
	other := filepath.Join(t.TempDir(), "pki")
	if code, _, stderr := w.run(t.Context(), "cert", "trust", line.File, "--pki", other); code != 0 {
		t.Fatal(stderr)
	}
	_, out, _ = w.run(t.Context(), "cert", "list", "--pki", other, "--json")
	if strings.Count(out, `"list":"trusted"`) != 1 || strings.Count(out, `"list":"issuers"`) != 1 {
		t.Error(out)
	}
	// A folder that is a file.
	if code, _, stderr := w.run(t.Context(), "cert", "create", "--pki", line.File); code != exitOurPart || !strings.Contains(stderr, "--pki") {
		t.Error(code, stderr)
	}
	// A certificate whose key is lost can be replaced; without --replace nothing is touched.
	if code, _, stderr := w.run(t.Context(), "cert", "create", "--bits", "3072"); code != 0 {
		t.Fatal(stderr)
	}
	key := filepath.Join(store.Dir(), "own", "private", "application.pem")
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := w.run(t.Context(), "cert", "create"); code != exitOurPart || !strings.Contains(stderr, "--replace") {
		t.Error(code, stderr)
	}
	if code, out, stderr := w.run(t.Context(), "cert", "create", "--replace"); code != 0 || !strings.Contains(out, "2048") {
		t.Error(code, stderr)
	}
	// The key stays when only the certificate is deleted; another size is then not what is made, which it says.
	if err := os.Remove(filepath.Join(store.Dir(), "own", "certs", "application.der")); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := w.run(t.Context(), "cert", "create", "--bits", "3072"); code != 0 || !strings.Contains(out, "2048") || !strings.Contains(stderr, "--replace") {
		t.Error(code, out, stderr)
	}
}
