package actor

import (
	"errors"
	"strings"
	"testing"
)

func TestAddressMalformed(t *testing.T) {
	for _, c := range []struct {
		text, reason string
		offset       int
	}{
		{"", "no \"://\" after the protocol", 0},
		{"://hallo", "does not start with \"akka\"", 0},
		{"s://dd@:12", "does not start with \"akka\"", 0},
		{"s://dd@h:hd", "does not start with \"akka\"", 0},
		{"a://l:1", "does not start with \"akka\"", 1},
		{"akk://sys", "does not start with \"akka\"", 3},
		{"http://sys", "does not start with \"akka\"", 0},
		{"akka", "no \"://\"", 4},
		{"akka:", "not followed by \"://\"", 4},
		{"akka:/", "not followed by \"://\"", 4},
		{"akka:/sys", "not followed by \"://\"", 4},
		{"akka:sys", "not followed by \"://\"", 4},
		{"akka/tcp://sys", "not the start of an absolute path", 4},
		{"/user/a", "not the start of an absolute path", 0},
		{"akka" + strings.Repeat("x", 252) + "://sys", "longer than 255", 255},
		{"akka://", "system's name is missing", 7},
		{"akka:///user", "system's name is missing", 7},
		{"akka://@h:1", "system's name is missing", 7},
		{"akka://sys#5", "'#' before the path", 10},
		{"akka://sys/", "an address ends here", 10},
		{"akka://sys@h:1/user", "an address ends here", 14},
		{"akka://sys@", "host is missing", 11},
		{"akka://sys@:12", "host is missing", 11},
		{"akka://dd@:12", "host is missing", 10},
		{"akka://sys@[]:12", "host is missing", 11},
		{"akka://sys@[::1:12", "no ']'", 11},
		{"akka://sys@[::1]12", "not followed by ':'", 16},
		{"akka://sys@::1:12", "host is missing", 11},
		{"akka://sys@f::1:12", "port is not a number", 13},
		{"akka://sys@h]:12", "bracket inside", 12},
		{"akka://sys@h", "port is missing", 12},
		{"akka://sys@[::1]", "port is missing", 16},
		{"akka://sys@h:", "port is missing", 13},
		{"akka://sys@h:hd", "port is not a number", 13},
		{"akka://sys@h:1x", "port is not a number", 14},
		{"akka://sys@h:-1", "port is not a number", 13},
		{"akka://sys@h:+1", "port is not a number", 13},
		{"akka://sys@h: 1", "port is not a number", 13},
		{"akka://sys@h:65536", "above 65535", 13},
		{"akka://sys@h:99999999999999999999999", "above 65535", 13},
		{"akka://a@b@h:1", "a second '@'", 10},
		{"akka://" + strings.Repeat("s", 70000), "longer than 65535", 65535},
	} {
		a, err := ParseAddress(c.text)
		var e *PathError
		if !errors.As(err, &e) || a != (Address{}) {
			t.Errorf("%.40q parses to %v, %v", c.text, a, err)
			continue
		}
		if !strings.Contains(e.Reason, c.reason) || e.Offset != c.offset {
			t.Errorf("%.40q: %v, want %q at %d", c.text, err, c.reason, c.offset)
		}
		if len(err.Error()) > 300 {
			t.Errorf("%.40q: an error of %d bytes", c.text, len(err.Error()))
		}
	}
}

func TestNewAddressRefuses(t *testing.T) {
	for _, c := range []struct {
		protocol, system, host string
		port                   int
	}{
		{"", "sys", "", NoPort}, {"http", "sys", "", NoPort}, {"akka:", "sys", "", NoPort}, {"akka://x", "sys", "h", 1},
		{"akka", "", "", NoPort}, {"akka", "a/b", "", NoPort}, {"akka", "a@b:1", "", NoPort}, {"akka", "a@b", "h", 1}, {"akka", "a#1", "", NoPort},
		{"akka", "sys", "", 1}, {"akka", "sys", "", 0}, {"akka", "sys", "h", -2}, {"akka", "sys", "h", 65536},
		{"akka", "sys", "h:1", 1}, {"akka", "sys", "h:1", NoPort}, {"akka", "sys", "h/x", 1}, {"akka", "sys", "h@x", 1}, {"akka", "sys", "[h", 1},
		{"akka", strings.Repeat("s", 66000), "", NoPort}, {"akka", "sys", strings.Repeat("h", 66000), 1},
	} {
		if a, err := NewAddress(c.protocol, c.system, c.host, c.port); err == nil || a != (Address{}) {
			t.Errorf("%.40s %.40s %.40s %d: %.60s, %v", c.protocol, c.system, c.host, c.port, a, err)
		}
	}
	for _, name := range []string{"", "a b/", "x@y:1"} {
		if a, err := LocalAddress(name); err == nil {
			t.Errorf("LocalAddress(%q) is %v", name, a)
		}
	}
}

func TestAddressParts(t *testing.T) {
	for _, c := range []struct {
		text, protocol, system, host string
		port                         int
		canonical                    string
	}{
		{"akka://sys", "akka", "sys", "", NoPort, ""},
		{"aKKa://sYs", "akka", "sYs", "", NoPort, "akka://sYs"},
		{"akka://host:1234", "akka", "host:1234", "", NoPort, ""},
		{"akka.tcp://system@127.0.0.1:1337", "akka.tcp", "system", "127.0.0.1", 1337, ""},
		{"akka.tcp://Sys@HOST.example.COM:2552", "akka.tcp", "Sys", "host.example.com", 2552, "akka.tcp://Sys@host.example.com:2552"},
		{"akka.ssl.tcp://s@h:0", "akka.ssl.tcp", "s", "h", 0, ""},
		{"akka://s@h:00", "akka", "s", "h", 0, "akka://s@h:0"},
		{"akka://s@h:0065535", "akka", "s", "h", 65535, "akka://s@h:65535"},
		{"akka://s@[2001:DB8::1]:80", "akka", "s", "[2001:db8::1]", 80, "akka://s@[2001:db8::1]:80"},
		{"akka" + strings.Repeat("x", 251) + "://s@h:1", "akka" + strings.Repeat("x", 251), "s", "h", 1, ""},
	} {
		a, err := ParseAddress(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		want := c.canonical
		if want == "" {
			want = c.text
		}
		if a.Protocol() != c.protocol || a.System() != c.system || a.Host() != c.host || a.Port() != c.port || a.String() != want || a.IsZero() {
			t.Errorf("%s: %q %q %q %d %q", c.text, a.Protocol(), a.System(), a.Host(), a.Port(), a)
		}
		if a.HasGlobalScope() != (c.host != "") || a.HasLocalScope() != (c.host == "") {
			t.Errorf("%s: local scope %v, global scope %v", c.text, a.HasLocalScope(), a.HasGlobalScope())
		}
		if got := string(a.Append([]byte("x"))); got != "x"+want {
			t.Errorf("%s: appended as %q", c.text, got)
		}
		b, err := NewAddress(c.protocol, c.system, c.host, c.port)
		if err != nil || b != a || !b.Equal(a) || b.Compare(a) != 0 {
			t.Errorf("%s: of its parts %v, %v", c.text, b, err)
		}
	}
}

func TestNewAddress(t *testing.T) {
	for _, c := range []struct {
		protocol, system, host string
		port                   int
		want                   string
	}{
		{"AKKA.tcp", "Sys", "HOST", 1, "akka.tcp://Sys@host:1"},
		{"akka.tcp", "sys", "::1", 1, "akka.tcp://sys@[::1]:1"},
		{"akka.tcp", "sys", "[FE80::1]", 1, "akka.tcp://sys@[fe80::1]:1"},
		{"akka.tcp", "sys", "h", NoPort, "akka.tcp://sys@h"},
		{"akka.tcp", "sys", "::1", NoPort, "akka.tcp://sys@[::1]"},
	} {
		a, err := NewAddress(c.protocol, c.system, c.host, c.port)
		if err != nil || a.String() != c.want || a.Port() != c.port || !a.HasGlobalScope() {
			t.Errorf("%v: %v, port %d, %v", c, a, a.Port(), err)
		}
	}
	a, err := LocalAddress("sys")
	if err != nil || a.String() != "akka://sys" || !a.HasLocalScope() {
		t.Error(a, err)
	}
}

func TestZeroAddress(t *testing.T) {
	var a Address
	if !a.IsZero() || a.String() != "" || a.Protocol() != "" || a.System() != "" || a.Host() != "" || a.Port() != NoPort || !a.HasLocalScope() || a.HasGlobalScope() {
		t.Error("the zero address has parts")
	}
	if a.Compare(mustAddress(t, "akka://s")) >= 0 || !a.Equal(Address{}) {
		t.Error("the zero address does not come first")
	}
}

func TestAddressOrder(t *testing.T) {
	var ordered []Address
	for _, s := range []string{"akka://a", "akka://b", "akka://b@a:1", "akka://b@a:2", "akka://b@a:10", "akka://b@b:1", "akka.tcp://a", "akka.tcp://a@h:1"} {
		ordered = append(ordered, mustAddress(t, s))
	}
	noPort, err := NewAddress("akka.tcp", "a", "a", NoPort)
	if err != nil {
		t.Fatal(err)
	}
	ordered = append(ordered[:7:7], noPort, ordered[7])
	for i, a := range ordered {
		for j, b := range ordered {
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) || a.Equal(b) != (i == j) {
				t.Errorf("%v and %v: %d, equal %v", a, b, got, a.Equal(b))
			}
		}
	}
}

func TestSplitAddress(t *testing.T) {
	for _, c := range []struct{ text, address, rest string }{
		{"akka://sys", "akka://sys", "/"},
		{"akka://sys/", "akka://sys", "/"},
		{"akka://sys/user/foo", "akka://sys", "/user/foo"},
		{"AKKA.tcp://Sys@Host:2551/user/Foo#12", "akka.tcp://Sys@host:2551", "/user/Foo#12"},
		{"akka.tcp://s@[::1]:1//a//b/", "akka.tcp://s@[::1]:1", "//a//b/"},
		{"akka://sys/user/a@b:c", "akka://sys", "/user/a@b:c"},
	} {
		a, rest, err := SplitAddress(c.text)
		if err != nil || a.String() != c.address || rest != c.rest {
			t.Errorf("%s: %v %q %v", c.text, a, rest, err)
		}
	}
	for _, s := range []string{"", "/user/a", "akka:/sys/a", "akka://sys@h/a"} {
		if a, rest, err := SplitAddress(s); err == nil || rest != "" || !a.IsZero() {
			t.Errorf("%q: %v %q %v", s, a, rest, err)
		}
	}
}
