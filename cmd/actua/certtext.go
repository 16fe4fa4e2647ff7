package main

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/actua/actua/ua/uapki"
)

// printCertificates prints a line or a block each.
func (a *app) printCertificates(all []stored) error {
	for i := range all {
		if a.json {
			if err := a.print(certificateLine(&all[i])); err != nil {
				return err
			}
			continue
		}
		space := ""
		if i > 0 {
			space = "\n"
		}
		if err := a.printf("%s%s", space, certificateText(&all[i])); err != nil {
			return err
		}
	}
	return nil
}

// certificateLine is the JSON line of every command of `cert`.
func certificateLine(c *stored) *line {
	file, err := filepath.Abs(c.file)
	if err != nil {
		file = c.file
	}
	hosts := hostNames(c.Certificate)
	if hosts == nil {
		hosts = []string{}
	}
	var bits any // null for a key of another kind
	if pub, ok := c.PublicKey.(*rsa.PublicKey); ok {
		bits = pub.N.BitLen()
	}
	return new(line).text("list", c.list).set("file", file).set("subject", c.Subject.String()).
		set("issuer", c.Issuer.String()).text("application", uapki.ApplicationURIOf(c.Certificate)).set("hosts", hosts).
		set("thumbprint", thumbprint(c.Certificate)).
		set("notBefore", c.NotBefore.UTC().Format(time.RFC3339)).set("notAfter", c.NotAfter.UTC().Format(time.RFC3339)).
		set("bits", bits).set("signature", c.SignatureAlgorithm.String()).set("authority", c.IsCA)
}

func certificateText(c *stored) string {
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "%-12s %s\n", name, clean(value)) }
	row("subject", c.Subject.String())
	issuer := c.Issuer.String()
	if string(c.RawIssuer) == string(c.RawSubject) {
		issuer = "itself"
	}
	row("issued by", issuer)
	row("application", orDash(uapki.ApplicationURIOf(c.Certificate)))
	row("hosts", orDash(strings.Join(hostNames(c.Certificate), ", ")))
	row("thumbprint", thumbprint(c.Certificate)+" (SHA-1)")
	row("valid", c.NotBefore.UTC().Format(time.DateOnly)+" to "+until(c.Certificate, time.Now()))
	row("key", keyName(c.Certificate)+", signed with "+c.SignatureAlgorithm.String())
	if c.IsCA {
		row("authority", "it may issue certificates")
	}
	if c.list != "" {
		row("list", c.list)
	}
	row("file", c.file)
	return b.String()
}

func hostNames(c *x509.Certificate) (names []string) {
	names = append(names, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

func keyName(c *x509.Certificate) string {
	if pub, ok := c.PublicKey.(*rsa.PublicKey); ok {
		return fmt.Sprintf("RSA %d bits", pub.N.BitLen())
	}
	return c.PublicKeyAlgorithm.String()
}

// expired reports whether a certificate is not valid now.
func expired(c *x509.Certificate, now time.Time) bool {
	return now.After(c.NotAfter) || now.Before(c.NotBefore)
}

func until(c *x509.Certificate, now time.Time) string {
	day := c.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case now.After(c.NotAfter):
		return day + " (expired)"
	case now.Before(c.NotBefore):
		return day + " (not valid yet)"
	}
	return day
}
