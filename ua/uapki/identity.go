package uapki

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/actua/actua/ua"
)

// Identity is an application's certificate with its private key. It is not
// changed after it was made and safe for concurrent use.
type Identity struct {
	// Chain holds the DER certificates, the leaf first, its issuers behind it.
	Chain [][]byte
	// Key belongs to the leaf.
	Key *rsa.PrivateKey
	// ApplicationURI is the one in the leaf.
	ApplicationURI string
}

// Certificate returns the chain as it is sent in the security header: the DER
// certificates one behind the other, the leaf first (Part 6, 6.7.2.3).
func (id *Identity) Certificate() []byte { return bytes.Join(id.Chain, nil) }

// Leaf parses the first certificate of the chain.
func (id *Identity) Leaf() (*x509.Certificate, error) {
	if len(id.Chain) == 0 {
		return nil, fmt.Errorf("uapki: identity without certificate: %w", ua.BadCertificateInvalid)
	}
	chain, err := ParseChain(id.Chain[0])
	if err != nil {
		return nil, err
	}
	return chain[0], nil
}

// SigningRequest makes a PKCS #10 request in DER with the subject, application
// URI, host names and key of the identity, for an authority to sign (Part 12,
// CreateSigningRequest).
func (id *Identity) SigningRequest() ([]byte, error) {
	leaf, err := id.Leaf()
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{RawSubject: leaf.RawSubject, SignatureAlgorithm: x509.SHA256WithRSA}
	for _, ext := range leaf.Extensions {
		if ext.Id.Equal(oidSubjectAltName) {
			template.ExtraExtensions = []pkix.Extension{ext}
		}
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, id.Key)
	if err != nil {
		return nil, fmt.Errorf("uapki: making the signing request: %w", err)
	}
	return der, nil
}

// LoadIdentity reads a certificate and its private key from files in PEM or
// DER. The certificate file may hold intermediate certificates too, in any
// order: the leaf is the one that belongs to the key. Both may be in one PEM
// file. Keys are RSA in PKCS #8 or PKCS #1 without a password. Errors name the
// file and what to do.
func LoadIdentity(certFile, keyFile string) (*Identity, error) {
	certs, err := ReadCertificates(certFile)
	if err != nil {
		return nil, err
	}
	key, err := readKey(keyFile)
	if err != nil {
		return nil, err
	}
	id := identityOf(certs, key)
	if id == nil {
		return nil, fmt.Errorf("uapki: the private key in %s does not belong to the certificate in %s: give the key that the certificate was made with", keyFile, certFile)
	}
	return id, nil
}

// identityOf finds the leaf that belongs to the key and orders the rest of the
// certificates behind it, each followed by its issuer. What is not part of that
// chain is dropped. It returns nil when no certificate belongs to the key.
func identityOf(certs []*x509.Certificate, key *rsa.PrivateKey) *Identity {
	var leaf *x509.Certificate
	for _, c := range certs {
		if pub, ok := c.PublicKey.(*rsa.PublicKey); ok && pub.Equal(&key.PublicKey) {
			leaf = c
			break
		}
	}
	if leaf == nil {
		return nil
	}
	id := &Identity{Key: key, ApplicationURI: ApplicationURIOf(leaf)}
	for c := leaf; c != nil && len(id.Chain) < len(certs); c = issuerIn(certs, c) {
		id.Chain = append(id.Chain, c.Raw)
	}
	return id
}

func issuerIn(certs []*x509.Certificate, child *x509.Certificate) *x509.Certificate {
	if isSelfIssued(child) {
		return nil
	}
	for _, c := range certs {
		if bytes.Equal(c.RawSubject, child.RawIssuer) && signatureOf(child, c) == nil {
			return c
		}
	}
	return nil
}

// ReadCertificates reads a file of certificates in DER or PEM, with anything else between them in PEM.
// The first of a chain in DER is the leaf.
func ReadCertificates(file string) ([]*x509.Certificate, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("uapki: certificate file: %w", err)
	}
	certs, err := decodeCertificates(data)
	if err != nil {
		return nil, fmt.Errorf("uapki: %s is no certificate in PEM or DER: %w", file, err)
	}
	return certs, nil
}

func readKey(file string) (*rsa.PrivateKey, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("uapki: private key file: %w", err)
	}
	key, err := decodeKey(data)
	if err != nil {
		return nil, fmt.Errorf("uapki: %s is no usable private key: %w", file, err)
	}
	return key, nil
}

func decodeKey(data []byte) (*rsa.PrivateKey, error) {
	if !bytes.Contains(data, []byte("-----BEGIN ")) {
		return parseKey(data)
	}
	for block := range pemBlocks(data) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return nil, errors.New("it is protected by a password: remove it with openssl pkey -in FILE -out NEWFILE")
		case block.Type == "PRIVATE KEY" || block.Type == "RSA PRIVATE KEY":
			return parseKey(block.Bytes)
		case block.Type == "EC PRIVATE KEY":
			return nil, errors.New("it is an elliptic curve key, RSA wanted")
		}
	}
	return nil, errors.New("no private key in it")
}

func parseKey(der []byte) (*rsa.PrivateKey, error) {
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("neither PKCS #8 nor PKCS #1: %w", err)
	}
	rsaKey, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("it is a %T, RSA wanted", key)
	}
	return rsaKey, nil
}

// encodeKey writes a key as PKCS #8 in PEM.
func encodeKey(key *rsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("uapki: encoding the private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func pemBlocks(data []byte) iter.Seq[*pem.Block] {
	return func(yield func(*pem.Block) bool) {
		for {
			block, rest := pem.Decode(data)
			if block == nil || !yield(block) {
				return
			}
			data = rest
		}
	}
}
