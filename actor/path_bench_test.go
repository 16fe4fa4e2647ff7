package actor

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Results go to variables of the package, so that nothing is dropped or kept on the stack.
var pathSink struct {
	path    Path
	string  string
	bytes   []byte
	bool    bool
	int     int
	hash    uint64
	err     error
	strings []string
}

// benchUIDs are those of Akka.NET's benchmark, and none.
var benchUIDs = []int32{0, 1, 100000, 2147483647}

func mustAddress(t testing.TB, s string) Address {
	t.Helper()
	a, err := ParseAddress(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustPath(t testing.TB, s string) Path {
	t.Helper()
	p, err := ParsePath(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// BenchmarkPath has the methods and values of Akka.NET's ActorPathBenchmarks, and our Append forms.
func BenchmarkPath(b *testing.B) {
	root := RootPath(mustAddress(b, "akka.tcp://system@127.0.0.1:1337"))
	root2 := RootPath(mustAddress(b, strings.Clone("akka.tcp://system@127.0.0.1:1337")))
	other := mustAddress(b, "akka.tcp://system@127.0.0.1:1338")
	user, system := root.Child("user"), root2.Child("system")
	for _, uid := range benchUIDs {
		child := root.Child("parent").Child("child").WithUID(uid)
		twin := mustPath(b, child.SerializationFormat())
		text := child.SerializationFormat()
		upper := strings.Replace(text, "akka", "AKKA", 1)
		dst := make([]byte, 0, 128)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"Parse", func() { pathSink.path, pathSink.err = ParsePath(text) }},
			{"ParseUpper", func() { pathSink.path, pathSink.err = ParsePath(upper) }},
			{"Concat", func() { pathSink.path = root.Child("parent").Child("child") }},
			{"Concat4", func() { pathSink.path = root.Child("user").Child("a").Child("b").Child("c") }},
			{"EqualsRoots", func() { pathSink.bool = root.Equal(root2) }},
			{"EqualsUserSystem", func() { pathSink.bool = user.Equal(system) }},
			{"EqualsChild", func() { pathSink.bool = child.Equal(twin) }},
			{"ToString", func() { pathSink.string = child.String() }},
			{"ToSerializationFormat", func() { pathSink.string = child.SerializationFormat() }},
			{"ToSerializationFormatWithAddress", func() { pathSink.string = child.SerializationFormatWithAddress(other) }},
			{"AppendString", func() { pathSink.bytes = child.Append(dst[:0]) }},
			{"AppendSerializationFormat", func() { pathSink.bytes = child.AppendSerializationFormat(dst[:0]) }},
			{"AppendSerializationFormatWithAddress", func() { pathSink.bytes = child.AppendSerializationFormatWithAddress(dst[:0], other) }},
			{"Hash", func() { pathSink.hash = child.Hash() }},
			{"Compare", func() { pathSink.int = child.Compare(twin) }},
			{"Elements", func() { pathSink.strings = child.Elements() }},
		} {
			b.Run(c.name+"/uid="+strconv.Itoa(int(uid)), func(b *testing.B) {
				b.ReportAllocs()
				f := c.f
				for b.Loop() {
					f()
				}
			})
		}
	}
}

// BenchmarkWire renders the wire form of "/user/foo/bar" in the ways there are: naive, fresh from the
// parts a local reference keeps, as a cached prefix and digits, and as a copy of the cached whole.
func BenchmarkWire(b *testing.B) {
	a := mustAddress(b, "akka.tcp://sys@127.0.0.1:8080")
	elements := strings.Clone("/user/foo/bar")
	dst := make([]byte, 0, 128)
	for _, uid := range benchUIDs[1:] {
		prefix := makePath(a, elements, 0).Append(nil)
		whole := makePath(a, elements, uid).AppendSerializationFormat(nil)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"naive", func() {
				pathSink.bytes = []byte(fmt.Sprintf("%s://%s@%s:%d/%s#%d", a.Protocol(), a.System(), a.Host(), a.Port(), strings.Join([]string{"user", "foo", "bar"}, "/"), uid))
			}},
			{"fresh", func() { pathSink.bytes = makePath(a, elements, uid).AppendSerializationFormat(dst[:0]) }},
			{"prefix", func() { pathSink.bytes = appendUID(append(dst[:0], prefix...), uid) }},
			{"cached", func() { pathSink.bytes = append(dst[:0], whole...) }},
		} {
			b.Run(c.name+"/uid="+strconv.Itoa(int(uid)), func(b *testing.B) {
				b.ReportAllocs()
				f := c.f
				for b.Loop() {
					f()
				}
			})
		}
	}
}
