package memspace_test

import (
	"context"
	"math"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// lazyNodes is a manager of nodes that are in no memory: as many variables as size says, under the folder
// 0, made up when somebody asks for them, as from a database.
type lazyNodes struct {
	ns   uint16
	size uint32
}

const lazyURI = "urn:test:lazy"

func (l *lazyNodes) NamespaceURIs() []string { return []string{lazyURI} }
func (l *lazyNodes) Attach(_ *uaserver.Server, indexes []uint16) error {
	l.ns = indexes[0]
	return nil
}

// number is the number of a node; false when there is none with that id.
func (l *lazyNodes) number(id ua.NodeID) (uint32, bool) {
	return id.Numeric(), id.Type() == ua.IDTypeNumeric && id.Numeric() <= l.size
}

func (l *lazyNodes) Read(_ *uaserver.Context, items []uaserver.ReadItem) {
	for _, it := range items {
		n, ok := l.number(it.NodeID)
		switch {
		case !ok:
			it.Result.Status = ua.BadNodeIdUnknown
		case it.Attribute == ua.AttributeValue && n > 0:
			it.Result.Value = ua.UInt32(n)
		default:
			it.Result.Status = ua.BadAttributeIdInvalid
		}
	}
}

func (l *lazyNodes) Write(_ *uaserver.Context, items []uaserver.WriteItem) {
	for _, it := range items {
		*it.Result = ua.BadNotWritable
	}
}

func (l *lazyNodes) Browse(_ *uaserver.Context, it *uaserver.BrowseItem) {
	n, ok := l.number(it.NodeID)
	from := uint32(max(it.Cursor, 1))
	if it.Cursor = 0; !ok {
		it.Status = ua.BadNodeIdUnknown
		return
	}
	for i := from; n == 0 && i <= l.size; i++ {
		if it.Max > 0 && len(it.References) == it.Max {
			it.Cursor = uint64(i)
			return
		}
		it.References = append(it.References, uaserver.Reference{
			Type: ua.ID(uaid.HasComponent), Target: ua.NewNodeID(l.ns, i).Expanded(), Forward: true,
		})
	}
}

func (l *lazyNodes) Describe(_ *uaserver.Context, items []uaserver.DescribeItem) {
	for i := range items {
		if n, ok := l.number(items[i].NodeID); ok {
			items[i].Class, items[i].BrowseName = ua.NodeClassVariable, ua.QualifiedName{NamespaceIndex: l.ns, Name: ua.UInt32(n).String()}
		}
	}
}

func (l *lazyNodes) Translate(_ *uaserver.Context, it *uaserver.TranslateItem) {
	it.Status = ua.BadNoMatch
}
func (l *lazyNodes) Call(_ *uaserver.Context, it *uaserver.CallItem) {
	it.Result.StatusCode = ua.BadMethodInvalid
}

// heapNow is the memory in use, garbage included.
func heapNow() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// P08: ten million nodes that a node manager makes up on demand can be browsed and read, and take no
// memory: 200 MB is what the report allows.
func TestP08TenMillionNodesOnDemand(t *testing.T) {
	lazy := &lazyNodes{size: 10_000_000}
	space := memspace.New("urn:test:plant")
	server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space, lazy}, AllowAnonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	root := ua.NewNodeID(lazy.ns, 0)
	if err := space.AddReference(space.Objects().ID(), ua.ID(uaid.Organizes), root); err != nil {
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
	client, err := uaclient.Dial(ctx, "opc.tcp://"+l.Addr().String(), &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(ctx)

	pages := 2000
	if memspace.RaceEnabled {
		pages = 100
	}
	p := &pager{t: t, ctx: ctx, client: client, node: root, max: 1000}
	before := heapNow()
	next, highest := uint32(1), uint64(0)
	for page := range pages {
		refs, more := p.next()
		for _, r := range refs {
			if r.NodeID.NodeID.Numeric() != next {
				t.Fatalf("%v, want node %d", r.NodeID, next)
			}
			next++
		}
		if !more {
			t.Fatal("the folder ended at", next)
		}
		if page%200 == 0 {
			highest = max(highest, heapNow())
		}
	}
	for _, n := range []uint32{1, 5_000_000, lazy.size} {
		if d, err := client.ReadValue(ctx, ua.NewNodeID(lazy.ns, n)); err != nil || d.Value.Uint() != uint64(n) {
			t.Errorf("node %d: %v %v", n, d, err)
		}
	}
	for _, n := range []uint32{lazy.size + 1, math.MaxUint32} {
		if d, err := client.ReadValue(ctx, ua.NewNodeID(lazy.ns, n)); err == nil {
			t.Errorf("node %d: %v", n, d)
		}
	}
	if found, err := client.BrowseAll(ctx, []ua.NodeID{space.Objects().ID()}, uaclient.BrowseOptions{}); err != nil || len(found[0].References) < 2 {
		t.Error("the folder is not under Objects", err)
	}
	t.Logf("%d nodes were browsed; %d bytes of heap before, at most %d meanwhile", next-1, before, highest)
	if highest > before+200_000_000 {
		t.Errorf("%d bytes of heap before, %d meanwhile", before, highest)
	}
}
