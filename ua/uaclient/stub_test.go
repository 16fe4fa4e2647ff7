package uaclient_test

import (
	"context"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uapki"
)

// stub is a server whose answers the test writes. It counts the requests by their type.
type stub struct {
	t         *testing.T
	url       string
	identity  *uapki.Identity
	endpoints []ua.EndpointDescription

	answering sync.Mutex // orders answers and what changes them
	// answer is asked first: nil leaves the request to the defaults, silent answers nothing.
	answer func(req ua.Structure) ua.Structure
	// hold is asked before, if not nil: true takes the request, to be answered with send.
	hold func(c *tcp.ServerConn, requestID uint32, req ua.Structure) bool

	mu     sync.Mutex
	counts map[string]int
	last   map[string]ua.Structure
}

// silent as an answer sends nothing.
type silent struct{ ua.RequestHeader }

// abort as an answer ends the response with an abort chunk.
type abort struct {
	ua.RequestHeader
	status ua.StatusCode
}

func tokens(policies ...ua.UserTokenPolicy) []ua.UserTokenPolicy {
	return append([]ua.UserTokenPolicy{{PolicyID: "anonymous"}}, policies...)
}

func userToken(policy string) ua.UserTokenPolicy {
	t := ua.UserTokenPolicy{PolicyID: "user", TokenType: ua.UserTokenTypeUserName}
	if policy != "" {
		t.SecurityPolicyURI = secpol.URIPrefix + policy
	}
	return t
}

// newStub serves one endpoint without security.
func newStub(t *testing.T, answer func(req ua.Structure) ua.Structure) *stub {
	s := &stub{t: t, answer: answer, counts: map[string]int{}, last: map[string]ua.Structure{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "opc.tcp://" + l.Addr().String()
	s.endpoints = []ua.EndpointDescription{{
		EndpointURL: "opc.tcp://inside-a-container:4840", SecurityMode: ua.MessageSecurityModeNone, SecurityPolicyURI: secpol.None.URI,
		Server: ua.ApplicationDescription{ApplicationURI: "urn:stub"}, UserIdentityTokens: tokens(), TransportProfileURI: uaclient.TransportTCP,
	}}
	config := &tcp.ServerConfig{Handler: s}
	config.Identity = func() *uasc.Identity {
		s.answering.Lock()
		defer s.answering.Unlock()
		if s.identity == nil {
			return nil
		}
		return &uasc.Identity{Chain: s.identity.Chain, Key: s.identity.Key}
	}
	var conns sync.WaitGroup
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { tcp.Serve(nc, config) })
		}
	}()
	t.Cleanup(func() { l.Close() })
	return s
}

func (s *stub) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[name]
}

func (s *stub) lastOf(name string) ua.Structure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[name]
}

func (s *stub) Closed(*tcp.ServerConn, error) {}

func (s *stub) ServeMessage(c *tcp.ServerConn, _ time.Time, requestID uint32, body []byte) bool {
	s.serve(c, requestID, body)
	return true
}

func (s *stub) serve(c *tcp.ServerConn, requestID uint32, body []byte) {
	r := uabin.NewReader(body)
	var id ua.NodeID
	id.DecodeBinary(r)
	info := ua.StructureOfEncoding(id.Numeric())
	if info == nil {
		s.t.Errorf("request of unknown type %v", id)
		return
	}
	req := info.New()
	req.DecodeBinary(r)
	s.mu.Lock()
	s.counts[info.Name]++
	s.last[info.Name] = req
	s.mu.Unlock()
	if s.hold != nil && s.hold(c, requestID, req) {
		return
	}
	s.send(c, requestID, req, s.respond(c, req))
}

func (s *stub) send(c *tcp.ServerConn, requestID uint32, req, resp ua.Structure) {
	switch resp := resp.(type) {
	case *silent:
		return
	case *abort:
		_ = c.Abort(requestID, resp.status, "as the test wants")
		return
	}
	handle := reflect.ValueOf(req).Elem().FieldByName("RequestHeader").Interface().(ua.RequestHeader).RequestHandle
	header := reflect.ValueOf(resp).Elem().FieldByName("ResponseHeader")
	header.FieldByName("RequestHandle").SetUint(uint64(handle))
	_ = c.Send(requestID, resp)
}

func (s *stub) respond(c *tcp.ServerConn, req ua.Structure) ua.Structure {
	s.answering.Lock()
	defer s.answering.Unlock()
	if s.answer != nil {
		if resp := s.answer(req); resp != nil {
			return resp
		}
	}
	return s.defaults(c, req)
}

// set changes what the stub does.
func (s *stub) set(change func()) {
	s.answering.Lock()
	defer s.answering.Unlock()
	change()
}

func (s *stub) setAnswer(answer func(req ua.Structure) ua.Structure) {
	s.set(func() { s.answer = answer })
}

func fault(status ua.StatusCode) ua.Structure {
	return &ua.ServiceFault{ResponseHeader: ua.ResponseHeader{ServiceResult: status}}
}

func (s *stub) defaults(c *tcp.ServerConn, req ua.Structure) ua.Structure {
	switch req := req.(type) {
	case *ua.GetEndpointsRequest:
		return &ua.GetEndpointsResponse{Endpoints: s.endpoints}
	case *ua.CreateSessionRequest:
		resp := &ua.CreateSessionResponse{
			SessionID: ua.NewNodeID(1, 7), AuthenticationToken: ua.NewOpaqueNodeID(0, []byte("token")),
			RevisedSessionTimeout: req.RequestedSessionTimeout, ServerNonce: []byte("0123456789abcdef0123456789abcdef"),
			ServerEndpoints: s.endpoints,
		}
		if s.identity != nil {
			resp.ServerCertificate = s.identity.Certificate()
			sig, err := c.Policy().AsymSign(s.identity.Key, nil, append(append([]byte(nil), req.ClientCertificate...), req.ClientNonce...))
			if err != nil {
				s.t.Error(err)
			}
			resp.ServerSignature = ua.SignatureData{Signature: sig}
		}
		return resp
	case *ua.ActivateSessionRequest:
		return &ua.ActivateSessionResponse{}
	case *ua.CloseSessionRequest:
		return &ua.CloseSessionResponse{}
	case *ua.BrowseNextRequest:
		return &ua.BrowseNextResponse{}
	case *ua.ReadRequest:
		resp := &ua.ReadResponse{}
		for _, n := range req.NodesToRead {
			v := ua.DataValue{Status: ua.BadNodeIdUnknown}
			if n.NodeID.Namespace() == 1 {
				v = ua.DataValue{Value: ua.UInt32(n.NodeID.Numeric())}
			}
			resp.Results = append(resp.Results, v)
		}
		return resp
	}
	return fault(ua.BadServiceUnsupported)
}

// limits answers the reading of operation limits with one number for all, and leaves the rest.
func limits(req *ua.ReadRequest, n uint32) ua.Structure {
	if len(req.NodesToRead) == 0 || req.NodesToRead[0].NodeID != ua.ID(uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead) {
		return nil
	}
	resp := &ua.ReadResponse{}
	for range req.NodesToRead {
		resp.Results = append(resp.Results, ua.DataValue{Value: ua.UInt32(n)})
	}
	return resp
}

func (s *stub) dial(config *uaclient.Config) *uaclient.Client {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := uaclient.Dial(ctx, s.url, config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

var identities = sync.OnceValues(func() ([2]*uapki.Identity, error) {
	var ids [2]*uapki.Identity
	for i, name := range []string{"stub server", "stub client"} {
		var err error
		if ids[i], err = uapki.NewIdentity(uapki.CertificateOptions{CommonName: name}); err != nil {
			return ids, err
		}
	}
	return ids, nil
})

// makeIdentities returns the certificates of a server and a client, made once.
func makeIdentities(t *testing.T) (server, client *uapki.Identity) {
	ids, err := identities()
	if err != nil {
		t.Fatal(err)
	}
	return ids[0], ids[1]
}

// secure gives the stub a certificate and an encrypted endpoint besides the one without security.
func (s *stub) secure() *uapki.Identity {
	server, client := makeIdentities(s.t)
	s.answering.Lock()
	defer s.answering.Unlock()
	s.identity = server
	e := s.endpoints[0]
	e.SecurityMode, e.SecurityPolicyURI, e.SecurityLevel = ua.MessageSecurityModeSignAndEncrypt, secpol.URIPrefix+"Basic256Sha256", 140
	e.Server.ApplicationURI = server.ApplicationURI
	s.endpoints[0].Server = e.Server
	e.ServerCertificate = server.Certificate()
	s.endpoints[0].ServerCertificate = e.ServerCertificate
	s.endpoints = append(s.endpoints, e)
	return client
}

// trusting is a store that trusts the stub.
func (s *stub) trusting() *uapki.Store {
	store, err := uapki.Open(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	leaf, err := s.identity.Leaf()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := store.Trust(leaf); err != nil {
		s.t.Fatal(err)
	}
	return store
}
