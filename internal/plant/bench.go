package plant

import (
	"strconv"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// CounterPeriod is how often the counters of the bench nodes change.
const CounterPeriod = 10 * time.Millisecond

// benchBlock is a folder of variables with consecutive numeric ids.
type benchBlock struct {
	folder  uint32 // its id
	name    string // of the folder; the variables are Name0, Name1 and so on
	first   uint32
	count   uint32
	value   ua.Variant
	options []memspace.Option
}

// BuildBench adds what a load generator drives, below Objects and in the first namespace of the space:
//
//   - i=500, a folder of the Int32 variables i=1000 to 1099
//   - i=501 and i=502, folders of the Double variables i=2000 to 2099 and i=3000 to 3999
//   - i=503, a folder of the UInt32 variables i=10000 to 13999, which change each CounterPeriod
//   - i=504, a folder of the Double variables i=100000 to 199999
//
// All but the counters may be written. A counter is computed when it is asked for, so that they cost
// nothing while nobody does.
func BuildBench(space *memspace.Space) error {
	writable := []memspace.Option{memspace.Writable()}
	for _, b := range []benchBlock{
		{500, "Integers", 1000, 100, ua.Int32(0), writable},
		{501, "Doubles", 2000, 100, ua.Double(0), writable},
		{502, "MoreDoubles", 3000, 1000, ua.Double(0), writable},
		{503, "Counters", 10_000, 4000, ua.UInt32(0), []memspace.Option{
			memspace.OnRead(counter), memspace.NonBlocking(), memspace.WithSampling(float64(CounterPeriod.Milliseconds())),
		}},
		{504, "ManyDoubles", 100_000, 100_000, ua.Double(0), writable},
	} {
		b.add(space)
	}
	return space.Err()
}

func (b *benchBlock) add(space *memspace.Space) {
	ns := space.Namespace()
	folder := space.AddFolder(space.Objects(), b.name, memspace.WithNodeID(ua.NewNodeID(ns, b.folder)))
	options := append([]memspace.Option{nil}, b.options...)
	for i := range b.count {
		options[0] = memspace.WithNodeID(ua.NewNodeID(ns, b.first+i))
		space.AddVariable(folder, b.name+strconv.Itoa(int(i)), b.value, options...)
	}
}

// counter counts the periods, as of the last one's begin.
func counter(r memspace.Read) ua.DataValue {
	const period = int64(CounterPeriod / 100) // DateTime counts 100 ns
	n := int64(r.Context.Now) / period
	return ua.DataValue{Value: ua.UInt32(uint32(n)), SourceTimestamp: ua.DateTime(n * period)}
}
