package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua/uapki"
)

// createFlags say what a new certificate holds.
type createFlags struct {
	certFlags
	bits, days int
	hosts      []string
	uri, name  string
	replace    bool
}

func (a *app) certCreateCommand() *cobra.Command {
	f := &createFlags{}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make the own certificate and key",
		Long: `Make the own certificate, self-signed, and its key. The first secured
connection, and actua serve, do so by themselves: this is for another size of
the key, other names and another life. One that is there is never overwritten;
with --replace it is put aside, and its peers have to trust the new one.`,
		Example: "  actua cert create --server --host plant7 --host 10.0.0.5\n  actua cert create --bits 3072 --days 365 --replace",
		Args:    nothingMore,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.createCertificate(f, cmd.Flags().Changed("bits")) },
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.IntVar(&f.bits, "bits", 2048, "size of the RSA key: 2048, 3072 or 4096")
	fs.IntVar(&f.days, "days", 5*365, "how long the certificate is valid")
	fs.StringArrayVar(&f.hosts, "host", nil, "name or address of this machine; may be repeated (default: all that it has)")
	fs.StringVar(&f.uri, "uri", "", "application URI (default: urn:HOST:NAME)")
	fs.StringVar(&f.name, "name", "", "common name (default: "+clientName+", or "+serverName+" with --server)")
	fs.BoolVar(&f.replace, "replace", false, "put the certificate and key that are there aside")
	return cmd
}

// mostDays is a life that still fits a time.Duration, and every calendar.
const mostDays = 36500

func (f *createFlags) options() (uapki.CertificateOptions, error) {
	o := uapki.CertificateOptions{ApplicationURI: f.uri, CommonName: f.name, HostNames: f.hosts, Bits: f.bits}
	if !slices.Contains([]int{2048, 3072, 4096}, f.bits) {
		return o, usage("--bits %d: 2048, 3072 or 4096 is wanted", f.bits)
	}
	if f.days < 1 || f.days > mostDays {
		return o, usage("--days %d: 1 to %d is wanted", f.days, mostDays)
	}
	o.Validity = time.Duration(f.days) * 24 * time.Hour
	for flag, text := range map[string][]string{"--uri": {f.uri}, "--host": f.hosts} {
		for _, s := range text {
			if bytes.ContainsFunc([]byte(s), func(r rune) bool { return r <= ' ' || r > '~' }) || s == "" && flag == "--host" {
				return o, usage("%s %q: plain letters, digits and signs are wanted, without spaces", flag, s)
			}
		}
	}
	if o.CommonName == "" {
		o.CommonName = clientName
		if f.server {
			o.CommonName = serverName
		}
	}
	return o, nil
}

func (a *app) createCertificate(f *createFlags, bitsGiven bool) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	store, err := f.open(true)
	if err != nil {
		return err
	}
	id, file, err := store.Own()
	switch {
	case f.replace:
		dir, err := store.Retire(time.Now())
		if err != nil {
			return ourPart(err, "%v", err)
		}
		fmt.Fprintf(a.err, "put aside: %s\n", dir)
	case id != nil:
		return ourPart(fs.ErrExist, "there is a certificate already, %s: --replace puts it aside, and then its peers have to trust the new one", file)
	case err != nil:
		return ourPart(err, "%v; or make new ones with --replace", err)
	}
	stop := a.progress(func() string { return "making the key" })
	id, created, err := store.LoadOrCreate(options)
	stop()
	if err != nil {
		return ourPart(err, "%v", err)
	}
	if !created {
		return ourPart(fs.ErrExist, "another program has made a certificate at the same time")
	}
	if got := id.Key.N.BitLen(); bitsGiven && got != f.bits {
		fmt.Fprintf(a.err, "warning: the key that was in %s has %d bits and was used; --replace makes a new one\n", store.Dir(), got)
	}
	own, err := f.own(store)
	if err != nil {
		return err
	}
	return a.printCertificates([]stored{*own})
}

func (a *app) certRequestCommand() *cobra.Command {
	f := &certFlags{}
	var out string
	cmd := &cobra.Command{
		Use:   "csr",
		Short: "Make a signing request of the own certificate for an authority",
		Long: `Make a signing request (PKCS #10) with the names and the key of the own
certificate. What the authority answers is put into own/certs, beside the old
certificate or instead of it: the one that is valid longest is used.`,
		Example: "  actua cert csr --server --out plant7.csr",
		Args:    nothingMore,
		RunE: func(_ *cobra.Command, _ []string) error {
			store, err := f.open(false)
			if err != nil {
				return err
			}
			own, err := f.own(store)
			if err != nil {
				return err
			}
			id, _, err := store.Own()
			if err != nil {
				return ourPart(err, "%v", err)
			}
			der, err := id.SigningRequest()
			if err != nil {
				return ourPart(err, "%v", err)
			}
			text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
			if out != "" {
				if err := writeNew(out, text); err != nil {
					return err
				}
			}
			switch {
			case a.json:
				return a.print(certificateLine(own).set("request", string(text)))
			case out != "":
				return a.printf("signing request of %s: %s\n", clean(own.Subject.String()), out)
			}
			return a.printf("%s", text)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file to write to (default: standard output)")
	return cmd
}

// writeNew writes a file that is not there yet.
func writeNew(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return ourPart(err, "%s is there already: give another file with --out", name)
	}
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return ourPart(err, "--out: %v", err)
	}
	return nil
}
