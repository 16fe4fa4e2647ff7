package main

import (
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

func (a *app) endpointsCommand() *cobra.Command {
	f := &clientFlags{}
	cmd := &cobra.Command{
		Use:     "endpoints URL",
		Short:   "List the endpoints of a server with their security",
		Example: "  actua endpoints localhost\n  actua endpoints opc.tcp://plant7:4840 --json",
		Args:    exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := f.config(cmd) // nobody logs in
			if err != nil {
				return err
			}
			if _, err := checkURL(args[0]); err != nil {
				return err
			}
			stop := a.progress(func() string { return "waiting for " + args[0] })
			list, err := uaclient.GetEndpoints(cmd.Context(), args[0], config)
			stop()
			if err != nil {
				return err
			}
			if a.json {
				for i := range list {
					if err := a.print(endpointLine(&list[i])); err != nil {
						return err
					}
				}
				return nil
			}
			return a.printf("%s", endpointTable(list))
		},
	}
	f.register(cmd)
	return cmd
}

// endpointLine is one endpoint of `endpoints` and of the line that `serve` prints.
func endpointLine(e *ua.EndpointDescription) *line {
	tokens := []string{}
	for _, t := range e.UserIdentityTokens {
		tokens = append(tokens, t.TokenType.String())
	}
	l := new(line).set("url", e.EndpointURL).set("policy", policyName(e.SecurityPolicyURI)).
		set("mode", e.SecurityMode.String()).set("tokens", tokens)
	leaf := leafOf(e.ServerCertificate)
	if leaf == nil {
		return l.set("certificate", nil)
	}
	c := new(line).set("subject", leaf.Subject.String()).set("thumbprint", thumbprint(leaf)).
		set("notAfter", leaf.NotAfter.UTC().Format("2006-01-02T15:04:05Z"))
	return l.set("certificate", json.RawMessage(c.object()))
}

func endpointTable(list []ua.EndpointDescription) string {
	var t table
	t.add("URL", "POLICY", "MODE", "USERS")
	var leaf *x509.Certificate
	for i := range list {
		e := &list[i]
		tokens := map[string]bool{}
		var names []string
		for _, u := range e.UserIdentityTokens {
			if name := u.TokenType.String(); !tokens[name] {
				tokens[name] = true
				names = append(names, name)
			}
		}
		t.add(clean(e.EndpointURL), clean(policyName(e.SecurityPolicyURI)), e.SecurityMode.String(), strings.Join(names, ", "))
		if c := leafOf(e.ServerCertificate); c != nil {
			leaf = c
		}
	}
	text := t.String()
	if leaf != nil {
		text += fmt.Sprintf("\ncertificate  %s, valid until %s\nthumbprint   %s (SHA-1)\n",
			clean(leaf.Subject.String()), leaf.NotAfter.UTC().Format("2006-01-02"), thumbprint(leaf))
	}
	return text
}

func leafOf(field []byte) *x509.Certificate {
	chain, err := uapki.ParseChain(field)
	if err != nil {
		return nil
	}
	return chain[0]
}

func thumbprint(c *x509.Certificate) string {
	sum := uapki.Thumbprint(c.Raw)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// policyName is the short name of a policy, or the URI of an unknown one.
func policyName(uri string) string {
	const prefix = "http://opcfoundation.org/UA/SecurityPolicy#"
	return strings.TrimPrefix(uri, prefix)
}
