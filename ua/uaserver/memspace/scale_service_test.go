package memspace_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// pager follows the pages of a folder's components by hand.
type pager struct {
	t      *testing.T
	ctx    context.Context
	client *uaclient.Client
	node   ua.NodeID
	max    uint32
	point  []byte
	begun  bool
}

// next is one page; false when it is the last.
func (p *pager) next() ([]ua.ReferenceDescription, bool) {
	p.t.Helper()
	var results []ua.BrowseResult
	if !p.begun {
		p.begun = true
		resp, err := p.client.Browse(p.ctx, &ua.BrowseRequest{RequestedMaxReferencesPerNode: p.max, NodesToBrowse: []ua.BrowseDescription{{
			NodeID: p.node, ReferenceTypeID: ua.ID(uaid.HasComponent), IncludeSubtypes: true, ResultMask: uint32(ua.BrowseResultMaskAll),
		}}})
		if err != nil {
			p.t.Fatal(err)
		}
		results = resp.Results
	} else {
		resp, err := p.client.BrowseNext(p.ctx, &ua.BrowseNextRequest{ContinuationPoints: [][]byte{p.point}})
		if err != nil {
			p.t.Fatal(err)
		}
		results = resp.Results
	}
	if r := results[0]; r.StatusCode != ua.Good || len(r.References) > int(p.max) {
		p.t.Fatalf("%v with %d references", r.StatusCode, len(r.References))
	}
	p.point = results[0].ContinuationPoint
	return results[0].References, len(p.point) > 0
}

func fill(s *memspace.Space, f *memspace.Node, n int) (list []*memspace.Variable) {
	for i := range n {
		list = append(list, s.AddVariable(f, fmt.Sprintf("Child%06d", i), ua.Double(0)))
	}
	return list
}

// P11: a page of a folder of 100,000 children costs what one of a small folder costs, in memory and in
// time, at the end as at the beginning, and the walk sees each child once.
func TestP11PagesThroughTheServer(t *testing.T) {
	const size, page, turns = 100_000, 100, 200
	space := memspace.New("urn:test:plant")
	small := space.AddFolder(space.Objects(), "Small")
	large := space.AddFolder(space.Objects(), "Large")
	fill(space, small, 2*page)
	fill(space, large, size)
	ctx, client := serve(t, space, "urn:test:app")
	var p *pager
	begin := func(f *memspace.Node) { p = &pager{t: t, ctx: ctx, client: client, node: f.ID(), max: page} }

	// cost is what a page takes, in bytes on both sides of the connection and in time.
	cost := func(turn func()) (bytes uint64, median time.Duration) {
		var before, after runtime.MemStats
		times := make([]time.Duration, turns)
		runtime.ReadMemStats(&before)
		for i := range times {
			start := time.Now()
			turn()
			times[i] = time.Since(start)
		}
		runtime.ReadMemStats(&after)
		slices.Sort(times)
		return (after.TotalAlloc - before.TotalAlloc) / turns, times[turns/2]
	}
	begin(small)
	again := func() {
		if _, more := p.next(); !more {
			begin(small)
		}
	}
	cost(again) // to warm up
	smallBytes, smallTime := cost(again)

	seen := make(map[ua.NodeID]bool, 2*size) // it is not to grow while bytes are counted
	begin(large)
	walk := func() {
		refs, _ := p.next()
		for _, r := range refs {
			if seen[r.NodeID.NodeID] {
				t.Fatalf("%v came twice", r.NodeID)
			}
			seen[r.NodeID.NodeID] = true
		}
	}
	firstBytes, firstTime := cost(walk)
	for len(seen) < size-turns*page {
		walk()
	}
	lastBytes, lastTime := cost(walk)
	if len(seen) != size || len(p.point) != 0 {
		t.Errorf("%d children were seen of %d, and the last point is %x", len(seen), size, p.point)
	}
	t.Logf("a page of %d: %d bytes and %v of a small folder; %d bytes and %v, %d bytes and %v of a large one",
		page, smallBytes, smallTime, firstBytes, firstTime, lastBytes, lastTime)
	for what, x := range map[string]struct {
		bytes uint64
		time  time.Duration
	}{"first": {firstBytes, firstTime}, "last": {lastBytes, lastTime}} {
		if !memspace.RaceEnabled && x.bytes > smallBytes+smallBytes/4+1024 { // with it pools forget
			t.Errorf("the %s pages take %d bytes in a folder of %d children, %d in one of %d", what, x.bytes, size, smallBytes, 2*page)
		}
		if x.time > 5*smallTime+time.Millisecond {
			t.Errorf("the %s pages take %v in a folder of %d children, %v in one of %d", what, x.time, size, smallTime, 2*page)
		}
	}
}

// Children come and go between the pages: none is seen twice, those that stay are all seen, and one that
// was removed is not seen afterwards.
func TestPagesWhileChildrenComeAndGo(t *testing.T) {
	const size, page = 20_000, 100
	space := memspace.New("urn:test:plant")
	f := space.AddFolder(space.Objects(), "F")
	list := fill(space, f, size)
	ctx, client := serve(t, space, "urn:test:app")
	p := &pager{t: t, ctx: ctx, client: client, node: f.ID(), max: page}
	seen, gone := map[ua.NodeID]bool{}, map[ua.NodeID]bool{}
	added := 0
	for turn := 0; ; turn++ {
		refs, more := p.next()
		for _, r := range refs {
			id := r.NodeID.NodeID
			switch {
			case seen[id]:
				t.Fatalf("%v came twice", id)
			case gone[id]:
				t.Fatalf("%v was removed before", id)
			case r.BrowseName.Name == "" || r.NodeClass != ua.NodeClassVariable || r.TypeDefinition.IsNull():
				t.Fatalf("an incomplete child: %+v", r)
			}
			seen[id] = true
		}
		if !more {
			break
		}
		// Some in front of the place, some behind, and so many in a row that the list is made anew.
		for i := turn % 7; i < size; i += 97 + turn {
			if v := list[i]; v != nil && i%3 != 0 {
				if err := space.Remove(v); err != nil {
					t.Fatal(err)
				}
				gone[v.ID()], list[i] = true, nil
			}
		}
		if turn < 100 {
			for range 20 {
				space.AddVariable(f, fmt.Sprint("New", added), ua.Double(0))
				added++
			}
		}
	}
	stayed := 0
	for _, v := range list {
		if v != nil {
			if stayed++; !seen[v.ID()] {
				t.Fatalf("%v stayed and was not seen", v.ID())
			}
		}
	}
	if len(gone) < size/3 || stayed < size/3 {
		t.Fatalf("%d were removed, %d stayed: that is no test", len(gone), stayed)
	}
}
