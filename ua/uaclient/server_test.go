package uaclient_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// realServer serves a small address space with every policy.
type realServer struct {
	*uaserver.Server
	url   string
	store *uapki.Store // in which a client trusts the server
	speed *memspace.Variable
	ns    uint16
}

func startServer(t *testing.T, change func(c *uaserver.Config)) *realServer {
	t.Helper()
	identity, _ := makeIdentities(t)
	space := memspace.New("urn:test")
	r := &realServer{}
	plant := space.AddFolder(space.Objects(), "Plant")
	r.speed = space.AddVariable(plant, "Speed", ua.Double(1.5), memspace.Writable())
	space.AddVariable(plant, "Big", ua.ByteString(make([]byte, 5<<20)))
	space.AddVariable(plant, "Samples", ua.Array([]int32{1, 2, 3}), memspace.Writable())
	space.AddMethod(plant, "Add", memspace.Func2(func(_ memspace.Call, a, b int32) (int32, error) {
		if b == 0 {
			return 0, memspace.ArgumentError{Index: 1, Status: ua.BadOutOfRange}
		}
		return a + b, nil
	}, "A", "B", "Sum"))
	many := space.AddFolder(plant, "Many")
	for i := range 1000 {
		space.AddVariable(many, fmt.Sprintf("V%04d", i), ua.Int32(int32(i)))
	}
	config := uaserver.Config{
		Identity: identity, Nodes: []uaserver.NodeManager{space}, AllowDeprecated: true,
		VerifyClient: uaserver.AcceptAnyClient, Users: map[string]string{"operator": "geheim"}, AllowAnonymous: true,
	}
	for _, p := range uaclient.Policies() {
		config.Policies = append(config.Policies, p.Name)
	}
	if change != nil {
		change(&config)
	}
	var err error
	if r.Server, err = uaserver.New(config); err != nil {
		t.Fatal(err)
	}
	l, err := r.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go r.Serve(l)
	t.Cleanup(func() { r.Close() })
	r.url, r.ns = "opc.tcp://"+l.Addr().String(), space.Namespace()
	if r.store, err = uapki.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	leaf, err := identity.Leaf()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Trust(leaf); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *realServer) config(t *testing.T) *uaclient.Config {
	_, client := makeIdentities(t)
	return &uaclient.Config{Identity: client, PKI: r.store, AllowDeprecated: true}
}

func (r *realServer) dial(t *testing.T, config *uaclient.Config) *uaclient.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := uaclient.Dial(ctx, r.url, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// Every policy and mode, with both kinds of users (S10, S21).
func TestEveryPolicyAndMode(t *testing.T) {
	r := startServer(t, nil)
	ctx := context.Background()
	for _, p := range uaclient.Policies() {
		modes := []ua.MessageSecurityMode{ua.MessageSecurityModeSign, ua.MessageSecurityModeSignAndEncrypt}
		if p.Name == "None" {
			modes = []ua.MessageSecurityMode{ua.MessageSecurityModeNone}
		}
		for _, mode := range modes {
			for _, user := range []uaclient.UserIdentity{uaclient.Anonymous{}, uaclient.UserName{Name: "operator", Password: "geheim"}} {
				t.Run(fmt.Sprintf("%s/%v/%T", p.Name, mode, user), func(t *testing.T) {
					config := r.config(t)
					config.SecurityPolicy, config.Mode, config.User = p.Name, mode, user
					c := r.dial(t, config)
					if e := c.Endpoint(); e.SecurityPolicyURI != p.URI || e.SecurityMode != mode {
						t.Errorf("endpoint %s %v", e.SecurityPolicyURI, e.SecurityMode)
					}
					v, err := c.ReadValue(ctx, ua.ID(uaid.Server_ServerStatus_State))
					if err != nil || v.Value.Int() != 0 || v.ServerTimestamp.IsZero() {
						t.Errorf("%v, %v", v, err)
					}
					if err := c.Close(ctx); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
	wantNoSessions(t, r)
}

func wantNoSessions(t *testing.T, r *realServer) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); r.Stats().Sessions != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left", r.Stats().Sessions)
		}
	}
}

func TestWrongPassword(t *testing.T) {
	r := startServer(t, nil)
	config := r.config(t)
	config.User = uaclient.UserName{Name: "operator", Password: "falsch"}
	wantFailure(t, r.url, config, uaclient.StepActivate, ua.BadUserAccessDenied)
	wantNoSessions(t, r)
}

// Auto takes the best, None only when there is nothing else.
func TestAutoSecurity(t *testing.T) {
	r := startServer(t, nil)
	e := r.dial(t, r.config(t)).Endpoint()
	if e.SecurityMode != ua.MessageSecurityModeSignAndEncrypt || e.SecurityPolicyURI != uaclient.Policies()[5].URI {
		t.Errorf("%s %v", e.SecurityPolicyURI, e.SecurityMode)
	}
	r = startServer(t, func(c *uaserver.Config) { c.Policies = []string{"None"}; c.Users = nil })
	if e := r.dial(t, nil).Endpoint(); e.SecurityMode != ua.MessageSecurityModeNone {
		t.Errorf("%s %v", e.SecurityPolicyURI, e.SecurityMode)
	}
	r = startServer(t, func(c *uaserver.Config) { c.Policies = []string{"None", "Basic256"} })
	config := r.config(t)
	config.AllowDeprecated = false
	wantFailure(t, r.url, config, uaclient.StepEndpoints, ua.BadSecurityPolicyRejected)
}

// V15: a certificate for another host is a clear error that an option overrides.
func TestHostName(t *testing.T) {
	r := startServer(t, nil)
	config := r.config(t)
	address := r.url[len("opc.tcp://"):]
	config.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	wantFailure(t, "opc.tcp://behind-nat.example:4840", config, uaclient.StepCertificate, ua.BadCertificateHostNameInvalid)
	config.SkipHostName = true
	c, err := uaclient.Dial(context.Background(), "opc.tcp://behind-nat.example:4840", config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if e := c.Endpoint(); e.EndpointURL != "opc.tcp://behind-nat.example:4840" {
		t.Errorf("endpoint %s", e.EndpointURL)
	}
}

func TestServices(t *testing.T) {
	r := startServer(t, func(c *uaserver.Config) {
		c.Limits.MaxNodesPerRead, c.Limits.MaxNodesPerBrowse = 20, 2
		c.Limits.MaxReferencesPerNode, c.Limits.MaxBrowseContinuationPoint = 70, 1
	})
	c := r.dial(t, r.config(t))
	ctx := context.Background()
	plant, err := c.ResolvePath(ctx, "/Objects/Plant")
	if err != nil {
		t.Fatal(err)
	}
	exact, err := c.ResolvePath(ctx, fmt.Sprintf("/Objects/%d:Plant/%d:Speed", r.ns, r.ns))
	if err != nil || exact != r.speed.ID() {
		t.Errorf("%v, %v", exact, err)
	}
	for path, want := range map[string]ua.StatusCode{"/Objects/Nothing": ua.BadNoMatch, "/<": ua.BadSyntaxError} {
		if _, err := c.ResolvePath(ctx, path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	many, err := c.ResolvePathFrom(ctx, plant, "/Many")
	if err != nil {
		t.Fatal(err)
	}
	// V05 and V13 against the server's own limits.
	found, err := c.BrowseAll(ctx, []ua.NodeID{plant, many, many, ua.NewNodeID(r.ns, 999999)}, uaclient.BrowseOptions{})
	if err != nil || len(found[0].References) != 5 || len(found[1].References) != 1000 || len(found[2].References) != 1000 || found[3].Status != ua.BadNodeIdUnknown {
		t.Fatal(len(found[0].References), len(found[1].References), len(found[2].References), found[3].Status, err)
	}
	var nodes []ua.NodeID
	for ref, err := range c.References(ctx, many, uaclient.BrowseOptions{PageSize: 300}) {
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, ref.NodeID.NodeID)
	}
	values, err := c.ReadValues(ctx, nodes...)
	if err != nil || len(values) != 1000 || values[999].Value.Int() != 999 {
		t.Error(len(values), err)
	}
	if _, err := c.Read(ctx, &ua.ReadRequest{NodesToRead: make([]ua.ReadValueID, 21)}); !errors.Is(err, ua.BadTooManyOperations) {
		t.Error(err)
	}

	if err := c.WriteValue(ctx, r.speed.ID(), ua.Double(7)); err != nil {
		t.Error(err)
	}
	if v, err := c.ReadValue(ctx, r.speed.ID()); err != nil || v.Value.Float() != 7 {
		t.Error(v, err)
	}
	if err := c.WriteValue(ctx, r.speed.ID(), ua.String("7")); !errors.Is(err, ua.BadTypeMismatch) {
		t.Error(err)
	}
	samples, err := c.ResolvePathFrom(ctx, plant, "/Samples")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteRange(ctx, samples, "1", ua.Array([]int32{9})); err != nil {
		t.Error(err)
	}

	add, err := c.ResolvePathFrom(ctx, plant, "/Add")
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := c.Arguments(ctx, add)
	if err != nil || len(in) != 2 || len(out) != 1 || in[0].Name != "A" {
		t.Error(in, out, err)
	}
	sum, err := c.CallMethod(ctx, plant, add, ua.Int32(2), ua.Int32(3))
	if err != nil || len(sum) != 1 || sum[0].Int() != 5 {
		t.Error(sum, err)
	}
	var refused *uaclient.ArgumentError
	if _, err = c.CallMethod(ctx, plant, add, ua.Int32(2), ua.Int32(0)); !errors.As(err, &refused) || refused.Inputs[1] != ua.BadOutOfRange {
		t.Error(err)
	}

	registered, err := c.RegisterNodes(ctx, samples, r.speed.ID())
	if err != nil || len(registered) != 2 {
		t.Error(registered, err)
	}
	if err := c.UnregisterNodes(ctx, registered...); err != nil {
		t.Error(err)
	}
	if n, err := c.Cancel(ctx, 12345); err != nil || n != 0 {
		t.Error(n, err)
	}
	uris, err := c.NamespaceArray(ctx)
	if err != nil || uris[r.ns] != "urn:test" {
		t.Error(uris, err)
	}
	id, err := c.Resolve(ctx, ua.ExpandedNodeID{NodeID: ua.ID(5), NamespaceURI: "urn:test"})
	if err != nil || id != ua.NewNodeID(r.ns, 5) {
		t.Error(id, err)
	}
	if _, err := c.Resolve(ctx, ua.ExpandedNodeID{NamespaceURI: "urn:other"}); !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Error(err)
	}
	for dataType, want := range map[uint32]ua.BuiltInType{
		uaid.Double: ua.TypeDouble, uaid.Duration: ua.TypeDouble, uaid.UtcTime: ua.TypeDateTime, uaid.ServerState: ua.TypeInt32,
		uaid.Argument: ua.TypeExtensionObject, uaid.Number: ua.TypeVariant, uaid.LocaleId: ua.TypeString,
	} {
		if got, err := c.BuiltInType(ctx, ua.ID(dataType)); err != nil || got != want {
			t.Errorf("data type %d: %v, %v", dataType, got, err)
		}
	}
}

// C22: the default limit refuses a large value with its status, a raised one takes it, and the
// channel survives.
func TestMessageLimit(t *testing.T) {
	r := startServer(t, nil)
	ctx := context.Background()
	for limit, want := range map[uint32]ua.StatusCode{2 << 20: ua.BadResponseTooLarge, 8 << 20: ua.Good, 0: ua.Good} {
		config := r.config(t)
		config.Messages = uaclient.MessageLimits{MaxMessageSize: limit, ReceiveBufferSize: 8192, SendBufferSize: 8192}
		c := r.dial(t, config)
		big, err := c.ResolvePath(ctx, "/Objects/Plant/Big")
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.ReadValue(ctx, big)
		if ua.StatusOf(err) != want || want == ua.Good && len(v.Value.Bytes()) != 5<<20 {
			t.Errorf("limit %d: %d bytes, %v", limit, len(v.Value.Bytes()), err)
		}
		if _, err := c.ReadValue(ctx, r.speed.ID()); err != nil {
			t.Errorf("limit %d: the channel did not survive: %v", limit, err)
		}
	}
}

func TestDiscovery(t *testing.T) {
	r := startServer(t, nil)
	list, err := uaclient.GetEndpoints(context.Background(), r.url, nil)
	if err != nil || len(list) != 11 || list[0].EndpointURL != r.url {
		t.Error(len(list), err)
	}
	servers, err := uaclient.FindServers(context.Background(), r.url, nil)
	if err != nil || len(servers) != 1 || servers[0].ApplicationURI == "" {
		t.Error(servers, err)
	}
	// An endpoint that is known needs no discovery.
	config := r.config(t)
	for i := range list {
		if list[i].SecurityMode == ua.MessageSecurityModeSign {
			config.Endpoint = &list[i]
		}
	}
	before := r.Stats().Requests
	c := r.dial(t, config)
	if e := c.Endpoint(); e.SecurityMode != ua.MessageSecurityModeSign || r.Stats().Requests-before != 2 {
		t.Errorf("%v after %d requests", e.SecurityMode, r.Stats().Requests-before)
	}
}

func TestManyGoroutines(t *testing.T) {
	r := startServer(t, nil)
	c := r.dial(t, r.config(t))
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Go(func() {
			for range 20 {
				if _, err := c.ReadValue(context.Background(), r.speed.ID()); err != nil {
					t.Error(err)
				}
				if _, err := c.ResolvePath(context.Background(), "/Objects/Plant/Speed"); err != nil {
					t.Error(err)
				}
				if err := c.WriteValue(context.Background(), r.speed.ID(), ua.Double(float64(g))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
