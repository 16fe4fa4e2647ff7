package uaclient

import (
	"crypto/rsa"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// chooseToken picks the token policy of an endpoint for the settings' user and the security policy
// that encrypts the secret, or says why there is none. Nothing has been sent to the server then.
func (s *settings) chooseToken(c *candidate) error {
	want := s.User.tokenType()
	found, best := false, -1
	refusal := ""
	for i := range c.endpoint.UserIdentityTokens {
		t := &c.endpoint.UserIdentityTokens[i]
		if t.TokenType != want {
			continue
		}
		found = true
		secret := c.policy
		if t.SecurityPolicyURI != "" {
			p, err := secpol.ByURI(t.SecurityPolicyURI)
			if err != nil {
				refusal = "the server wants the secret encrypted with an unknown policy"
				continue
			}
			secret = p
		}
		if want == ua.UserTokenTypeUserName {
			if secret.Deprecated && !s.AllowDeprecated {
				refusal = "the server wants the password encrypted with " + secret.Name + ", which is no longer safe and not allowed here"
				continue
			}
			if secret.IsNone() && c.endpoint.SecurityMode != ua.MessageSecurityModeSignAndEncrypt && !s.AllowPlainPassword {
				refusal = "the password would go over the network in clear: use an encrypted endpoint"
				continue
			}
		}
		if int(secret.SecurityLevel) > best {
			best = int(secret.SecurityLevel)
			c.token, c.secret = t, secret
		}
	}
	switch {
	case c.token != nil:
		return nil
	case refusal != "":
		return reason(ua.BadIdentityTokenRejected, "%s", refusal)
	case !found && len(c.endpoint.UserIdentityTokens) == 0 && want == ua.UserTokenTypeAnonymous:
		// A server without any token policy takes a null token (Part 4, 5.7.3.2).
		c.token, c.secret = &ua.UserTokenPolicy{}, c.policy
		return nil
	}
	return reason(ua.BadIdentityTokenRejected, "the endpoint %s does not accept a user of type %v (accepted: %s)",
		c.policy.Name, want, tokenNames(c.endpoint.UserIdentityTokens))
}

func tokenNames(tokens []ua.UserTokenPolicy) string {
	names := ""
	for i := range tokens {
		if i > 0 {
			names += ", "
		}
		names += tokens[i].TokenType.String()
	}
	if names == "" {
		return "none"
	}
	return names
}

// userToken makes the identity token of ActivateSession. nonce is the last nonce of the server, pub
// the key of its certificate.
func (s *settings) userToken(c *candidate, pub *rsa.PublicKey, nonce []byte) (ua.ExtensionObject, error) {
	switch user := s.User.(type) {
	case UserName:
		token := &ua.UserNameIdentityToken{PolicyID: c.token.PolicyID, UserName: user.Name}
		password, err := c.secret.EncryptSecret(pub, []byte(user.Password), nonce)
		if err != nil {
			return ua.ExtensionObject{}, err
		}
		token.Password, token.EncryptionAlgorithm = password, c.secret.AsymmetricEncryptionURI
		return ua.NewExtensionObject(token), nil
	default:
		if c.token.PolicyID == "" && len(c.endpoint.UserIdentityTokens) == 0 {
			return ua.ExtensionObject{}, nil
		}
		return ua.NewExtensionObject(&ua.AnonymousIdentityToken{PolicyID: c.token.PolicyID}), nil
	}
}

// sendsEncryptedSecret reports whether the login encrypts a secret for the server's certificate.
func (s *settings) sendsEncryptedSecret(c *candidate) bool {
	return s.User.tokenType() == ua.UserTokenTypeUserName && !c.secret.IsNone()
}
