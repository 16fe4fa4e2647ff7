package memspace

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

func translate(s *Space, from ua.NodeID, name string) (list []ua.NodeID) {
	it := uaserver.TranslateItem{NodeID: from, Element: &ua.RelativePathElement{TargetName: ua.QualifiedName{NamespaceIndex: 2, Name: name}}}
	s.Translate(session(""), &it)
	for _, t := range it.Targets {
		list = append(list, t.NodeID)
	}
	return list
}

// P11: a browse path through a folder with many children is followed as fast as through a small one.
func TestP11PathsThroughLargeFolders(t *testing.T) {
	small, large := newSpace(t), newSpace(t)
	manyNamed(small, 0, 20, small.AddFolder(small.Objects(), "Many"))
	manyNamed(large, 0, 50_000, large.AddFolder(large.Objects(), "Many"))
	find := func(s *Space, size int) time.Duration {
		return timed(50, func(int) {
			for range 10 {
				n := rand.IntN(size)
				want := ua.NewNodeID(2, uint32(n))
				if n%2 == 1 {
					want = ua.NewStringNodeID(2, fmt.Sprint("Many.Variable", n))
				}
				if got := translate(s, ua.NewStringNodeID(2, "Many"), fmt.Sprint("Variable", n)); len(got) != 1 || got[0] != want {
					t.Fatal(n, got)
				}
			}
		})
	}
	flat(t, "ten paths", 8, func() (time.Duration, time.Duration) { return find(small, 20), find(large, 50_000) })
}

// Whatever comes and goes, with an index or without, paths lead to what a search through all references
// finds: several nodes of one name, too.
func TestPathsAgreeWithAllReferences(t *testing.T) {
	s := newSpace(t)
	f := s.AddFolder(s.Objects(), "F")
	random := rand.New(rand.NewPCG(1, 2))
	children := map[*Node]bool{}
	next := uint32(1)
	for step := range 6000 {
		grow := step < 2500 || step > 4500 // below and above indexedFrom, and back
		switch r := random.IntN(10); {
		case r < 7 == grow:
			name := fmt.Sprint("N", random.IntN(400))
			n := s.AddFolder(f, name, WithNodeID(ua.NewNodeID(2, next)))
			if next++; n.Err() != nil {
				t.Fatal(n.Err())
			}
			children[n] = true
		case r == 9:
			if err := s.AddReference(f.id, ua.ID(uaid.Organizes), ua.NewNodeID(88, next)); err != nil {
				t.Fatal(err)
			}
			next++
		default:
			for n := range children {
				if err := s.Remove(n); err != nil {
					t.Fatal(err)
				}
				delete(children, n)
				break
			}
		}
		name := fmt.Sprint("N", random.IntN(400))
		want := map[ua.NodeID]bool{}
		for n := range children {
			if n.name.Name == name {
				want[n.id] = true
			}
		}
		got := translate(s, f.id, name)
		if len(got) != len(want) {
			t.Fatalf("step %d with %d children: %s leads to %v, want %v", step, len(children), name, got, want)
		}
		for _, id := range got {
			if !want[id] {
				t.Fatalf("step %d: %s leads to %v, want %v", step, name, got, want)
			}
		}
	}
	if err := s.Attach(nil, []uint16{0, 7}); err != nil {
		t.Fatal(err)
	}
	for n := range children {
		it := uaserver.TranslateItem{NodeID: f.id, Element: &ua.RelativePathElement{TargetName: n.name}}
		if s.Translate(session(""), &it); len(it.Targets) == 0 {
			t.Fatalf("%v is not found with the indexes of the server", n.name)
		}
	}
}
