// Package secpol holds the OPC UA security policies: which algorithms a policy
// names, how keys are derived from nonces, and how chunks, session signatures
// and user secrets are signed and encrypted.
//
// The package knows nothing of chunks and headers; the secure conversation
// decides what is signed and where the result goes. Every function appends to,
// or works inside, a slice of the caller.
package secpol

import (
	"crypto"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
)

// URIPrefix starts the URI of every security policy of the standard (Part 7).
const URIPrefix = "http://opcfoundation.org/UA/SecurityPolicy#"

// URIs of the algorithms that SignatureData.Algorithm and the
// EncryptionAlgorithm of user tokens name (Part 7, policy facets).
const (
	AlgorithmRSASHA1       = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
	AlgorithmRSASHA256     = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
	AlgorithmRSAPSSSHA256  = "http://opcfoundation.org/UA/security/rsa-pss-sha2-256"
	AlgorithmRSA15         = "http://www.w3.org/2001/04/xmlenc#rsa-1_5"
	AlgorithmRSAOAEP       = "http://www.w3.org/2001/04/xmlenc#rsa-oaep"
	AlgorithmRSAOAEPSHA256 = "http://opcfoundation.org/UA/security/rsa-oaep-sha2-256"
	AlgorithmHMACSHA1      = "http://www.w3.org/2000/09/xmldsig#hmac-sha1"
	AlgorithmHMACSHA256    = "http://www.w3.org/2000/09/xmldsig#hmac-sha256"
	AlgorithmAES128CBC     = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
	AlgorithmAES256CBC     = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
)

// padding is the way an RSA operation fills its block.
type padding uint8

const (
	padNone padding = iota
	padPKCS1
	padOAEP
	padPSS
)

// asymmetric says how a policy uses the key pairs of the two certificates.
// A policy family with other key types gets its own fields here and its own
// branch in the Asym methods; the callers see the same methods.
type asymmetric struct {
	signPadding    padding
	signHash       crypto.Hash
	encryptPadding padding
	encryptHash    crypto.Hash // of OAEP and of its mask generation function
}

// Policy is one security policy of Part 7. Sizes are in bytes unless the name
// says bits. A Policy is immutable and safe for concurrent use; two policies
// are the same when their pointers are.
type Policy struct {
	// URI is the policy's identifier on the wire, Name its part behind the
	// number sign ("Basic256Sha256").
	URI, Name string
	// Deprecated is set for policies that Part 7 withdrew because of SHA-1 or
	// PKCS #1 v1.5 encryption. The caller decides whether it allows them.
	Deprecated bool
	// SymmetricSignatureSize is the length of a MAC, SymmetricBlockSize the
	// cipher's block and initialization vector, SymmetricKeySize the length of the encryption
	// key, SigningKeySize that of the derived signing key. For None the block
	// is 1 and the rest 0, so padding arithmetic needs no special case.
	SymmetricSignatureSize, SymmetricBlockSize int
	SymmetricKeySize, SigningKeySize           int
	// NonceLength is the SecureChannelNonceLength of the policy.
	NonceLength int
	// MinKeyBits and MaxKeyBits bound the RSA modulus of every certificate of
	// a chain, in bits. Both are 0 for None.
	MinKeyBits, MaxKeyBits int
	// AsymmetricSignatureURI is sent in SignatureData.Algorithm,
	// AsymmetricEncryptionURI in the EncryptionAlgorithm of user tokens.
	AsymmetricSignatureURI, AsymmetricEncryptionURI string
	// SymmetricSignatureURI and SymmetricEncryptionURI name the algorithms of
	// the messages; they are never sent, only shown.
	SymmetricSignatureURI, SymmetricEncryptionURI string
	// SecurityLevel is the base rank among the policies: 0 for None, higher is
	// better, below 100 so that a server can add 100 for SignAndEncrypt in
	// EndpointDescription.SecurityLevel (Part 4, 7.14).
	SecurityLevel uint8

	asym asymmetric
	hash crypto.Hash // of HMAC and of the key derivation function; 0 for None
}

// None is the policy without signatures and encryption (Part 7, SecurityPolicy None).
var None = &Policy{
	URI: URIPrefix + "None", Name: "None",
	SymmetricBlockSize: 1,
}

// policies is ordered by SecurityLevel. Basic256Sha256 ranks below
// Aes128_Sha256_RsaOaep although its cipher has the longer key: clients that
// take the highest level of the servers in the field agree on this order.
var policies = []*Policy{
	None,
	{
		URI: URIPrefix + "Basic128Rsa15", Name: "Basic128Rsa15", Deprecated: true,
		SymmetricSignatureSize: 20, SymmetricBlockSize: 16, SymmetricKeySize: 16, SigningKeySize: 16,
		NonceLength: 16, MinKeyBits: 1024, MaxKeyBits: 2048, SecurityLevel: 10,
		AsymmetricSignatureURI: AlgorithmRSASHA1, AsymmetricEncryptionURI: AlgorithmRSA15,
		SymmetricSignatureURI: AlgorithmHMACSHA1, SymmetricEncryptionURI: AlgorithmAES128CBC,
		asym: asymmetric{signPadding: padPKCS1, signHash: crypto.SHA1, encryptPadding: padPKCS1},
		hash: crypto.SHA1,
	},
	{
		URI: URIPrefix + "Basic256", Name: "Basic256", Deprecated: true,
		SymmetricSignatureSize: 20, SymmetricBlockSize: 16, SymmetricKeySize: 32, SigningKeySize: 24,
		NonceLength: 32, MinKeyBits: 1024, MaxKeyBits: 2048, SecurityLevel: 20,
		AsymmetricSignatureURI: AlgorithmRSASHA1, AsymmetricEncryptionURI: AlgorithmRSAOAEP,
		SymmetricSignatureURI: AlgorithmHMACSHA1, SymmetricEncryptionURI: AlgorithmAES256CBC,
		asym: asymmetric{signPadding: padPKCS1, signHash: crypto.SHA1, encryptPadding: padOAEP, encryptHash: crypto.SHA1},
		hash: crypto.SHA1,
	},
	{
		URI: URIPrefix + "Basic256Sha256", Name: "Basic256Sha256",
		SymmetricSignatureSize: 32, SymmetricBlockSize: 16, SymmetricKeySize: 32, SigningKeySize: 32,
		NonceLength: 32, MinKeyBits: 2048, MaxKeyBits: 4096, SecurityLevel: 40,
		AsymmetricSignatureURI: AlgorithmRSASHA256, AsymmetricEncryptionURI: AlgorithmRSAOAEP,
		SymmetricSignatureURI: AlgorithmHMACSHA256, SymmetricEncryptionURI: AlgorithmAES256CBC,
		asym: asymmetric{signPadding: padPKCS1, signHash: crypto.SHA256, encryptPadding: padOAEP, encryptHash: crypto.SHA1},
		hash: crypto.SHA256,
	},
	{
		URI: URIPrefix + "Aes128_Sha256_RsaOaep", Name: "Aes128_Sha256_RsaOaep",
		SymmetricSignatureSize: 32, SymmetricBlockSize: 16, SymmetricKeySize: 16, SigningKeySize: 32,
		NonceLength: 32, MinKeyBits: 2048, MaxKeyBits: 4096, SecurityLevel: 50,
		AsymmetricSignatureURI: AlgorithmRSASHA256, AsymmetricEncryptionURI: AlgorithmRSAOAEP,
		SymmetricSignatureURI: AlgorithmHMACSHA256, SymmetricEncryptionURI: AlgorithmAES128CBC,
		asym: asymmetric{signPadding: padPKCS1, signHash: crypto.SHA256, encryptPadding: padOAEP, encryptHash: crypto.SHA1},
		hash: crypto.SHA256,
	},
	{
		URI: URIPrefix + "Aes256_Sha256_RsaPss", Name: "Aes256_Sha256_RsaPss",
		SymmetricSignatureSize: 32, SymmetricBlockSize: 16, SymmetricKeySize: 32, SigningKeySize: 32,
		NonceLength: 32, MinKeyBits: 2048, MaxKeyBits: 4096, SecurityLevel: 60,
		AsymmetricSignatureURI: AlgorithmRSAPSSSHA256, AsymmetricEncryptionURI: AlgorithmRSAOAEPSHA256,
		SymmetricSignatureURI: AlgorithmHMACSHA256, SymmetricEncryptionURI: AlgorithmAES256CBC,
		asym: asymmetric{signPadding: padPSS, signHash: crypto.SHA256, encryptPadding: padOAEP, encryptHash: crypto.SHA256},
		hash: crypto.SHA256,
	},
}

// ByURI returns the policy with that URI, compared exactly (Part 4, 5.6.2). An
// unknown or empty URI gives an error that wraps ua.BadSecurityPolicyRejected.
func ByURI(uri string) (*Policy, error) {
	for _, p := range policies {
		if p.URI == uri {
			return p, nil
		}
	}
	return nil, fmt.Errorf("security policy %.256q is not supported: %w", uri, ua.BadSecurityPolicyRejected)
}

// ByName returns the policy with that short name, as people write it in
// configurations ("Basic256Sha256"). An unknown name gives an error that lists
// the known ones and wraps ua.BadSecurityPolicyRejected.
func ByName(name string) (*Policy, error) {
	known := make([]string, len(policies))
	for i, p := range policies {
		if p.Name == name {
			return p, nil
		}
		known[i] = p.Name
	}
	return nil, fmt.Errorf("security policy %.256q is not one of %s: %w", name, strings.Join(known, ", "), ua.BadSecurityPolicyRejected)
}

// Policies returns every supported policy, None first and the best last,
// deprecated ones included. The slice is the caller's.
func Policies() []*Policy {
	return append([]*Policy(nil), policies...)
}

// String returns the policy's name.
func (p *Policy) String() string { return p.Name }

// IsNone reports whether the policy neither signs nor encrypts.
func (p *Policy) IsNone() bool { return p.hash == 0 }
