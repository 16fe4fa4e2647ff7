package actor

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestRelativeMalformed(t *testing.T) {
	for _, c := range []struct {
		text, reason string
		offset       int
	}{
		{"akka://ClusterSystem@127.0.0.1:2552", "absolute path", 4},
		{"akka://ClusterSystem@127.0.0.1:2552/user/foo/bar/baz", "absolute path", 4},
		{"akka://ClusterSystem@127.0.0.1:2552/user/foo/bar/baz#1234", "absolute path", 4},
		{"akka:/user", "absolute path", 4},
		{"http://x", "absolute path", 4},
		{"a#", "uid after '#' is missing", 2},
		{"a#x", "not a decimal number", 2},
		{"a#2147483648", "does not fit", 2},
		{"a#1/b", "'#' before the last element", 1},
	} {
		r, err := ParseRelative(c.text)
		var e *PathError
		if !errors.As(err, &e) || r != (RelativePath{}) || !strings.Contains(e.Reason, c.reason) || e.Offset != c.offset {
			t.Errorf("%q: %v, %v", c.text, r, err)
		}
	}
}

func TestRelative(t *testing.T) {
	encoded := url.QueryEscape("akka://ClusterSystem@127.0.0.1:2552")
	base := "akka.tcp://sys@h:1/user/x#9"
	for _, c := range []struct {
		text     string
		elements []string // with the uid
		root     bool
		resolved string
	}{
		{"foo", []string{"foo"}, false, "akka.tcp://sys@h:1/user/x/foo"},
		{"/foo", []string{"foo"}, true, "akka.tcp://sys@h:1/foo"},
		{"foo/bar/baz", []string{"foo", "bar", "baz"}, false, "akka.tcp://sys@h:1/user/x/foo/bar/baz"},
		{"/foo/bar/baz", []string{"foo", "bar", "baz"}, true, "akka.tcp://sys@h:1/foo/bar/baz"},
		{encoded, []string{encoded}, false, "akka.tcp://sys@h:1/user/x/" + encoded},
		{"foo/bar/baz#1234", []string{"foo", "bar", "baz#1234"}, false, "akka.tcp://sys@h:1/user/x/foo/bar/baz#1234"},
		{"/user/a#7", []string{"user", "a#7"}, true, "akka.tcp://sys@h:1/user/a#7"},
		{"user/a", []string{"user", "a"}, false, "akka.tcp://sys@h:1/user/x/user/a"},
		{"../x", []string{"..", "x"}, false, "akka.tcp://sys@h:1/user/x"},
		{"..", []string{".."}, false, "akka.tcp://sys@h:1/user"},
		{"../../../../a", []string{"..", "..", "..", "..", "a"}, false, "akka.tcp://sys@h:1/a"},
		{"a/../b/..", []string{"a", "..", "b", ".."}, false, "akka.tcp://sys@h:1/user/x"},
		{"..//a///b/", []string{"..", "a", "b"}, false, "akka.tcp://sys@h:1/user/a/b"},
		{"/", nil, true, "akka.tcp://sys@h:1/"},
		{"//", nil, true, "akka.tcp://sys@h:1/"},
		{"", nil, false, base},
		{"#4", nil, false, "akka.tcp://sys@h:1/user/x#4"},
		{"a/b:/c", []string{"a", "b:", "c"}, false, "akka.tcp://sys@h:1/user/x/a/b:/c"},
		{"a:b", []string{"a:b"}, false, "akka.tcp://sys@h:1/user/x/a:b"},
		{"*/a?", []string{"*", "a?"}, false, "akka.tcp://sys@h:1/user/x/*/a?"},
	} {
		r, err := ParseRelative(c.text)
		if err != nil || !slices.Equal(r.ElementsWithUID(), c.elements) || r.FromRoot() != c.root || len(r.Elements()) != len(c.elements) {
			t.Errorf("%q: elements %q, from root %v, %v", c.text, r.ElementsWithUID(), r.FromRoot(), err)
			continue
		}
		p := mustPath(t, base).Resolve(r)
		if p.StringWithUID() != c.resolved {
			t.Errorf("%q from %s: %s, want %s", c.text, base, p.StringWithUID(), c.resolved)
		}
		if again, err := ParseRelative(r.String()); err != nil || again != r || r.UID() != p.UID() && c.text != "" {
			t.Errorf("%q: %q again is %v, %v", c.text, r.String(), again, err)
		}
	}
}

func TestRelativeAllocations(t *testing.T) {
	p, buf := mustPath(t, "akka://s/user/a/b"), make([]byte, 0, 64)
	for s, most := range map[string]float64{"/user/a#7": 1, "../x": 1, "a//b": 2} {
		if n := testing.AllocsPerRun(100, func() {
			r, err := ParseRelative(s)
			pathSink.path, pathSink.err, buf = p.Resolve(r), err, r.Append(buf[:0])
		}); n > most {
			t.Errorf("%q: %v allocations to parse, append and resolve, at most %v", s, n, most)
		}
	}
}

// readSlowly is the grammar written down plainly, for the parser to be compared with: no positions, no care for
// allocations.
func readSlowly(s string) (text string, uid int32, ok bool) {
	protocol, rest, found := strings.Cut(s, "://")
	if !found || len(protocol) > 255 || strings.ContainsFunc(protocol, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-+", r)
	}) || !strings.HasPrefix(strings.ToLower(protocol), "akka") {
		return "", 0, false
	}
	authority, names, _ := strings.Cut(rest, "/")
	system, place, remote := strings.Cut(authority, "@")
	if len(protocol)+3+len(authority) > 65535 || system == "" || strings.ContainsAny(authority, "#") || strings.Contains(place, "@") {
		return "", 0, false
	}
	text = strings.ToLower(protocol) + "://" + system
	if remote {
		i := strings.IndexByte(place, ':')
		if strings.HasPrefix(place, "[") {
			i = strings.IndexByte(place, ']') + 1
		}
		if i <= 0 || i >= len(place) || place[i] != ':' || place[:i] == "[]" || (place[0] != '[' && strings.ContainsAny(place[:i], "[]")) {
			return "", 0, false
		}
		port, err := strconv.ParseUint(place[i+1:], 10, 16)
		if err != nil {
			return "", 0, false
		}
		host := []byte(place[:i])
		for j, c := range host {
			if 'A' <= c && c <= 'Z' {
				host[j] = c + 'a' - 'A'
			}
		}
		text += "@" + string(host) + ":" + strconv.FormatUint(port, 10)
	}
	names, number, found := strings.Cut(names, "#")
	if found {
		v, err := strconv.ParseInt(number, 10, 32)
		if err != nil || number[0] == '+' {
			return "", 0, false
		}
		uid = int32(v)
	}
	names = strings.Join(slices.DeleteFunc(strings.Split(names, "/"), func(e string) bool { return e == "" }), "/")
	return text + "/" + names, uid, true
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{
		"", "akka", "akka:/", "akka://s", "akka://s/", "aKKa://sYstEm@hOst:4711/pAth1/pAth2/", "akka.tcp://system@127.0.0.1:1337/parent/child#2147483647",
		"akka://s@[::1]:1/a//b#-1", "akka://s//a///b/#07", "akka://s@h:00/..", "akka://s/a#1/b", "akka://s/a#2147483648", "akka://local/ignore", "/user/a#7", "../x", "a/../b", "://hallo", "s://dd@:12",
	} {
		f.Add(s)
	}
	other, err := ParseAddress("akka.tcp://other@10.0.0.1:2552")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		text, uid, ok := readSlowly(s)
		if (err == nil) != ok {
			t.Fatalf("%q: %v, but read slowly %q, %v", s, err, text, ok)
		}
		if a, rest, splitErr := SplitAddress(s); splitErr == nil && err == nil && (a != p.Address() || len(rest) > len(s)+1) || splitErr != nil && err == nil {
			t.Fatalf("%q: split into %v and %q, %v", s, a, rest, splitErr)
		}
		if r, relErr := ParseRelative(s); relErr == nil {
			again, err := ParseRelative(r.String())
			if err != nil || again != r {
				t.Fatalf("%q: relative %v, again %v, %v", s, r, again, err)
			}
			q := RootPath(other).Resolve(r)
			if back, err := ParsePath(q.StringWithUID()); err != nil || back != q {
				t.Fatalf("%q: resolved to %v, again %v, %v", s, q, back, err)
			}
		}
		if child := RootPath(other).Child(s); s != "" && (child.Depth() != 1 || mustPath(t, child.String()) != child) {
			t.Fatalf("%q as a name: %v", s, child)
		}
		if err != nil {
			var e *PathError
			if p != (Path{}) || !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(s) || len(err.Error()) > 600 {
				t.Fatalf("%q: %v %v", s, p, err)
			}
			return
		}
		if p.String() != text || p.UID() != uid || len(text) > len(s)+1 {
			t.Fatalf("%q: %q with uid %d, read slowly %q with uid %d", s, p, p.UID(), text, uid)
		}
		full := p.SerializationFormat()
		q, err := ParsePath(full)
		if err != nil || q != p || !q.Equal(p) || q.Compare(p) != 0 || q.Hash() != p.Hash() {
			t.Fatalf("%q renders to %q, which parses to %v, %v", s, full, q, err)
		}
		if a, err := ParseAddress(p.Address().String()); err != nil || a != p.Address() {
			t.Fatalf("%q: address %v again is %v, %v", s, p.Address(), a, err)
		}
		if string(p.Append(nil)) != text || string(p.AppendSerializationFormat(nil)) != full || string(p.AppendWithoutAddress(nil)) != p.StringWithoutAddress() ||
			string(p.AppendSerializationFormatWithAddress(nil, other)) != p.SerializationFormatWithAddress(other) || p.StringWithoutAddress() != "/"+strings.Join(p.Elements(), "/") {
			t.Fatalf("%q: the forms differ", s)
		}
		if built := p.Root().Join(p.Elements()...).WithUID(uid); built != p || p.Depth() != len(p.Elements()) {
			t.Fatalf("%q: %v of its elements %q", s, built, p.Elements())
		}
	})
}
