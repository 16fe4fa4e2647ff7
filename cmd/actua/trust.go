package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

// verify decides about a server's certificate at first contact: unknown ones are refused with the ways
// on, unless the user wants to trust them or not to look.
func (a *app) verify(f *clientFlags, cert *uaclient.ServerCertificate) error {
	switch {
	case f.insecure:
		if cert.Err != nil {
			fmt.Fprintf(a.err, "warning: the server's certificate (SHA-1 %s) is not verified: whoever answers at %s can read and change everything\n",
				cert.Thumbprint, cert.HostName)
		}
		return nil
	case cert.Err == nil:
		return nil
	case f.store == nil:
		return cert.Err
	}
	unknown := errors.Is(cert.Err, ua.BadCertificateUntrusted) || errors.Is(cert.Err, ua.BadCertificateChainIncomplete)
	if unknown && f.trust {
		fmt.Fprintf(a.err, "trusting the server's certificate from now on:\n%s%s", describeCertificate(cert), f.replaced(cert))
		if err := f.store.Trust(cert.Chain[0]); err != nil {
			return ourPart(err, "the certificate could not be stored: %v", err)
		}
		if cert.Err = f.validate(cert); cert.Err == nil {
			return nil
		}
		unknown = false // it is something else now
	}
	if !unknown {
		return fmt.Errorf("%w\n  --insecure       connect all the same, without knowing to whom", cert.Err)
	}
	text := fmt.Sprintf("step certificate: the server's certificate is not known here\n%s%s  --trust          trust it from now on, if the thumbprint is the one that the server shows (stored in %s)\n",
		describeCertificate(cert), f.replaced(cert), f.store.Dir())
	if offersNone(cert.Offered) {
		text += "  --security None  connect without security, which this server offers"
	} else {
		text += "  --security None  is no way on here: this server does not offer it"
	}
	return &exitError{code: exitNoServer, text: text, err: cert.Err}
}

// replaced is a line of warning when another certificate of the same application is trusted already: the
// server has a new one, or somebody else stands between.
func (f *clientFlags) replaced(cert *uaclient.ServerCertificate) string {
	trusted, err := f.store.ListTrusted()
	uri := uapki.ApplicationURIOf(cert.Chain[0])
	if err != nil || uri == "" {
		return ""
	}
	for _, t := range trusted {
		if uapki.ApplicationURIOf(t.Certificate) == uri {
			return fmt.Sprintf("  CAUTION          this application is trusted here with another certificate, %s: it was renewed, or somebody else answers\n",
				thumbprint(t.Certificate))
		}
	}
	return ""
}

// validate repeats the checks after the certificate was trusted: it may still be expired or for
// another host.
func (f *clientFlags) validate(cert *uaclient.ServerCertificate) error {
	raw := make([][]byte, len(cert.Chain))
	for i, c := range cert.Chain {
		raw[i] = c.Raw
	}
	return f.store.Validate(raw, uapki.ValidateOptions{
		ApplicationURI: cert.Endpoint.Server.ApplicationURI, HostName: cert.HostName,
		SecurityPolicyURI: cert.Endpoint.SecurityPolicyURI,
	})
}

func describeCertificate(cert *uaclient.ServerCertificate) string {
	leaf := cert.Chain[0]
	var b strings.Builder
	fmt.Fprintf(&b, "  subject          %s\n", clean(leaf.Subject.String()))
	fmt.Fprintf(&b, "  application      %s\n", clean(uapki.ApplicationURIOf(leaf)))
	fmt.Fprintf(&b, "  thumbprint       %s (SHA-1)\n", cert.Thumbprint)
	fmt.Fprintf(&b, "  valid            %s to %s\n", leaf.NotBefore.UTC().Format("2006-01-02"), leaf.NotAfter.UTC().Format("2006-01-02"))
	return b.String()
}

func offersNone(endpoints []ua.EndpointDescription) bool {
	for i := range endpoints {
		if endpoints[i].SecurityMode == ua.MessageSecurityModeNone {
			return true
		}
	}
	return false
}
