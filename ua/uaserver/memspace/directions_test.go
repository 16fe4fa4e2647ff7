package memspace

import (
	"fmt"
	"slices"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// Pages of any size in any direction give what one page gives, the forward references first.
func TestPagesInAllDirections(t *testing.T) {
	s := newSpace(t)
	hub := s.AddFolder(s.Objects(), "Hub")
	for i := range 40 {
		n := s.AddFolder(s.Objects(), fmt.Sprint("N", i))
		for j, err := range []error{
			s.AddReference(n.id, ua.ID(uaid.Organizes), hub.id),
			s.AddReference(hub.id, ua.ID(uaid.Organizes), n.id),
			s.AddReference(hub.id, ua.ID(uaid.HasEventSource), n.id),
		} {
			if err != nil {
				t.Fatal(i, j, err)
			}
		}
	}
	if err := s.AddReference(hub.id, ua.ID(uaid.Organizes), hub.id); err != nil {
		t.Fatal(err)
	}
	for _, d := range []ua.BrowseDirection{ua.BrowseDirectionForward, ua.BrowseDirectionInverse, ua.BrowseDirectionBoth} {
		for _, kind := range []ua.NodeID{{}, ua.ID(uaid.Organizes), ua.ID(uaid.HasTypeDefinition)} {
			item := uaserver.BrowseItem{NodeID: hub.id, Direction: d, ReferenceType: kind, IncludeSubtypes: true}
			all := browseAll(t, s, item)
			if len(all) == 0 && (d != ua.BrowseDirectionInverse || kind != ua.ID(uaid.HasTypeDefinition)) {
				t.Errorf("direction %v, type %v: no references", d, kind)
			}
			first := slices.IndexFunc(all, func(r uaserver.Reference) bool { return !r.Forward })
			if first >= 0 && slices.ContainsFunc(all[first:], func(r uaserver.Reference) bool { return r.Forward }) {
				t.Errorf("direction %v, type %v: a forward reference behind an inverse one", d, kind)
			}
			for size := 1; size < 90; size++ {
				page := item
				page.Max = size
				var got []uaserver.Reference
				for turn := 0; turn == 0 || page.Cursor != 0; turn++ {
					if page.References = nil; turn > len(all) {
						t.Fatalf("direction %v, type %v: pages of %d do not end", d, kind, size)
					}
					s.Browse(session(""), &page)
					got = append(got, page.References...)
				}
				if !slices.Equal(got, all) {
					t.Fatalf("direction %v, type %v: pages of %d give %d references, want %d", d, kind, size, len(got), len(all))
				}
			}
		}
	}
}
