package uasc

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
)

// start is when every test begins.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testKey(t testing.TB, name string) *rsa.PrivateKey {
	t.Helper()
	text, err := os.ReadFile("../link/linktest/testdata/" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(*rsa.PrivateKey)
}

// identity is a self-signed certificate with issuers further certificates behind it.
func identity(t testing.TB, key string, issuers int) *Identity {
	t.Helper()
	id := &Identity{Key: testKey(t, key)}
	for i := range 1 + issuers {
		c := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: key}, NotBefore: start, NotAfter: start.AddDate(9, 0, 0)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, &id.Key.PublicKey, id.Key)
		if err != nil {
			t.Fatal(err)
		}
		id.Chain = append(id.Chain, der)
	}
	return id
}

// pair is both sides of a channel.
type pair struct {
	client, server *Conversation
	now            time.Time
	lastID         uint32
}

type setup struct {
	policy         string
	mode           ua.MessageSecurityMode
	client, server *Identity
	limits         uacp.Limits // both sides'
	budget         *Budget
	lifetime       time.Duration
}

func (s setup) modeOr() ua.MessageSecurityMode {
	if s.mode != 0 {
		return s.mode
	}
	if s.policy == "None" {
		return ua.MessageSecurityModeNone
	}
	return ua.MessageSecurityModeSignAndEncrypt
}

// unopened makes both sides after Hello and Acknowledge.
func unopened(t testing.TB, s setup) *pair {
	t.Helper()
	if s.policy != "None" {
		if s.client == nil {
			s.client = identity(t, "rsa2048", 0)
		}
		if s.server == nil {
			s.server = identity(t, "rsa2048b", 0)
		}
	}
	policy, err := secpol.ByName(s.policy)
	if err != nil {
		t.Fatal(err)
	}
	hello := s.limits.Hello("opc.tcp://test")
	a, n := uacp.Accept(&hello, s.limits)
	m, err := uacp.Confirm(s.limits, &a)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{now: start}
	if p.server, err = New(Config{Side: Server, Limits: n, Identity: s.server, Budget: s.budget}); err != nil {
		t.Fatal(err)
	}
	var chain [][]byte
	if s.server != nil {
		chain = s.server.Chain[:1]
	}
	p.client, err = New(Config{Side: Client, Limits: m, Identity: s.client, Policy: policy, Mode: s.modeOr(), ServerChain: chain})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// opened makes both sides of an open channel.
func opened(t testing.TB, s setup) *pair {
	t.Helper()
	p := unopened(t, s)
	if s.lifetime == 0 {
		s.lifetime = time.Hour
	}
	p.renew(t, s.lifetime)
	return p
}

// renew opens the channel or renews its token.
func (p *pair) renew(t testing.TB, lifetime time.Duration) {
	t.Helper()
	p.complete(t, p.grant(t, p.request(t, lifetime)))
}

func (p *pair) request(t testing.TB, lifetime time.Duration) []byte {
	t.Helper()
	p.lastID++
	b, err := p.client.RequestOpen(nil, p.lastID, lifetime, p.now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p *pair) grant(t testing.TB, request []byte) []byte {
	t.Helper()
	o, err := p.server.ReceiveOpen(request, p.now)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.server.AnswerOpen(nil, o, Grant{ChannelID: 5, MinLifetime: time.Second, MaxLifetime: time.Hour}, p.now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p *pair) complete(t testing.TB, answer []byte) {
	t.Helper()
	if err := p.client.CompleteOpen(answer, p.now); err != nil {
		t.Fatal(err)
	}
}

// seal makes chunks of a body.
func (p *pair) seal(t testing.TB, from *Conversation, requestID uint32, body []byte) []byte {
	t.Helper()
	b, start := from.Begin(nil)
	b, err := from.Seal(append(b, body...), start, uacp.TypeMessage, requestID, p.now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// split cuts bytes into chunks.
func split(t testing.TB, b []byte) (chunks [][]byte) {
	t.Helper()
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint32(b[4:]))
		if n > len(b) {
			t.Fatalf("a chunk of %d bytes, %d are left", n, len(b))
		}
		chunks = append(chunks, b[:n:n])
		b = b[n:]
	}
	return chunks
}

// open gives chunks to a side and returns its one message.
func (p *pair) open(t testing.TB, to *Conversation, sealed []byte) Message {
	t.Helper()
	chunks := split(t, sealed)
	for i, chunk := range chunks {
		m, complete, err := to.Open(chunk, p.now)
		if err != nil {
			t.Fatal(err)
		}
		if complete != (i == len(chunks)-1) {
			t.Fatalf("chunk %d of %d: complete %v", i+1, len(chunks), complete)
		}
		if complete {
			return m
		}
	}
	return Message{}
}

// pass sends a body to the other side and expects it there.
func (p *pair) pass(t testing.TB, from, to *Conversation, body []byte) {
	t.Helper()
	p.lastID++
	m := p.open(t, to, p.seal(t, from, p.lastID, body))
	if m.Err != nil || m.RequestID != p.lastID || !bytes.Equal(m.Body, body) {
		t.Fatalf("request %d of %d bytes, got %d of %d, %v", p.lastID, len(body), m.RequestID, len(m.Body), m.Err)
	}
}

func filled(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// everyMode calls f for all policies with all their modes.
func everyMode(t *testing.T, f func(t *testing.T, policy string, mode ua.MessageSecurityMode)) {
	for _, p := range secpol.Policies() {
		modes := []ua.MessageSecurityMode{ua.MessageSecurityModeSign, ua.MessageSecurityModeSignAndEncrypt}
		if p.IsNone() {
			modes = []ua.MessageSecurityMode{ua.MessageSecurityModeNone}
		}
		for _, mode := range modes {
			t.Run(p.Name+"/"+mode.String(), func(t *testing.T) { f(t, p.Name, mode) })
		}
	}
}

func wantStatus(t testing.TB, err error, status ua.StatusCode) {
	t.Helper()
	if ua.StatusOf(err) != status {
		t.Fatalf("error %v, want %v", err, status)
	}
}
