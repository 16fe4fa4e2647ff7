package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua/uapki"
)

// certFlags say which folder of certificates is meant.
type certFlags struct {
	pki    string
	server bool
}

func (f *certFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.pki, "pki", "", "folder of the certificates (default: in the user's configuration folder)")
	cmd.Flags().BoolVar(&f.server, "server", false, "the certificates of actua serve instead of those of the client")
}

func (f *certFlags) role() string {
	if f.server {
		return "server"
	}
	return "client"
}

// open opens the folder; one that is not there yet is made for those that put something into it.
func (f *certFlags) open(create bool) (*uapki.Store, error) {
	dir, err := storeDir(f.pki, f.role())
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); !create && errors.Is(err, fs.ErrNotExist) {
		return nil, ourPart(err, "there is no folder of certificates %s yet: `actua cert create%s` makes it, --pki DIR names another one", dir, f.again())
	}
	return openStore(f.pki, f.role())
}

// again repeats the flags for a command to try.
func (f *certFlags) again() (flags string) {
	if f.pki != "" {
		flags += " --pki " + f.pki
		if strings.ContainsAny(f.pki, " '\"$") {
			flags = " --pki " + strconv.Quote(f.pki)
		}
	}
	if f.server {
		flags += " --server"
	}
	return flags
}

func (a *app) certCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cert",
		Short: "Make, show and trust certificates",
		Long: `Make, show and trust the certificates of the client, and with --server those of
actua serve. They lie in a folder laid out as other OPC UA products have it:
own, trusted, issuers and rejected.`,
		Example: "  actua cert list --server\n  actua cert trust 5A0F03B3 --server",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			return usage("there is no command cert %q%s", args[0], didYouMean(args[0], names))
		},
	}
	cmd.AddCommand(a.certCreateCommand(), a.certShowCommand(), a.certListCommand(), a.certTrustCommand(),
		a.certRejectCommand(), a.certRequestCommand())
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

func (a *app) certShowCommand() *cobra.Command {
	f := &certFlags{}
	cmd := &cobra.Command{
		Use:     "show [THUMBPRINT|FILE...]",
		Short:   "Show a certificate in full, without arguments the own one",
		Example: "  actua cert show\n  actua cert show 5A0F03B3 --server\n  actua cert show plant7.der",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := f.open(slices.ContainsFunc(args, isFile))
			if err != nil {
				return err
			}
			var shown []stored
			if len(args) == 0 {
				own, err := f.own(store)
				if err != nil {
					return err
				}
				shown = append(shown, *own)
			}
			for _, arg := range args {
				found, err := findCertificate(store, arg, "own", "trusted", "issuers", "rejected")
				if err != nil {
					return err
				}
				shown = append(shown, found...)
			}
			return a.printCertificates(shown)
		},
	}
	f.register(cmd)
	return cmd
}

func (a *app) certListCommand() *cobra.Command {
	f := &certFlags{}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the own, trusted and rejected certificates and the issuers",
		Example: "  actua cert list\n  actua cert list --server --json",
		Args:    nothingMore,
		RunE: func(_ *cobra.Command, _ []string) error {
			store, err := f.open(false)
			if err != nil {
				return err
			}
			all, err := inStore(store, "own", "trusted", "issuers", "rejected")
			if err != nil {
				return err
			}
			for _, problem := range store.Problems() {
				fmt.Fprintf(a.err, "warning: %s\n", cleanLines(problem.Error()))
			}
			if a.json {
				return a.printCertificates(all)
			}
			var t table
			t.add("LIST", "SUBJECT", "APPLICATION", "VALID UNTIL", "THUMBPRINT (SHA-1)")
			for _, c := range all {
				t.add(c.list, shorten(clean(c.Subject.String()), 40), shorten(clean(orDash(uapki.ApplicationURIOf(c.Certificate))), 50),
					until(c.Certificate, time.Now()), thumbprint(c.Certificate))
			}
			text := t.String()
			if len(all) == 0 {
				text = "no certificates\n"
			}
			lists, err := store.ListRevocations()
			if err != nil {
				return ourPart(err, "%v", err)
			}
			return a.printf("folder  %s\n\n%s%s", store.Dir(), text, revocationTable(lists))
		},
	}
	f.register(cmd)
	return cmd
}

func (a *app) certTrustCommand() *cobra.Command {
	f := &certFlags{}
	var issuer bool
	cmd := &cobra.Command{
		Use:   "trust THUMBPRINT|FILE...",
		Short: "Trust a certificate: a rejected one by the beginning of its thumbprint, or a file",
		Long: `Trust certificates from the next connection on. A rejected one is named by its
thumbprint or the beginning of it; any other is given as a file in DER or PEM.
Whom a trusted authority has issued a certificate to is trusted as well.

Further certificates in a file are put into the issuers, which complete a
chain, but are not trusted by themselves; with --issuer all of them are. A file
may also be the revocation list of an authority that is trusted or an issuer.`,
		Example: "  actua cert trust 5A0F03B3\n  actua cert trust plant7.der --server\n" +
			"  actua cert trust authority.pem authority.crl --server\n  actua cert trust intermediate.pem --issuer",
		Args: exactly("THUMBPRINT|FILE..."),
		RunE: func(_ *cobra.Command, args []string) error {
			args, lists := separateLists(args)
			to, move := "trusted", trust
			if issuer {
				to, move = "issuers", addIssuers
			}
			if len(args) > 0 {
				if err := a.moveCertificates(f, args, []string{"rejected", "trusted"}, to, move); err != nil {
					return err
				}
			}
			return a.addLists(f, lists)
		},
	}
	cmd.Flags().BoolVar(&issuer, "issuer", false, "put authorities into the issuers, which complete chains, without trusting them")
	f.register(cmd)
	return cmd
}

func trust(s *uapki.Store, c stored) error {
	for _, issuer := range c.chain {
		if err := s.AddIssuer(issuer); err != nil {
			return err
		}
	}
	return s.Trust(c.Certificate)
}

func addIssuers(s *uapki.Store, c stored) error {
	all := append([]*x509.Certificate{c.Certificate}, c.chain...)
	for _, issuer := range all {
		if !issuer.IsCA {
			return fmt.Errorf("%s, %s, is no authority, so it issues nothing: trust it without --issuer", thumbprint(issuer), issuer.Subject)
		}
	}
	for _, issuer := range all {
		if err := s.AddIssuer(issuer); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) certRejectCommand() *cobra.Command {
	f := &certFlags{}
	var issuer bool
	cmd := &cobra.Command{
		Use:     "reject THUMBPRINT|FILE...",
		Short:   "Trust a certificate no longer: it goes to the rejected ones",
		Example: "  actua cert reject 5A0F03B3\n  actua cert reject plant7.der --server\n  actua cert reject 77C2A0E1 --issuer",
		Args:    exactly("THUMBPRINT|FILE..."),
		RunE: func(_ *cobra.Command, args []string) error {
			from := []string{"trusted", "rejected"}
			move := func(s *uapki.Store, c stored) error { return s.Untrust(c.Certificate) }
			if issuer {
				from = []string{"issuers"}
				move = func(s *uapki.Store, c stored) error { return s.RemoveIssuer(c.Certificate) }
			}
			return a.moveCertificates(f, args, from, "rejected", move)
		},
	}
	cmd.Flags().BoolVar(&issuer, "issuer", false, "take an authority out of the issuers")
	f.register(cmd)
	return cmd
}

// moveCertificates finds all certificates before it moves the first, and prints where they are then.
func (a *app) moveCertificates(f *certFlags, args, from []string, to string, move func(*uapki.Store, stored) error) error {
	store, err := f.open(slices.ContainsFunc(args, isFile))
	if err != nil {
		return err
	}
	var all []stored
	for _, arg := range args {
		found, err := findCertificate(store, arg, from...)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	for _, c := range all {
		if err := move(store, c); err != nil {
			return ourPart(err, "%v", err)
		}
		now, err := inStore(store, to)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(now, func(e stored) bool { return e.Certificate.Equal(c.Certificate) })
		if i < 0 {
			return ourPart(nil, "%s is not in %s: another program works on this folder", thumbprint(c.Certificate), to)
		}
		if to == "trusted" && expired(c.Certificate, time.Now()) {
			fmt.Fprintf(a.err, "warning: %s is not valid today: it will be refused all the same\n", thumbprint(c.Certificate))
		}
		if a.json {
			err = a.print(certificateLine(&now[i]))
		} else {
			err = a.printf("%s  %s  %s\n", a.paint(bold, to), thumbprint(c.Certificate), clean(c.Subject.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stored is a certificate with the list that it is in, "" for a file.
type stored struct {
	*x509.Certificate
	list, file string
	chain      []*x509.Certificate // its issuers in the same file
}

// inStore lists certificates; of the own ones only the one in use.
func inStore(store *uapki.Store, lists ...string) (all []stored, err error) {
	for _, list := range lists {
		var entries []uapki.Entry
		var err error
		switch list {
		case "own":
			var id *uapki.Identity
			var file string
			if id, file, err = store.Own(); id != nil {
				var leaf *x509.Certificate
				if leaf, err = id.Leaf(); err == nil {
					entries = []uapki.Entry{{File: file, Certificate: leaf}}
				}
			}
		case "trusted":
			entries, err = store.ListTrusted()
		case "issuers":
			entries, err = store.ListIssuers()
		default:
			entries, err = store.ListRejected()
		}
		if err != nil {
			return nil, ourPart(err, "%v", err)
		}
		for _, e := range entries {
			all = append(all, stored{Certificate: e.Certificate, list: list, file: e.File})
		}
	}
	return all, nil
}

func isFile(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir()
}

// leastDigits of a thumbprint are wanted, so that a slip of the fingers hits nothing.
const leastDigits = 4

// findCertificate finds a certificate by the beginning of its thumbprint in some lists, or in a file.
func findCertificate(store *uapki.Store, arg string, lists ...string) ([]stored, error) {
	if isFile(arg) {
		certs, err := uapki.ReadCertificates(arg)
		if err != nil {
			return nil, ourPart(err, "%v", err)
		}
		return []stored{{Certificate: certs[0], file: arg, chain: certs[1:]}}, nil
	}
	digits := strings.ToUpper(strings.NewReplacer(":", "", " ", "").Replace(arg))
	if strings.Trim(digits, "0123456789ABCDEF") != "" || digits == "" {
		return nil, ourPart(fs.ErrNotExist, "%s is neither a file nor a thumbprint", arg)
	}
	if len(digits) < leastDigits {
		return nil, usage("%s: at least %d digits of the thumbprint are wanted", arg, leastDigits)
	}
	all, err := inStore(store, lists...)
	if err != nil {
		return nil, err
	}
	var found []stored
	var known, hit []string
	for _, c := range all {
		thumb := thumbprint(c.Certificate)
		known = append(known, thumb)
		if strings.HasPrefix(thumb, digits) {
			if !slices.Contains(hit, thumb) {
				found, hit = append(found, c), append(hit, thumb)
			}
		}
	}
	switch {
	case len(hit) == 1:
		return found, nil
	case len(hit) > 1:
		return nil, usage("%s is the beginning of several thumbprints: %s", arg, strings.Join(hit, ", "))
	case len(known) == 0:
		return nil, usage("no certificate %s: nothing is in %s of %s (--pki DIR names another folder, --server that of `actua serve`)",
			arg, strings.Join(lists, " or "), store.Dir())
	}
	hint := didYouMean(digits, known)
	if hint == "" {
		hint = "; `actua cert list` shows them"
	}
	return nil, usage("no certificate in %s begins with %s%s", strings.Join(lists, " or "), arg, hint)
}

// own is the application's certificate.
func (f *certFlags) own(store *uapki.Store) (*stored, error) {
	own, err := inStore(store, "own")
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, ourPart(nil, "there is no certificate in %s yet: `actua cert create%s` makes it, and so does the first secured connection",
			filepath.Join(store.Dir(), "own"), f.again())
	}
	return &own[0], nil
}
