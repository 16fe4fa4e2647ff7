package actor

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		offset int // of the trouble, -1 if there is none
	}{
		{"", 0}, {"$a", 0}, {"$", 0}, {"$NamesMayNotStartWithDollar", 0}, {"$$a", 0},
		{"/NamesMayNotStartWithSlash", 0}, {"NamesMayNotContain/Slash", 18}, {"a/", 1},
		{"%", 0}, {"a%", 1}, {"a%1", 1}, {"a%1g", 1}, {"a%g1", 1}, {"%%32", 0}, {"%3", 0}, {"a%%", 1},
		{"EscapingWithOtherNumberCharacters-%Ⅷ⅓", 34}, {"%\uff13\uff12", 0},
		{"a b", 1}, {"a#1", 1}, {"a?b", 1}, {"a\x00", 1}, {"a\n", 1}, {"\x7f", 0}, {"a\\b", 1}, {"[a]", 0}, {"a|b", 1}, {"a^b", 1}, {"a`b", 1}, {"a{b}", 1}, {"a<b", 1}, {"é", 0}, {"aü", 1}, {"\xff", 0},
		{"NamesMayContain$Dollar", -1}, {"-$NamesMayContain", -1}, {"-$", -1}, {"(42)", -1}, {"%32", -1}, {"%aF%Fa", -1}, {"a%20b", -1},
		{"reliableEndpointWriter-akka.tcp%3a%2f%2fRemoteSystem%40localhost%3a22760-1", -1},
		{`SomeCharacters;::@&=+,.!~*'_"`, -1}, {"..", -1}, {"0", -1}, {"Z", -1},
		{strings.Repeat("a", 10<<20), -1}, {strings.Repeat("a", 10<<20) + "/", 10 << 20},
	} {
		err := ValidName(c.name)
		var e *PathError
		if errors.As(err, &e) != (c.offset >= 0) || (e != nil && (e.Offset != c.offset || e.Reason == "" || len(err.Error()) > 400)) {
			t.Errorf("%.60q: %.400v, want an offset of %d", c.name, err, c.offset)
		}
	}
	for _, text := range []string{"$NamesMayNotNormallyStartWithDollarButShouldBeOkWHenEncoded", "NamesMayContain$Dollar",
		"ÎnternationalCharactersÅÄÖØê", "ReservedCharacters:;/?:@&=+$,", "Using parenthesis(4711)"} {
		if name := url.QueryEscape(text); ValidName(name) != nil {
			t.Errorf("%s, escaped as %s: %v", text, name, ValidName(name))
		}
	}
}

func TestSystemNames(t *testing.T) {
	for _, name := range []string{"", "-", "-a", "a b", "a_b", "a.b", "a/b", "a@b", "é", "a\n", "a:1", "$a", "a#"} {
		if err := ValidSystemName(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"a", "0", "A-", "my-System-1", "a--b", strings.Repeat("a", 1000)} {
		if err := ValidSystemName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a", "%32", "$a", "(42)", "a/b", "é", "-a"} {
		f.Add(s)
	}
	actorName := regexp.MustCompile(`\A(?:[-a-zA-Z0-9_.*+:@&=,!~';()"]|%[0-9a-fA-F]{2})(?:[-a-zA-Z0-9_.*$+:@&=,!~';()"]|%[0-9a-fA-F]{2})*\z`)
	systemName := regexp.MustCompile(`\A[a-zA-Z0-9][a-zA-Z0-9-]*\z`)
	f.Fuzz(func(t *testing.T, s string) {
		if err := ValidName(s); (err == nil) != actorName.MatchString(s) {
			t.Errorf("actor name %q: %v", s, err)
		}
		if err := ValidSystemName(s); (err == nil) != systemName.MatchString(s) {
			t.Errorf("system name %q: %v", s, err)
		}
	})
}
