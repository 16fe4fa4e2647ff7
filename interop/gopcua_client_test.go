package interop

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	gua "github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
)

// clientCertificate is a self-signed application certificate for gopcua, which brings none of its own.
var clientCertificate = sync.OnceValues(func() (certificate, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "gopcua", Organization: []string{"Actua interop"}},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(30 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment |
			x509.KeyUsageDataEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		URIs:                  []*url.URL{{Scheme: "urn", Opaque: "localhost:actua-interop:gopcua"}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return certificate{der, key}, err
})

type certificate struct {
	der []byte
	key *rsa.PrivateKey
}

func TestGopcuaClient(t *testing.T) {
	s := startActua(t)
	t.Run("offered policies", func(t *testing.T) { offeredPolicies(t, s.url, currentPolicies...) })
	for _, c := range matrix(true, currentPolicies...) {
		t.Run(c.String(), func(t *testing.T) { gopcuaCase(t, s.url, c, gopcuaQuirks{}) })
	}
}

func TestGopcuaClientDeprecatedPolicies(t *testing.T) {
	s := startActua(t, "--allow-deprecated")
	t.Run("offered policies", func(t *testing.T) {
		offeredPolicies(t, s.url, slices.Concat(currentPolicies, deprecatedPolicies)...)
	})
	for _, c := range matrix(false, deprecatedPolicies...) {
		t.Run(c.String(), func(t *testing.T) { gopcuaCase(t, s.url, c, gopcuaQuirks{}) })
	}
}

// TestGopcuaClientDefaultBuffers leaves gopcua its own buffer sizes, as most of its users do, with a request and an answer
// of several encrypted chunks: those of the request are a byte longer than was agreed, and are taken all the same.
func TestGopcuaClientDefaultBuffers(t *testing.T) {
	s := startActua(t)
	c := &gopcuaSession{url: s.url}
	c.connect(t.Context(), t, securityCase{"Basic256Sha256", "SignAndEncrypt", "UserName"}, opcua.Dialer(&uacp.Dialer{
		Dialer:    &net.Dialer{Timeout: 10 * time.Second},
		ClientACK: &uacp.Acknowledge{ReceiveBufSize: uacp.DefaultReceiveBufSize, SendBufSize: uacp.DefaultSendBufSize},
	}))
	request := &gua.ReadRequest{TimestampsToReturn: gua.TimestampsToReturnBoth}
	for range 8000 {
		request.NodesToRead = append(request.NodesToRead, &gua.ReadValueID{NodeID: numeric(2258), AttributeID: gua.AttributeIDValue})
	}
	resp, err := c.Client.Read(t.Context(), request)
	if err != nil || len(resp.Results) != len(request.NodesToRead) {
		t.Errorf("8000 reads: %v", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// gopcuaClientControl runs the same against node-opcua's server: what fails here is not our doing.
func gopcuaClientControl(t *testing.T, url string) {
	for _, c := range []securityCase{{"None", "None", "Anonymous"}, {"Basic256", "SignAndEncrypt", "UserName"}} {
		t.Run(c.String(), func(t *testing.T) {
			gopcuaCase(t, url, c, gopcuaQuirks{arrayForScalar: true, rangeOfScalar: true, silent: true})
		})
	}
}

// offeredPolicies checks that a server offers None and exactly these policies in both modes, with both kinds of token.
func offeredPolicies(t *testing.T, url string, policies ...string) {
	endpoints, err := opcua.GetEndpoints(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, e := range endpoints {
		_, policy, _ := strings.Cut(e.SecurityPolicyURI, "#")
		for _, token := range e.UserIdentityTokens {
			got = append(got, securityCase{policy, strings.TrimPrefix(e.SecurityMode.String(), "MessageSecurityMode"), token.TokenType.String()}.String())
		}
	}
	for _, c := range matrix(true, policies...) {
		want = append(want, securityCase{c.policy, c.mode, "UserTokenType" + c.token}.String())
	}
	slices.Sort(got)
	got = slices.Compact(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("offered:\n%s\nwanted:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// gopcuaQuirks are liberties that a server is known to take.
type gopcuaQuirks struct {
	arrayForScalar bool // a scalar variable accepts an array
	rangeOfScalar  bool // a range of a scalar is answered with the scalar
	silent         bool // a request that cannot be decoded is not answered
}

// gopcuaSession is a session of the gopcua client with what the steps share.
type gopcuaSession struct {
	*opcua.Client
	quirks    gopcuaQuirks
	url       string
	variables []gopcuaVariable
	methods   []*gua.CallMethodRequest // object and method
}

type gopcuaVariable struct {
	node     *gua.NodeID
	name     string
	dataType *gua.NodeID
	rank     int64
	writable bool
	value    *gua.DataValue
}

// gopcuaCase goes through every service.
func gopcuaCase(t *testing.T, url string, c securityCase, quirks gopcuaQuirks) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	s := &gopcuaSession{quirks: quirks, url: url}
	s.connect(ctx, t, c)
	type step struct {
		name string
		run  func(context.Context, *testing.T)
	}
	steps := []step{
		{"discovery", s.discovery},
		{"browse", s.browse},
		{"continuation points", s.continuation},
		{"translate and register", s.translate},
		{"explore", s.explore},
		{"read", s.read},
		{"read index range", s.readRange},
		{"write", s.write},
		{"write errors", s.writeErrors},
		{"call", s.call},
		{"chunks", s.chunks},
		{"unsupported service", s.unsupported},
	}
	if !quirks.silent {
		steps = append(steps, step{"malformed request", s.malformed})
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.run(ctx, t) }) && ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (s *gopcuaSession) connect(ctx context.Context, t *testing.T, c securityCase, more ...opcua.Option) {
	t.Helper()
	endpoints, err := opcua.GetEndpoints(ctx, s.url)
	if err != nil {
		t.Fatal("GetEndpoints: ", err)
	}
	policy, mode := gua.FormatSecurityPolicyURI(c.policy), gua.MessageSecurityModeFromString(c.mode)
	at := slices.IndexFunc(endpoints, func(e *gua.EndpointDescription) bool {
		return e.SecurityPolicyURI == policy && e.SecurityMode == mode
	})
	if at < 0 {
		t.Fatalf("no endpoint %v among %d", c, len(endpoints))
	}
	own, err := clientCertificate()
	if err != nil {
		t.Fatal(err)
	}
	// Small buffers, so that messages take many chunks. Both are the same because gopcua mixes them up; multiples of the
	// cipher's block, because it goes beyond others (TestGopcuaClientDefaultBuffers).
	options := []opcua.Option{
		opcua.AutoReconnect(false), opcua.RequestTimeout(20 * time.Second), opcua.SendBufferSize(8192), opcua.ReceiveBufferSize(8192),
	}
	if c.policy != "None" {
		options = append(options, opcua.Certificate(own.der), opcua.PrivateKey(own.key))
	}
	if c.token == "UserName" {
		options = append(options, opcua.AuthUsername(userName, password),
			opcua.SecurityFromEndpoint(endpoints[at], gua.UserTokenTypeUserName))
	} else {
		options = append(options, opcua.AuthAnonymous(), opcua.SecurityFromEndpoint(endpoints[at], gua.UserTokenTypeAnonymous))
	}
	if s.Client, err = opcua.NewClient(s.url, append(options, more...)...); err != nil {
		t.Fatal(err)
	}
	if err := s.Connect(ctx); err != nil {
		t.Fatal("connect: ", err)
	}
}
