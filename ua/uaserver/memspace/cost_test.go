package memspace

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// hundred are 100 known variables, and a Read and a Write of them.
func hundred(s *Space, options ...Option) (vars []*Variable, reads []uaserver.ReadItem, writes []uaserver.WriteItem) {
	values, statuses := make([]ua.DataValue, 100), make([]ua.StatusCode, 100)
	for i := range 100 {
		opts := append(options, Writable())
		if i%2 == 0 {
			opts = append(opts, WithNodeID(ua.NewNodeID(2, uint32(1000+i))))
		}
		v := s.AddVariable(s.Objects(), fmt.Sprint("v", i), ua.Double(0), opts...)
		vars = append(vars, v)
		reads = append(reads, uaserver.ReadItem{NodeID: v.ID(), Attribute: ua.AttributeValue, Result: &values[i]})
		writes = append(writes, uaserver.WriteItem{NodeID: v.ID(), Attribute: ua.AttributeValue,
			Value: &ua.DataValue{Value: ua.Double(1)}, Result: &statuses[i]})
	}
	return vars, reads, writes
}

// Steady state: Read, Write and Set allocate nothing, with and without callbacks.
func TestAllocations(t *testing.T) {
	s := newSpace(t)
	vars, reads, writes := hundred(s)
	called := 0
	o := newSpace(t)
	_, asks, offers := hundred(o, NonBlocking(),
		OnWrite(func(Write) ua.StatusCode { called++; return ua.Good }),
		OnRead(func(Read) ua.DataValue { return ua.DataValue{Value: ua.Double(1)} }))
	ctx := session("")
	page := uaserver.BrowseItem{NodeID: s.Objects().ID(), References: make([]uaserver.Reference, 0, 200)}
	for name, f := range map[string]func(){
		"Read of 100":  func() { s.Read(ctx, reads) },
		"Write of 100": func() { s.Write(ctx, writes) },
		"Set": func() {
			if vars[0].Set(ua.Double(3)) != nil || vars[1].Set(ua.Int32(1)) == nil {
				t.Error("Set")
			}
		},
		"Browse": func() {
			page.References = page.References[:0]
			s.Browse(ctx, &page)
		},
		"IsSubtype": func() { s.IsSubtype(ua.ID(uaid.Duration), ua.ID(uaid.Number)) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for i := range writes {
		if *writes[i].Result != ua.Good || reads[i].Result.Status != ua.Good {
			t.Fatal("a Read or Write was not good")
		}
	}
	for name, f := range map[string]func(){
		"OnRead of 100":  func() { o.Read(ctx, asks) },
		"OnWrite of 100": func() { o.Write(ctx, offers) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

const variables = 100_000

func manyVariables(s *Space) *Node {
	f := s.AddFolder(s.Objects(), "Many", WithNodeID(ua.NewNodeID(2, 1)))
	for i := range variables {
		s.AddVariable(f, fmt.Sprint("Variable", i), ua.Double(0), WithNodeID(ua.NewNodeID(2, uint32(100+i))), Writable())
	}
	return f
}

// The memory of a variable, all of it: node, value, references at both ends, name and place in the
// table.
func TestBytesPerVariable(t *testing.T) {
	s := newSpace(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	manyVariables(s)
	runtime.GC()
	runtime.ReadMemStats(&after)
	bytes := float64(after.HeapAlloc-before.HeapAlloc) / variables
	t.Logf("%.0f bytes a variable", bytes)
	if bytes > 600 {
		t.Errorf("%.0f bytes a variable, more than 600", bytes)
	}
	runtime.KeepAlive(s)
}

func BenchmarkBytesPerVariable(b *testing.B) {
	for b.Loop() {
		s := New(testURI)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		manyVariables(s)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/variables, "B/variable")
		runtime.KeepAlive(s)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/variables, "ns/variable")
}

func BenchmarkRead100(b *testing.B) {
	s := New(testURI)
	_, reads, _ := hundred(s)
	ctx := session("")
	b.ReportAllocs()
	for b.Loop() {
		s.Read(ctx, reads)
	}
}

func BenchmarkWrite100(b *testing.B) {
	s := New(testURI)
	_, _, writes := hundred(s)
	ctx := session("")
	b.ReportAllocs()
	for b.Loop() {
		s.Write(ctx, writes)
	}
}

func BenchmarkSet(b *testing.B) {
	s := New(testURI)
	v := s.AddVariable(s.Objects(), "v", ua.Double(0))
	b.ReportAllocs()
	for b.Loop() {
		_ = v.Set(ua.Double(1))
	}
}

// BenchmarkBrowsePages browses a folder of 100,000 children in pages of 1000.
func BenchmarkBrowsePages(b *testing.B) {
	s := New(testURI)
	f := manyVariables(s)
	ctx := session("")
	refs := make([]uaserver.Reference, 0, 1000)
	b.ReportAllocs()
	for b.Loop() {
		item := uaserver.BrowseItem{NodeID: f.id, ReferenceType: ua.ID(uaid.HierarchicalReferences), IncludeSubtypes: true, Max: 1000}
		for {
			item.References = refs
			s.Browse(ctx, &item)
			if item.Cursor == 0 {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/variables, "ns/reference")
}

// BenchmarkRemove removes and adds a child of a folder of 100,000.
func BenchmarkRemove(b *testing.B) {
	s := New(testURI)
	f := manyVariables(s)
	i := 0
	for b.Loop() {
		id := ua.NewNodeID(2, uint32(100+i%variables))
		_ = s.Remove(s.Node(id))
		s.AddVariable(f, "again", ua.Double(0), WithNodeID(id))
		i += 7919
	}
}
