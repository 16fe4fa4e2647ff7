package actor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestPathMalformed(t *testing.T) {
	for _, c := range []struct {
		text, reason string
		offset       int
	}{
		{"", "no \"://\"", 0},
		{"://hallo", "does not start with \"akka\"", 0},
		{"s://dd@:12", "does not start with \"akka\"", 0},
		{"s://dd@h:hd", "does not start with \"akka\"", 0},
		{"a://l:1/b", "does not start with \"akka\"", 1},
		{"akka:/", "not followed by \"://\"", 4},
		{"/user/a", "not the start of an absolute path", 0},
		{"user/a", "does not start with \"akka\"", 0},
		{"akka://sys@host/x", "port is missing", 15},
		{"akka://sys@host:/x", "port is missing", 16},
		{"akka://dd@:12/x", "host is missing", 10},
		{"akka://dd@h:hd/x", "port is not a number", 12},
		{"akka://sys@h:70000/x", "above 65535", 13},
		{"akka:///user", "system's name is missing", 7},
		{"akka://sys#1", "'#' before the path", 10},
		{"akka://sys/a#", "uid after '#' is missing", 13},
		{"akka://sys/a#-", "uid after '#' is missing", 13},
		{"akka://sys/a#x", "not a decimal number", 13},
		{"akka://sys/a#1x", "not a decimal number", 14},
		{"akka://sys/a# 1", "not a decimal number", 13},
		{"akka://sys/a#+1", "not a decimal number", 13},
		{"akka://sys/a#0x1", "not a decimal number", 14},
		{"akka://sys/a#1#2", "not a decimal number", 14},
		{"akka://sys/a#٣", "not a decimal number", 13},
		{"akka://sys/a#2147483648", "does not fit", 13},
		{"akka://sys/a#-2147483649", "does not fit", 13},
		{"akka://sys/a#4294967297", "does not fit", 13},
		{"akka://sys/a#99999999999999999999999999", "does not fit", 13},
		{"akka://sys/a#1/b", "'#' before the last element", 12},
		{"akka://sys/a#x/b", "'#' before the last element", 12},
		{"akka://sys/a#1/", "'#' before the last element", 12},
	} {
		p, err := ParsePath(c.text)
		var e *PathError
		if !errors.As(err, &e) || p != (Path{}) {
			t.Errorf("%q parses to %v, %v", c.text, p, err)
			continue
		}
		if !strings.Contains(e.Reason, c.reason) || e.Offset != c.offset || e.Text != c.text || !strings.Contains(err.Error(), "byte "+strconv.Itoa(c.offset)) {
			t.Errorf("%q: %v, want %q at %d", c.text, err, c.reason, c.offset)
		}
	}
}

func TestErrorsAreBounded(t *testing.T) {
	huge := "akka://sys/" + strings.Repeat("a", 10<<20) + "#x"
	_, err := ParsePath(huge)
	var e *PathError
	if !errors.As(err, &e) || len(e.Text) > 110 || e.Offset != len(huge)-1 {
		t.Errorf("%.300v", err)
	}
	if n := testing.AllocsPerRun(5, func() { _, pathSink.err = ParsePath(huge) }); n > 3 {
		t.Errorf("%v allocations for an error", n)
	}
}

// TestPathParse has what parses, and what it renders to.
func TestPathParse(t *testing.T) {
	for _, c := range []struct {
		text, want string // want "": the text itself
		elements   []string
		uid        int32
	}{
		{"akka.tcp://mysys/user", "", []string{"user"}, 0},
		{"akka://sys", "akka://sys/", nil, 0},
		{"akka://sys/", "", nil, 0},
		{"akka://sys//", "akka://sys/", nil, 0},
		{"akka://sys/#5", "akka://sys/", nil, 5},
		{"aKKa://sYstEm/pAth1/pAth2", "akka://sYstEm/pAth1/pAth2", []string{"pAth1", "pAth2"}, 0},
		{"aKKa://sYstEm@hOst:4711/pAth1/pAth2/", "akka://sYstEm@host:4711/pAth1/pAth2", []string{"pAth1", "pAth2"}, 0},
		{"akka://sys@host:1234/some/ref", "", []string{"some", "ref"}, 0},
		{"akka.tcp://sys@192.168.107.1:2552/some/ref", "", []string{"some", "ref"}, 0},
		{"akka.tcp://sys@node-1.example.com:2552/some/ref", "", []string{"some", "ref"}, 0},
		{"akka.tcp://sys@[::1]:2552/some/ref", "", []string{"some", "ref"}, 0},
		{"akka://host:1234/user", "", []string{"user"}, 0},
		{"akka://sys/user/a@b:c", "", []string{"user", "a@b:c"}, 0},
		{"akka://sys//user///a//", "akka://sys/user/a", []string{"user", "a"}, 0},
		{"akka://sys//user/a", "akka://sys/user/a", []string{"user", "a"}, 0},
		{"akka://sys/user//a#7", "akka://sys/user/a", []string{"user", "a"}, 7},
		{"akka://sys/user/a/#7", "akka://sys/user/a", []string{"user", "a"}, 7},
		{"akka://sys/user/a#1", "akka://sys/user/a", []string{"user", "a"}, 1},
		{"akka://sys/user/a#100", "akka://sys/user/a", []string{"user", "a"}, 100},
		{"akka://sys/user/a#2147483647", "akka://sys/user/a", []string{"user", "a"}, math.MaxInt32},
		{"akka://sys/user/a#-2147483648", "akka://sys/user/a", []string{"user", "a"}, math.MinInt32},
		{"akka://sys/user/a#0", "akka://sys/user/a", []string{"user", "a"}, 0},
		{"akka://sys/user/a#-0", "akka://sys/user/a", []string{"user", "a"}, 0},
		{"akka://sys/user/a#0000000000000000000012", "akka://sys/user/a", []string{"user", "a"}, 12},
		{"akka://sys/$a/$$b/../. x/é\x00\xff", "", []string{"$a", "$$b", "..", ". x", "é\x00\xff"}, 0},
		{"akka.tcp://sys@h:00080/a", "akka.tcp://sys@h:80/a", []string{"a"}, 0},
		{"akka.tcp://B@hb:1/remote/akka.tcp/A@ha:2/user/echo0#77", "akka.tcp://B@hb:1/remote/akka.tcp/A@ha:2/user/echo0", []string{"remote", "akka.tcp", "A@ha:2", "user", "echo0"}, 77},
	} {
		want := c.want
		if want == "" {
			want = c.text
		}
		p, err := ParsePath(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if p.String() != want || !slices.Equal(p.Elements(), c.elements) || p.UID() != c.uid || p.Depth() != len(c.elements) || p.IsRoot() != (len(c.elements) == 0) {
			t.Errorf("%q: %q, elements %q, uid %d, depth %d", c.text, p, p.Elements(), p.UID(), p.Depth())
		}
		// The same path comes of its parts, in the very same form.
		built := RootPath(p.Address())
		for _, e := range c.elements {
			built = built.Child(e)
		}
		if built = built.WithUID(c.uid); built != p {
			t.Errorf("%q: %#v, of its parts %#v", c.text, p, built)
		}
		if joined := RootPath(p.Address()).Join(c.elements...).WithUID(c.uid); joined != p {
			t.Errorf("%q: joined %#v", c.text, joined)
		}
		if made := makePath(p.Address(), p.StringWithoutAddress(), c.uid); made != p {
			t.Errorf("%q: made %#v", c.text, made)
		}
		again, err := ParsePath(p.StringWithUID())
		if err != nil || again != p || !again.Equal(p) || again.Hash() != p.Hash() || again.Compare(p) != 0 {
			t.Errorf("%q: again %v, %v", c.text, again, err)
		}
	}
}

func TestHugeElements(t *testing.T) {
	name := strings.Repeat("a", 10<<20)
	p := RootPath(mustAddress(t, "akka.tcp://mysys@h:1")).Child(name).Child(name).WithUID(3)
	text := p.SerializationFormat()
	q := mustPath(t, text)
	if q != p || q.Name() != name || q.Depth() != 2 || len(text) != len("akka.tcp://mysys@h:1//#3")+2*len(name) {
		t.Error("a path with names of 10 MB comes back changed")
	}
	// Many short names: nothing may take the square of the length.
	deep := strings.Repeat("/a", 1<<20)
	p = mustPath(t, "akka://s"+deep)
	r, err := ParseRelative("/" + deep)
	if err != nil || p.Depth() != 1<<20 || p.Root().Resolve(r) != p || len(p.Elements()) != 1<<20 || p.Compare(p.Child("x").Parent()) != 0 || p.Hash() != p.WithUID(9).Hash() {
		t.Error("a deep path", err)
	}
	up, err := ParseRelative(strings.Repeat("../", 1<<20))
	if err != nil || p.Resolve(up) != p.Root() {
		t.Error("a long way up", err)
	}
}

// TestRenderings has every form with every kind of address, as strings and appended.
func TestRenderings(t *testing.T) {
	for _, c := range []struct{ own, other, full, withOther, bare string }{
		{"akka.tcp://mysys/", "akka.tcp://mysys@aaa:2552", "akka.tcp://mysys/", "akka.tcp://mysys@aaa:2552/", "/"},
		{"akka.tcp://mysys/user", "akka.tcp://mysys@bb:2552", "akka.tcp://mysys/user", "akka.tcp://mysys@bb:2552/user", "/user"},
		{"akka.tcp://mysys/user/foo", "akka.tcp://mysys@cccc:2552", "akka.tcp://mysys/user/foo", "akka.tcp://mysys@cccc:2552/user/foo", "/user/foo"},
		{"akka.tcp://mysys/user/foo/bar", "akka.tcp://mysys@192.168.107.1:2552", "akka.tcp://mysys/user/foo/bar", "akka.tcp://mysys@192.168.107.1:2552/user/foo/bar", "/user/foo/bar"},
		{"akka.tcp://mysys@aaa:2552/", "akka.tcp://mysys@bb:2552", "akka.tcp://mysys@aaa:2552/", "akka.tcp://mysys@aaa:2552/", "/"},
		{"akka.tcp://mysys@aaa:2552/user/foo", "akka.tcp://mysys@bb:2552", "akka.tcp://mysys@aaa:2552/user/foo", "akka.tcp://mysys@aaa:2552/user/foo", "/user/foo"},
		{"akka.tcp://mysys@[::1]:0/user", "akka.tcp://mysys@bb:2552", "akka.tcp://mysys@[::1]:0/user", "akka.tcp://mysys@[::1]:0/user", "/user"},
		{"akka://mysys/user", "", "akka://mysys/user", "akka://mysys/user", "/user"},
		{"akka://local/ignore", "akka.tcp://mysys@bb:2552", "akka://local/ignore", "akka://local/ignore", "/ignore"},
		{"akka://local/user/ignore", "akka.tcp://mysys@bb:2552", "akka://local/user/ignore", "akka.tcp://mysys@bb:2552/user/ignore", "/user/ignore"},
		{"akka://local/" + strings.Repeat("x", 200), "akka.tcp://mysys@bb:2552", "akka://local/" + strings.Repeat("x", 200), "akka.tcp://mysys@bb:2552/" + strings.Repeat("x", 200), "/" + strings.Repeat("x", 200)},
	} {
		var other Address
		if c.other != "" {
			other = mustAddress(t, c.other)
		}
		for _, uid := range []int32{0, 1, 100, math.MaxInt32, -1, math.MinInt32} {
			suffix := ""
			if uid != 0 {
				suffix = "#" + strconv.Itoa(int(uid))
			}
			checkForms(t, mustPath(t, c.own).WithUID(uid), other, c.full, c.withOther, c.bare, suffix)
		}
	}
	// A host without a port is not enough to be kept.
	half, err := NewAddress("akka.tcp", "mysys", "h", NoPort)
	if err != nil {
		t.Fatal(err)
	}
	checkForms(t, RootPath(half).Child("a"), mustAddress(t, "akka.tcp://mysys@bb:1"), "akka.tcp://mysys@h/a", "akka.tcp://mysys@bb:1/a", "/a", "")
}

func checkForms(t *testing.T, p Path, other Address, full, withOther, bare, suffix string) {
	t.Helper()
	for _, f := range []struct {
		name   string
		text   string
		append func([]byte) []byte
		want   string
	}{
		{"String", p.String(), p.Append, full},
		{"StringWithoutAddress", p.StringWithoutAddress(), p.AppendWithoutAddress, bare},
		{"StringWithAddress", p.StringWithAddress(other), func(b []byte) []byte { return p.AppendWithAddress(b, other) }, withOther},
		{"StringWithUID", p.StringWithUID(), p.AppendWithUID, full + suffix},
		{"SerializationFormat", p.SerializationFormat(), p.AppendSerializationFormat, full + suffix},
		{"SerializationFormatWithAddress", p.SerializationFormatWithAddress(other), func(b []byte) []byte { return p.AppendSerializationFormatWithAddress(b, other) }, withOther + suffix},
	} {
		if f.text != f.want {
			t.Errorf("%s of %v: %q, want %q", f.name, p, f.text, f.want)
		}
		// With no room, with some, and with enough: nothing before or behind changes.
		for room := 0; room <= len(f.want)+3; room += 1 + len(f.want)/7 {
			b := append(make([]byte, 0, 4+room), "some"...)
			if got := string(f.append(b)); got != "some"+f.want {
				t.Fatalf("%s of %v appended: %q, want %q", f.name, p, got, f.want)
			}
		}
	}
}

func TestIgnoreKeepsItsAddress(t *testing.T) {
	a := mustAddress(t, "akka.tcp://sys@h:1")
	if p := mustPath(t, "akka://local/ignore#4"); p.WithAddress(a) != p {
		t.Error("the path that is ignored got an address")
	}
	for _, s := range []string{"akka://local/ignored", "akka://local/ignore/a", "akka://locals/ignore", "akka://local/"} {
		if p := mustPath(t, s); p.WithAddress(a).Address() != a || p.WithAddress(a).StringWithoutAddress() != p.StringWithoutAddress() {
			t.Errorf("%s: %v", s, p.WithAddress(a))
		}
	}
}

func TestZeroPath(t *testing.T) {
	var p Path
	a := mustAddress(t, "akka.tcp://sys@h:1")
	r, err := ParseRelative("a/b")
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range []Path{p, p.Child("a"), p.Join("a", "b"), p.Parent(), p.Root(), p.WithUID(3), p.WithAddress(a), p.Resolve(r), RootPath(a).WithAddress(Address{}), makePath(Address{}, "/", 0), RootPath(Address{})} {
		if q != p || !q.IsZero() || q.IsRoot() || q.Name() != "" || q.Depth() != 0 || len(q.Elements()) != 0 {
			t.Errorf("%d: %#v is not the zero path", i, q)
		}
	}
	checkForms(t, p, a, "", "", "", "")
	if p.Equal(RootPath(a)) || !p.Equal(Path{}) || p.Compare(RootPath(a)) >= 0 {
		t.Error("the zero path equals a root")
	}
}

func TestChild(t *testing.T) {
	root := RootPath(mustAddress(t, "akka://s"))
	if root.Name() != "/" || root.Parent() != root || root.Root() != root || root.WithUID(2).Parent() != root || !root.IsRoot() {
		t.Error("a root is its own parent and named /")
	}
	for _, c := range []struct {
		p    Path
		want string
	}{
		{root.Child(""), "/"},
		{root.Child("a"), "/a"},
		{root.Child("a").WithUID(7).Child("b"), "/a/b"},
		{root.Child("a").WithUID(7).Child(""), "/a"},
		{root.Child("a").Child("b").Child("c").Child("d"), "/a/b/c/d"},
		{root.Child("a/../b"), "/a%2F..%2Fb"},
		{root.Child("/"), "/%2F"},
		{root.Child("a#7"), "/a%237"},
		{root.Join(), "/"},
		{root.Join("", ""), "/"},
		{root.Join("a", "", "b/c", "d#1", "x"), "/a/b%2Fc/d%231/x"},
		{root.Child("a").Child("b").WithUID(3).Join("c", "d"), "/a/b/c/d"},
		{root.Child("a").WithUID(3).Join(), "/a"},
		{root.Child("a").Child("b").Child("c").Parent(), "/a/b"},
		{root.Child("a").Child("b").WithUID(9).Parent(), "/a"},
		{root.Child("a").Parent(), "/"},
		{root.Child("a").Child("b").Root(), "/"},
	} {
		if got := c.p.StringWithUID(); got != "akka://s"+c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if c.p != mustPath(t, c.p.String()) {
			t.Errorf("%v does not parse to itself", c.p)
		}
	}
	names := []string{"a/b", "c"}
	root.Join(names...)
	if names[0] != "a/b" {
		t.Error("Join changes its arguments")
	}
}

func TestElementsWithUID(t *testing.T) {
	root := RootPath(mustAddress(t, "akka.tcp://mysys"))
	if got := root.WithUID(1).ElementsWithUID(); len(got) != 0 {
		t.Errorf("a root has the elements %q", got)
	}
	if got := root.WithUID(1).Elements(); len(got) != 0 {
		t.Errorf("a root has the elements %q", got)
	}
	p := root.Join("user", "foo", "bar")
	if got := p.ElementsWithUID(); !slices.Equal(got, []string{"user", "foo", "bar"}) {
		t.Errorf("%q", got)
	}
	if got := p.WithUID(12).ElementsWithUID(); !slices.Equal(got, []string{"user", "foo", "bar#12"}) {
		t.Errorf("%q", got)
	}
	for range p.All() {
		break // an iteration may end early
	}
}

func TestPathEquality(t *testing.T) {
	parse := func(s string) Path { return mustPath(t, s) }
	a, b := parse("akka.tcp://remotesystem@localhost:8080/user/x"), parse("akka.tcp://remotesystem@LOCALHOST:8080/user/x#3")
	if !a.Equal(b) || a == b || a.Hash() != b.Hash() || a.Compare(b) != 0 {
		t.Error("the uid takes part in equality")
	}
	for _, s := range []string{"akka://remotesystem/user/x", "akka.tcp://remotesystem@localhost:8081/user/x", "akka.tcp://remotesystem@localhost:8080/user",
		"akka.tcp://remotesystem@localhost:8080/user/y", "akka.tcp://remotesystem@localhost:8080/used/x", "akka.tcp://remotesystem@localhost:8080/user/x/x", "akka.tcp://remotesystem@localhost:8080/x"} {
		if q := parse(s); a.Equal(q) || q.Equal(a) || a.Compare(q) == 0 || a.Compare(q) != -q.Compare(a) || a.Hash() == q.Hash() {
			t.Errorf("%v and %v", a, q)
		}
	}
}

// TestPathOrder compares with the rule written out: names from the last one upwards, the longer path first,
// roots by their text.
func TestPathOrder(t *testing.T) {
	rule := func(p, q Path) int {
		x, y := p.Elements(), q.Elements()
		for len(x) > 0 && len(y) > 0 {
			if c := strings.Compare(x[len(x)-1], y[len(y)-1]); c != 0 {
				return c
			}
			x, y = x[:len(x)-1], y[:len(y)-1]
		}
		if len(x) != len(y) {
			return len(y) - len(x)
		}
		return strings.Compare(p.Address().String(), q.Address().String())
	}
	r := rand.New(rand.NewPCG(3, 4))
	var paths []Path
	for range 150 {
		p := RootPath(mustAddress(t, []string{"akka://a", "akka://b", "akka://b@h:1"}[r.IntN(3)]))
		for range r.IntN(4) {
			p = p.Child([]string{"a", "b", "ab", "B"}[r.IntN(4)])
		}
		paths = append(paths, p.WithUID(int32(r.IntN(3))))
	}
	sign := func(n int) int { return min(max(n, -1), 1) }
	for _, p := range paths {
		for _, q := range paths {
			if got, want := sign(p.Compare(q)), sign(rule(p, q)); got != want || (got == 0) != p.Equal(q) || (got == 0) != (p.Hash() == q.Hash()) {
				t.Fatalf("%v and %v: %d, want %d", p, q, got, want)
			}
		}
	}
	slices.SortFunc(paths, Path.Compare)
	for i := range paths[1:] {
		if paths[i].Compare(paths[i+1]) > 0 {
			t.Fatal("sorting does not hold")
		}
	}
}

// TestPathAllocations holds every method to its budget.
func TestPathAllocations(t *testing.T) {
	check := func(name string, most float64, f func()) {
		t.Helper()
		if n := testing.AllocsPerRun(200, f); n > most {
			t.Errorf("%s: %v allocations, at most %v", name, n, most)
		}
	}
	for _, c := range []struct {
		text string
		most float64
	}{
		{"akka.tcp://system@127.0.0.1:1337/parent/child#2147483647", 0},
		{"akka.tcp://system@127.0.0.1:1337/parent/child", 0},
		{"akka://s", 0}, {"akka://s/", 0}, {"akka://s//a/b/", 0}, {"akka://s@[::1]:1/a/b/c/d/e/f#1", 0}, {"akka://s/a/#1", 0},
		{"AKKA.TCP://system@HOST.Example.com:1337/parent/child#1", 1}, {"AKKA://s", 1}, {"akka://S@H:1", 1},
		{"akka://s@h:00080/a", 1}, {"akka://s/a//b///c#7", 1}, {"AKKA://s@[FE80::1]:007//a//b//#7", 1},
		{"akka://s/" + strings.Repeat("a", 1<<16), 0}, {"akka://s/" + strings.Repeat("a//", 1<<16), 1},
		{"akka://s@H:1/" + strings.Repeat("/a", 1<<16), 1},
	} {
		check(fmt.Sprintf("ParsePath(%.60s)", c.text), c.most, func() { pathSink.path, pathSink.err = ParsePath(c.text) })
		if pathSink.err != nil {
			t.Error(pathSink.err)
		}
	}
	a, other := mustAddress(t, "akka.tcp://system@127.0.0.1:1337"), mustAddress(t, "akka://other")
	check("ParseAddress", 0, func() { _, pathSink.err = ParseAddress("akka.tcp://system@127.0.0.1:1337") })
	check("ParseAddress in upper case", 1, func() { _, pathSink.err = ParseAddress("akka.tcp://system@HOST:1337") })
	root, buf, elements := RootPath(a), make([]byte, 0, 256), "/user/a/b"
	for _, uid := range benchUIDs {
		p := makePath(a, elements, uid)
		q := mustPath(t, p.StringWithUID())
		check("appending", 0, func() {
			buf = p.Append(buf[:0])
			buf = p.AppendWithoutAddress(buf)
			buf = p.AppendWithAddress(buf, other)
			buf = p.AppendWithUID(buf[:0])
			buf = p.AppendSerializationFormat(buf)
			buf = p.AppendSerializationFormatWithAddress(buf, other)
			buf = appendUID(buf[:0], uid)
			buf = a.Append(buf)
		})
		check("comparing", 0, func() {
			pathSink.bool, pathSink.int, pathSink.hash = p.Equal(q), p.Compare(q), p.Hash()
			pathSink.int = p.Depth() + a.Compare(other)
			for name := range p.All() {
				pathSink.string = name
			}
		})
		check("making", 0, func() {
			pathSink.path = makePath(a, elements, uid)
			pathSink.path = p.Parent().WithUID(uid).WithAddress(other)
			pathSink.path = p.Root().Child("user").Child("a")
		})
		check("Child", 1, func() { pathSink.path = p.Child("c") })
		check("Join", 1, func() { pathSink.path = root.Join("a", "b", "c", "d") })
		check("String", 1, func() { pathSink.string = p.String() })
		check("SerializationFormat", 1, func() { pathSink.string = p.SerializationFormat() })
		check("SerializationFormatWithAddress", 1, func() { pathSink.string = p.SerializationFormatWithAddress(other) })
		check("Elements", 1, func() { pathSink.strings = p.Elements() })
	}
}
