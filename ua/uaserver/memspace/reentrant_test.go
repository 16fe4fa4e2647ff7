package memspace_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// meddler does from within callbacks all that locks could stand in the way of.
type meddler struct {
	t      *testing.T
	space  *memspace.Space
	node   *memspace.Variable
	client atomic.Pointer[uaclient.Client] // of another connection; nil before there is one
	inside sync.Map                        // what is being done, so that it does not call itself
	mu     sync.Mutex
	done   map[string]int
	count  atomic.Int64
}

// meddle changes and uses the node that the callback is about, and the server too if network is set.
func (m *meddler) meddle(what string, network bool) {
	if _, again := m.inside.LoadOrStore(what, true); again {
		return
	}
	defer m.inside.Delete(what)
	finished := make(chan struct{})
	go func() { // a lock of the callback's own goroutine would not be noticed on it
		defer close(finished)
		m.use(what, network)
	}()
	select {
	case <-finished:
	case <-time.After(20 * time.Second):
		m.t.Errorf("%s: a lock is held while it runs", what)
		panic("a deadlock") // so that the test ends
	}
	m.mu.Lock()
	m.done[what]++
	m.mu.Unlock()
}

func (m *meddler) use(what string, network bool) {
	s, n := m.space, m.node
	ctx := &uaserver.Context{Context: context.Background(), Session: &uaserver.SessionInfo{}, Now: ua.Now()}
	child := s.AddVariable(n, fmt.Sprint("Child", m.count.Add(1)), ua.Int32(1), memspace.WithNodeVersion())
	for _, err := range []error{
		child.Err(), child.Set(ua.Int32(2)), n.Set(ua.Int32(int32(m.count.Load()))),
		s.AddReference(s.Objects().ID(), ua.ID(uaid.Organizes), child.ID()),
		s.RemoveReference(s.Objects().ID(), ua.ID(uaid.Organizes), child.ID()),
	} {
		if err != nil {
			m.t.Errorf("%s: %v", what, err)
		}
	}
	n.SetDisplayName(ua.Text("Node"))
	n.DisplayName()
	item := uaserver.BrowseItem{NodeID: n.ID(), Direction: ua.BrowseDirectionBoth}
	if s.Browse(ctx, &item); item.Status != ua.Good || len(item.References) < 3 {
		m.t.Errorf("%s: %v, %d references", what, item.Status, len(item.References))
	}
	var value ua.DataValue
	s.Read(ctx, []uaserver.ReadItem{{NodeID: child.ID(), Attribute: ua.AttributeValue, Result: &value}})
	if value.Status != ua.Good || s.Len() == 0 || s.Err() != nil || s.Node(n.ID()) == nil {
		m.t.Errorf("%s: %v %v", what, value.Status, s.Err())
	}
	if err := s.Remove(child); err != nil {
		m.t.Errorf("%s: %v", what, err)
	}
	c := m.client.Load()
	if !network || c == nil {
		return
	}
	for name, f := range map[string]func(context.Context) error{
		"read": func(ctx context.Context) error {
			_, err := c.ReadAttribute(ctx, n.ID(), ua.AttributeDisplayName)
			return err
		},
		"browse": func(ctx context.Context) error {
			_, err := c.BrowseAll(ctx, []ua.NodeID{n.ID()}, uaclient.BrowseOptions{AllReferences: true})
			return err
		},
		"live": func(ctx context.Context) error {
			_, err := c.ReadValue(ctx, ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary))
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := f(ctx); err != nil {
			m.t.Errorf("%s: %s over another connection: %v", what, name, err)
		}
		cancel()
	}
}

// handler is a logger that meddles.
type handler struct{ m *meddler }

func (h handler) Enabled(context.Context, slog.Level) bool { return true }
func (h handler) Handle(_ context.Context, r slog.Record) error {
	h.m.meddle("logger", false)
	return nil
}
func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handler) WithGroup(string) slog.Handler      { return h }

// No lock is held while a function of the user runs: each kind of callback changes and uses the node
// that it is about, and asks the server over another connection if it is one that may wait.
func TestNoLockIsHeldOverCallbacks(t *testing.T) {
	space := memspace.New("urn:test:plant")
	m := &meddler{t: t, space: space, done: map[string]int{}}
	node := space.AddVariable(space.Objects(), "Node", ua.Int32(1), memspace.WithNodeVersion(), memspace.WithWriteMask(ua.WriteMaskDescription),
		memspace.Writable(func(memspace.Write) ua.StatusCode { m.meddle("OnWrite", true); return ua.Good }),
		memspace.OnRead(func(memspace.Read) ua.DataValue {
			m.meddle("OnRead", true)
			return ua.DataValue{Value: ua.Int32(7)}
		}),
		memspace.Allow(func(*uaserver.SessionInfo, ua.PermissionType) bool { m.meddle("Allow", false); return true }))
	m.node = node
	fast := space.AddVariable(space.Objects(), "Fast", ua.Int32(1), memspace.NonBlocking(),
		memspace.Writable(func(memspace.Write) ua.StatusCode { m.meddle("OnWrite, fast", false); return ua.Good }),
		memspace.OnRead(func(memspace.Read) ua.DataValue {
			m.meddle("OnRead, fast", false)
			return ua.DataValue{Value: ua.Int32(7)}
		}))
	method := space.AddMethod(space.Objects(), "Go", memspace.Func0(func(memspace.Call) (int32, error) {
		m.meddle("method", true)
		return 1, nil
	}, "x"))
	broken := space.AddMethod(space.Objects(), "Broken", memspace.Func0(func(memspace.Call) (int32, error) { return 1, errors.New("broken") }, "x"))
	info := &ua.StructureInfo{Name: "Point", DataTypeID: ua.ExpandedNodeID{NodeID: ua.NewNodeID(0, 500), NamespaceURI: "urn:test:plant"},
		BinaryID: ua.ExpandedNodeID{NodeID: ua.NewNodeID(0, 501), NamespaceURI: "urn:test:plant"},
		Fields:   []ua.Field{{Name: "X", Type: ua.TypeInt32}}}
	info.New = func() ua.Structure { m.meddle("constructor", false); return ua.NewDynamicStructure(info) }
	space.AddStructure(info)

	identity, err := uapki.NewIdentity(uapki.CertificateOptions{ApplicationURI: "urn:test:app"})
	if err != nil {
		t.Fatal(err)
	}
	server, err := uaserver.New(uaserver.Config{
		ApplicationURI: "urn:test:app", Nodes: []uaserver.NodeManager{space}, Identity: identity, AllowAnonymous: true,
		Diagnostics: true, Policies: []string{"None", "Basic256Sha256"}, Logger: slog.New(handler{m}),
		VerifyClient: func([][]byte, string) error { m.meddle("VerifyClient", true); return nil },
		Authenticate: func(context.Context, string, string) error { m.meddle("Authenticate", true); return nil },
		Now:          func() time.Time { m.meddle("Now", false); return time.Now() },
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	t.Cleanup(func() { _ = server.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url := "opc.tcp://" + l.Addr().String()
	other, err := uaclient.Dial(ctx, url, &uaclient.Config{SecurityPolicy: "None", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { m.client.Store(nil); _ = other.Close(ctx) }()
	m.client.Store(other)
	client, err := uaclient.Dial(ctx, url, &uaclient.Config{SecurityPolicy: "Basic256Sha256", Identity: identity, InsecureSkipVerify: true,
		User: uaclient.UserName{Name: "anna", Password: "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(ctx)

	for _, v := range []*memspace.Variable{node, fast} {
		if d, err := client.ReadValue(ctx, v.ID()); err != nil || d.Value.Int() != 7 {
			t.Errorf("read: %v %v", d, err)
		}
		if err := client.WriteValue(ctx, v.ID(), ua.Int32(3)); err != nil {
			t.Errorf("write: %v", err)
		}
	}
	if _, err := client.CallMethod(ctx, space.Objects().ID(), method.ID()); err != nil {
		t.Error(err)
	}
	if _, err := client.CallMethod(ctx, space.Objects().ID(), broken.ID()); err == nil {
		t.Error("a method that fails")
	}
	file := []byte(`<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"><NamespaceUris><Uri>urn:test:plant</Uri></NamespaceUris>` +
		`<UAObject NodeId="ns=1;i=900" BrowseName="1:Imported"><DisplayName>Imported</DisplayName><References>` +
		`<Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References></UAObject></UANodeSet>`)
	m.mu.Lock()
	constructed := m.done["constructor"]
	m.mu.Unlock()
	if _, err := space.Import(memspace.ImportOptions{}, memspace.NodeSetSource{Name: "file", Data: file}); err != nil {
		t.Error(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, what := range []string{"OnRead", "OnWrite", "OnRead, fast", "OnWrite, fast", "Allow", "method", "constructor", "VerifyClient", "Authenticate", "Now", "logger"} {
		if m.done[what] == 0 {
			t.Errorf("%s was never called", what)
		}
	}
	if m.done["constructor"] == constructed {
		t.Error("the import made no structure")
	}
}
