package memspace

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// Nodes come and go, values change and methods run while clients browse, read and write.
func TestConcurrentUse(t *testing.T) {
	s := newSpace(t)
	f := s.AddFolder(s.Objects(), "F")
	var fixed []*Variable
	for i := range 100 {
		fixed = append(fixed, s.AddVariable(f, fmt.Sprint("fixed", i), ua.Double(0), Writable()))
	}
	matrix := s.AddVariable(f, "array", ua.Array(make([]int32, 10)), Writable())
	m := s.AddMethod(f, "M", Func1(func(c Call, x float64) (float64, error) { return x, fixed[0].Set(ua.Double(x)) }, "x", "y"))
	const rounds = 300
	var stop atomic.Bool
	var writers, readers sync.WaitGroup
	work := func(g *sync.WaitGroup, f func(i int)) {
		g.Go(func() {
			for i := 0; i < rounds || g == &readers && !stop.Load(); i++ {
				f(i)
			}
		})
	}
	for g := range 2 {
		work(&writers, func(i int) {
			v := s.AddVariable(f, fmt.Sprint("v", g, "-", i), ua.Int32(int32(i)), WithRange(0, 1))
			_ = v.Set(ua.Int32(1))
			if i%3 != 0 {
				if err := s.Remove(v); err != nil {
					t.Error(err)
				}
			}
		})
		work(&writers, func(i int) { _ = fixed[i%100].Set(ua.Double(float64(i))) })
		work(&writers, func(i int) { writeRange(s, matrix.ID(), "3", ua.DataValue{Value: ua.Array([]int32{int32(i)})}) })
		work(&writers, func(i int) { call(s, f.ID(), m.ID(), ua.Double(1)) })
		work(&writers, func(i int) { write(s, fixed[i%100].ID(), ua.Double(2)); f.SetDescription(ua.Text("x")) })
	}
	work(&readers, func(int) {
		seen := map[ua.NodeID]bool{}
		found := 0
		for _, r := range browseAll(t, s, uaserver.BrowseItem{NodeID: f.id, ReferenceType: ua.ID(uaid.HasComponent), Max: 7}) {
			if seen[r.Target.NodeID] {
				t.Errorf("%v came twice", r.Target)
			}
			seen[r.Target.NodeID] = true
		}
		for _, v := range fixed {
			if seen[v.id] {
				found++
			}
		}
		expect(t, "children that stay", found, 100)
	})
	work(&readers, func(i int) {
		for a := ua.AttributeNodeID; a <= ua.AttributeAccessLevelEx; a++ {
			read(s, fixed[i%100].ID(), a)
			read(s, ua.NewStringNodeID(2, fmt.Sprint("F.v0-", i%rounds)), a)
		}
		s.IsSubtype(ua.ID(uaid.Duration), ua.ID(uaid.Number))
	})
	writers.Wait()
	stop.Store(true)
	readers.Wait()
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}
