package uaclient_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func inNamespace(uri, id string) ua.ExpandedNodeID {
	return ua.ExpandedNodeID{NodeID: ua.NewStringNodeID(0, id), NamespaceURI: uri}
}

// T02: after a restart with the namespaces in another order the same list reads the same nodes, at the
// indexes that they have now.
func TestNodeListAfterRestart(t *testing.T) {
	ctx := t.Context()
	list := uaclient.NewNodeList(uaclient.NodeListOptions{},
		inNamespace("urn:a", "V"), inNamespace("urn:b", "V"), inNamespace("urn:none", "V"), ua.ID(uaid.Server_ServerStatus_State).Expanded())
	where := map[ua.NodeID]bool{}
	for _, uris := range [][]string{{"urn:a", "urn:b"}, {"urn:b", "urn:a"}} {
		space := memspace.New(uris[0], uris[1])
		server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space}})
		if err != nil {
			t.Fatal(err)
		}
		for i, uri := range uris {
			index := space.Namespace() + uint16(i)
			space.AddVariable(space.Objects(), uri, ua.String("of "+uri), memspace.WithNodeID(ua.NewStringNodeID(index, "V")))
		}
		if err := space.Err(); err != nil {
			t.Fatal(err)
		}
		l, err := server.Listen("opc.tcp://127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve(l)
		c, err := uaclient.Dial(ctx, "opc.tcp://"+l.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			v, err := list.Read(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			if v[0].Value.Str() != "of urn:a" || v[1].Value.Str() != "of urn:b" || v[2].Status != ua.BadNodeIdUnknown || v[3].Status != ua.Good {
				t.Errorf("namespaces %v: %v", uris, v)
			}
		}
		bound, err := list.Bind(ctx, c)
		if err != nil || bound[2].Status != ua.BadNodeIdUnknown {
			t.Fatalf("%v, %v", bound, err)
		}
		where[bound[0].NodeID] = true
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if _, err := list.Read(ctx, c); err == nil {
			t.Error("a session that has ended can be read")
		}
	}
	if len(where) != 2 {
		t.Errorf("the namespace did not move: %v", where)
	}
}

// plc is a stub whose namespaces move while the session lives, and which serves registered ids.
type plc struct {
	uris       []string
	aliases    uint32 // of the registered nodes; those of an earlier download are unknown
	registers  int
	namespaces int
	refuse     ua.StatusCode
}

func (p *plc) answer(req ua.Structure) ua.Structure {
	switch req := req.(type) {
	case *ua.RegisterNodesRequest:
		if p.registers++; p.refuse != 0 {
			return fault(p.refuse)
		}
		resp := &ua.RegisterNodesResponse{}
		for range req.NodesToRegister {
			resp.RegisteredNodeIDs = append(resp.RegisteredNodeIDs, ua.NewNodeID(9, p.aliases))
		}
		return resp
	case *ua.UnregisterNodesRequest:
		return fault(ua.BadNodeIdUnknown) // as the session goes on, that must not matter
	case *ua.ReadRequest:
		resp := &ua.ReadResponse{}
		for _, n := range req.NodesToRead {
			v := ua.DataValue{Status: ua.BadNodeIdUnknown}
			switch id := n.NodeID; {
			case id == ua.ID(uaid.Server_NamespaceArray):
				p.namespaces++
				v = ua.DataValue{Value: ua.Array(p.uris)}
			case id.Namespace() == 9 && id.Numeric() == p.aliases,
				id.Type() == ua.IDTypeString && int(id.Namespace()) < len(p.uris) && p.uris[id.Namespace()] == "urn:plc" && id.Text() == "V":
				v = ua.DataValue{Value: ua.Int32(7)}
			}
			resp.Results = append(resp.Results, v)
		}
		return resp
	}
	return nil
}

// T02: namespaces that move while the session lives, and registered ids that are no longer valid, are found
// out by the nodes that have become unknown; nodes that stay unknown cost a look now and then only.
func TestNodeListFollowsADownload(t *testing.T) {
	for _, register := range []bool{false, true} {
		t.Run(fmt.Sprint("register ", register), func(t *testing.T) {
			p := &plc{uris: []string{"http://opcfoundation.org/UA/", "urn:plc"}, aliases: 1}
			s := newStub(t, p.answer)
			c := s.dial(nil)
			list := uaclient.NewNodeList(uaclient.NodeListOptions{Register: register, Recheck: time.Nanosecond},
				inNamespace("urn:plc", "V"), inNamespace("urn:later", "V"))
			read := func() []ua.DataValue {
				t.Helper()
				v, err := list.Read(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			if v := read(); v[0].Value.Int() != 7 || v[1].Status != ua.BadNodeIdUnknown {
				t.Errorf("before: %v", v)
			}
			s.set(func() { p.uris, p.aliases = []string{p.uris[0], "urn:other", "urn:plc"}, 2 })
			if v := read(); v[0].Value.Int() != 7 || v[1].Status != ua.BadNodeIdUnknown {
				t.Errorf("after: %v", v)
			}
			if registers := s.count("RegisterNodesRequest"); register && registers < 2 || !register && registers > 0 {
				t.Errorf("registered %d times", registers)
			}
			// A server that does not register nodes is read all the same.
			s.set(func() { p.uris, p.aliases, p.refuse = p.uris[:2], 3, ua.BadServiceUnsupported; p.uris[1] = "urn:plc" })
			if v := read(); v[0].Value.Int() != 7 {
				t.Errorf("without RegisterNodes: %v", v)
			}
			// With the usual patience the unknown node does not make each read ask for the namespaces.
			list = uaclient.NewNodeList(uaclient.NodeListOptions{Register: register}, inNamespace("urn:later", "V"), inNamespace("urn:plc", "V"))
			before := 0
			s.set(func() { before = p.namespaces })
			for range 10 {
				read()
			}
			s.set(func() { before = p.namespaces - before })
			if before > 1 {
				t.Errorf("10 reads asked %d times for the namespaces", before)
			}
		})
	}
}

// Several goroutines read one list, also while it is bound and looked up anew.
func TestNodeListInParallel(t *testing.T) {
	p := &plc{uris: []string{"http://opcfoundation.org/UA/", "urn:plc"}, aliases: 1}
	c := newStub(t, p.answer).dial(nil)
	list := uaclient.NewNodeList(uaclient.NodeListOptions{Register: true, Recheck: time.Nanosecond}, inNamespace("urn:plc", "V"), inNamespace("urn:later", "V"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if v, err := list.Read(t.Context(), c); err != nil || v[0].Value.Int() != 7 || v[1].Status != ua.BadNodeIdUnknown {
					t.Error(v, err)
				}
			}
		})
	}
	all.Wait()
}

// Resolve finds a namespace that the server has had only since.
func TestResolveNewNamespace(t *testing.T) {
	p := &plc{uris: []string{"http://opcfoundation.org/UA/"}}
	s := newStub(t, p.answer)
	c := s.dial(nil)
	if _, err := c.Resolve(t.Context(), inNamespace("urn:plc", "V")); !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Error(err)
	}
	s.set(func() { p.uris = append(p.uris, "urn:plc") })
	if id, err := c.Resolve(t.Context(), inNamespace("urn:plc", "V")); err != nil || id != ua.NewStringNodeID(1, "V") {
		t.Error(id, err)
	}
}

// T03: of a thousand nodes ten are unknown and one is too large for the answer; the others have their
// values, those eleven a status each.
func TestBadNodesDisturbNoOthers(t *testing.T) {
	r := startServer(t, nil)
	config := r.config(t)
	config.Messages.MaxMessageSize = 1 << 20
	c := r.dial(t, config)
	ids := make([]ua.ExpandedNodeID, 1000)
	want := make([]ua.StatusCode, len(ids))
	for i := range ids {
		ids[i] = inNamespace("urn:test", fmt.Sprintf("Plant.Many.V%04d", i))
		switch {
		case i%200 == 3:
			ids[i].NodeID, want[i] = ua.NewStringNodeID(0, "nobody"), ua.BadNodeIdUnknown
		case i%200 == 4:
			ids[i].NamespaceURI, want[i] = "urn:nobody", ua.BadNodeIdUnknown
		case i == 500:
			ids[i].NodeID, want[i] = ua.NewStringNodeID(0, "Plant.Big"), ua.BadResponseTooLarge
		}
	}
	values, err := uaclient.NewNodeList(uaclient.NodeListOptions{}, ids...).Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		if values[i].Status != want[i] || want[i] == ua.Good && values[i].Value.Int() != int64(i) {
			t.Errorf("node %d: %v, %v wanted", i, values[i], want[i])
		}
	}
}
