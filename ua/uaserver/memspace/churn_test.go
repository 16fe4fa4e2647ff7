package memspace_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// subtree adds a machine with everything that a subtree can have: folders, variables with properties, a
// method, references across and to another manager.
func subtree(s *memspace.Space, parent *memspace.Node, name string, hub ua.NodeID) (*memspace.Node, []ua.NodeID) {
	root := s.AddObject(parent, name, memspace.WithNodeVersion())
	ids := []ua.NodeID{root.ID()}
	for i := range 5 {
		part := s.AddObject(root, fmt.Sprint("Part", i))
		ids = append(ids, part.ID())
		for j := range 4 {
			v := s.AddVariable(part, fmt.Sprint("V", j), ua.Double(0), memspace.Writable(), memspace.WithRange(0, 10))
			ids = append(ids, v.ID(), ua.NewStringNodeID(s.Namespace(), v.ID().Text()+".EURange"))
		}
		_ = s.AddReference(hub, ua.ID(uaid.Organizes), part.ID())
		_ = s.AddReference(part.ID(), ua.ID(uaid.HasEventSource), root.ID())
		_ = s.AddReference(part.ID(), ua.ID(uaid.Organizes), ua.NewNodeID(99, uint32(i)))
	}
	m := s.AddMethod(root, "Go", memspace.Func0(func(memspace.Call) (int32, error) { return 1, nil }, "x"))
	return root, append(ids, m.ID())
}

// everything lists the references of all nodes that can be reached, as the manager gives them.
func everything(t *testing.T, s *memspace.Space, start ua.NodeID) map[ua.NodeID][]uaserver.Reference {
	ctx := &uaserver.Context{Context: context.Background(), Session: &uaserver.SessionInfo{}, Now: ua.Now()}
	all := map[ua.NodeID][]uaserver.Reference{}
	for todo := []ua.NodeID{start}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, done := all[id]; done || id.Namespace() == 99 {
			continue
		}
		item := uaserver.BrowseItem{NodeID: id, Direction: ua.BrowseDirectionBoth}
		if s.Browse(ctx, &item); item.Status != ua.Good {
			t.Errorf("browse %v: %v", id, item.Status)
		}
		all[id] = item.References
		for _, r := range item.References {
			todo = append(todo, r.Target.NodeID)
		}
	}
	return all
}

// coherent checks that every reference has its inverse, and both their nodes.
func coherent(t *testing.T, s *memspace.Space) {
	t.Helper()
	all := everything(t, s, ua.ID(uaid.RootFolder))
	type end struct {
		from, kind, to ua.NodeID
		forward        bool
	}
	seen := map[end]int{}
	for id, refs := range all {
		for _, r := range refs {
			seen[end{id, r.Type, r.Target.NodeID, r.Forward}]++
		}
	}
	for e, n := range seen {
		if e.to.Namespace() == 99 {
			continue
		}
		if n != 1 || seen[end{e.to, e.kind, e.from, !e.forward}] != 1 {
			t.Errorf("the reference %v --%v--> %v (forward %v) is there %d times, its inverse %d times",
				e.from, e.kind, e.to, e.forward, n, seen[end{e.to, e.kind, e.from, !e.forward}])
		}
		if s.Node(e.to) == nil {
			t.Errorf("%v has a reference to %v, which is not there", e.from, e.to)
		}
	}
	if len(all) != s.Len() {
		t.Errorf("%d nodes can be reached, the Space has %d", len(all), s.Len())
	}
}

// Subtrees come and go while clients browse, read, write, call and translate paths: nothing breaks,
// nothing leads to what was removed, and the memory comes back.
func TestNodesComeAndGoUnderClients(t *testing.T) {
	space := memspace.New("urn:test:plant")
	plant := space.AddFolder(space.Objects(), "Plant", memspace.WithNodeVersion())
	hub := space.AddFolder(space.Objects(), "Hub")
	steady := fill(space, plant, 50)
	ctx, client := serve(t, space, "urn:test:app")
	nodes := space.Len()

	const workers = 3
	rounds := 60
	if !memspace.RaceEnabled {
		rounds = 200
	}
	var stop atomic.Bool
	var clients, workersDone sync.WaitGroup
	names := make(chan ua.NodeID, 64) // nodes that are there or were
	for w := range workers {
		workersDone.Go(func() {
			for i := range rounds {
				root, ids := subtree(space, plant, fmt.Sprintf("Machine%d-%d", w, i%7), hub.ID())
				if root.Err() != nil {
					t.Error(root.Err())
					return
				}
				for _, id := range ids {
					select {
					case names <- id:
					default:
					}
				}
				if i%2 == 0 { // the parts go first, and with them what they have
					for _, id := range ids[1:] {
						if n := space.Node(id); n != nil && i%4 == 0 {
							if err := space.Remove(n); err != nil {
								t.Error(err)
							}
						}
					}
				}
				if err := space.Remove(root); err != nil {
					t.Error(err)
				}
				for _, id := range ids {
					if space.Node(id) != nil {
						t.Errorf("%v is still there", id)
					}
				}
			}
		})
	}
	during := func(what string, err error, allowed ...ua.StatusCode) {
		if err == nil {
			return
		}
		for _, s := range allowed {
			if errors.Is(err, s) {
				return
			}
		}
		t.Errorf("%s: %v", what, err)
	}
	work := func(f func(id ua.NodeID)) {
		clients.Go(func() {
			for !stop.Load() {
				select {
				case id := <-names:
					f(id)
				default:
					f(steady[0].ID())
				}
			}
		})
	}
	work(func(id ua.NodeID) {
		values, err := client.ReadValues(ctx, id, steady[0].ID(), id)
		during("read", err)
		if len(values) == 3 && values[1].Status != ua.Good {
			t.Errorf("a node that stays: %v", values[1].Status)
		}
		during("write", client.WriteValue(ctx, id, ua.Double(1)), ua.BadNodeIdUnknown, ua.BadNotWritable, ua.BadAttributeIdInvalid, ua.BadTypeMismatch)
	})
	work(func(id ua.NodeID) {
		for r, err := range client.References(ctx, id, uaclient.BrowseOptions{AllReferences: true, Direction: ua.BrowseDirectionBoth, PageSize: 3}) {
			if during("browse", err, ua.BadNodeIdUnknown); err == nil && r.NodeID.IsNull() {
				t.Error("a reference to nothing")
			}
		}
	})
	work(func(ua.NodeID) {
		seen := map[ua.NodeID]bool{}
		for r, err := range client.References(ctx, plant.ID(), uaclient.BrowseOptions{PageSize: 11}) {
			during("browse the plant", err)
			seen[r.NodeID.NodeID] = true
		}
		for _, v := range steady {
			if !seen[v.ID()] {
				t.Errorf("%v stays and was not seen", v.ID())
			}
		}
	})
	work(func(id ua.NodeID) {
		_, err := client.ResolvePath(ctx, "/Objects/Plant/Machine0-1/Part2/V3/EURange")
		during("translate", err, ua.BadNoMatch)
		_, err = client.CallMethod(ctx, id, id)
		during("call", err, ua.BadMethodInvalid, ua.BadNodeIdUnknown)
		_, err = client.CallMethod(ctx, ua.NewStringNodeID(space.Namespace(), "Plant.Machine1-1"), ua.NewStringNodeID(space.Namespace(), "Plant.Machine1-1.Go"))
		during("call", err, ua.BadMethodInvalid, ua.BadNodeIdUnknown)
	})
	workersDone.Wait()
	stop.Store(true)
	clients.Wait()
	if err := space.Err(); err != nil {
		t.Error(err)
	}
	if n := space.Len(); n != nodes {
		t.Errorf("%d nodes, %d at first", n, nodes)
	}
	coherent(t, space)
	if d, err := client.ReadValue(ctx, ua.NewStringNodeID(space.Namespace(), "Plant.Machine0-1.Part1")); !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Errorf("a node that was removed: %v %v", d, err)
	}
}

// Half of a plant is removed: what stays is coherent.
func TestRemovingLeavesNoLooseEnds(t *testing.T) {
	space := memspace.New("urn:test:plant")
	hub := space.AddFolder(space.Objects(), "Hub")
	kind := space.AddType(space.Node(ua.ID(uaid.BaseObjectType)), "Kind")
	sub := space.AddType(kind, "SubKind")
	instance := space.AddObject(space.Objects(), "Instance", memspace.WithTypeDefinition(kind.ID()))
	var roots []*memspace.Node
	for i := range 20 {
		root, _ := subtree(space, space.Objects(), fmt.Sprint("M", i), hub.ID())
		roots = append(roots, root)
	}
	coherent(t, space)
	for i, root := range roots {
		if i%2 == 0 {
			if err := space.Remove(root); err != nil {
				t.Fatal(err)
			}
		}
	}
	coherent(t, space)
	if err := space.Remove(kind); err != nil {
		t.Fatal(err)
	}
	if space.IsSubtype(sub.ID(), ua.ID(uaid.BaseObjectType)) {
		t.Error("a subtype of a type that was removed is still one of its supertype")
	}
	items := []uaserver.DescribeItem{{NodeID: instance.ID()}}
	if space.Describe(nil, items); !items[0].TypeDefinition.IsNull() || items[0].Class != ua.NodeClassObject {
		t.Errorf("the type that was removed is told: %+v", items[0])
	}
}

// The memory of nodes that come and go does not grow.
func TestMemoryReturns(t *testing.T) {
	space := memspace.New("urn:test:plant")
	hub := space.AddFolder(space.Objects(), "Hub")
	turn := func(n int) {
		var roots []*memspace.Node
		for i := range n {
			root, _ := subtree(space, space.Objects(), fmt.Sprint("M", i), hub.ID())
			roots = append(roots, root)
		}
		for _, r := range roots {
			if err := space.Remove(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	turn(100)
	before := used()
	for range 10 {
		turn(100)
	}
	if after := used(); after > before+256<<10 {
		t.Errorf("%d bytes after ten turns more, %d before", after, before)
	}
	turn(2000) // 100,000 nodes
	if after := used(); after > before+1<<20 {
		t.Errorf("%d bytes after a large turn, %d before", after, before)
	}
	if err := space.Err(); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(space)
}
