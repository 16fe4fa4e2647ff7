package plant

import (
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func readAt(s *memspace.Space, id uint32, now ua.DateTime) (d ua.DataValue) {
	ctx := asker()
	ctx.Now = now
	s.Read(ctx, []uaserver.ReadItem{{NodeID: ua.NewNodeID(s.Namespace(), id), Attribute: ua.AttributeValue, Result: &d}})
	return d
}

func TestBenchNodes(t *testing.T) {
	s := memspace.New("urn:bench")
	before := s.Len()
	if err := BuildBench(s); err != nil {
		t.Fatal(err)
	}
	if got := s.Len() - before; got != 5+100+100+1000+4000+100_000 {
		t.Errorf("%d nodes", got)
	}
	for _, c := range []struct {
		first, last uint32
		typ         ua.BuiltInType
		writable    bool
	}{
		{1000, 1099, ua.TypeInt32, true}, {2000, 2099, ua.TypeDouble, true}, {3000, 3999, ua.TypeDouble, true},
		{10_000, 13_999, ua.TypeUInt32, false}, {100_000, 199_999, ua.TypeDouble, true},
	} {
		for _, id := range []uint32{c.first, c.last} {
			v := s.Variable(ua.NewNodeID(s.Namespace(), id))
			if v == nil || v.Get().Type() != c.typ {
				t.Errorf("i=%d is %v", id, v)
				continue
			}
			if got := write(s, v, v.Get()); got.IsGood() != c.writable {
				t.Errorf("write of i=%d: %v", id, got)
			}
		}
		for _, id := range []uint32{c.first - 1, c.last + 1} {
			if s.Node(ua.NewNodeID(s.Namespace(), id)) != nil {
				t.Errorf("there is a node i=%d", id)
			}
		}
	}
}

// A counter is one higher each 10 ms, and is the same in between.
func TestBenchCounters(t *testing.T) {
	s := memspace.New("urn:bench")
	if err := BuildBench(s); err != nil {
		t.Fatal(err)
	}
	const start, ms = ua.DateTime(133_485_408_000_000_000), ua.DateTime(10_000)
	first := readAt(s, 10_000, start)
	for _, c := range []struct {
		after ua.DateTime
		want  uint64
	}{{9 * ms, 0}, {10 * ms, 1}, {19 * ms, 1}, {1000 * ms, 100}} {
		d := readAt(s, 10_000, start+c.after)
		if got := d.Value.Uint() - first.Value.Uint(); got != c.want || d.SourceTimestamp != start+ua.DateTime(c.want)*10*ms {
			t.Errorf("after %d ms: %d higher, source time %v", c.after/ms, got, d.SourceTimestamp)
		}
	}
}

func BenchmarkBuildBench(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := BuildBench(memspace.New("urn:bench")); err != nil {
			b.Fatal(err)
		}
	}
}
