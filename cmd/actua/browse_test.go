package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// The default tree for people leaves out what is below Server, says so, and shows it when it is asked for.
func TestBrowseLeavesOutTheServer(t *testing.T) {
	w := isolated(t)
	url := testServer(t, plantSpace, nil)
	for _, test := range []struct {
		args   string
		inside bool // what is below Server is shown
		said   bool
	}{
		{"", false, true},
		{"i=84", false, true},
		{"--class Variable", false, true},
		{"--depth 3", true, false},
		{"--depth 1", false, false},
		{"/Objects/Server", true, false},
		{"--refs hierarchical", true, false},
		{"--depth 2 --json", true, false},
		{"i=84 --json", false, false},
	} {
		code, out, stderr := w.run(t.Context(), append([]string{"browse", url, "--security", "none"}, strings.Fields(test.args)...)...)
		if code != 0 {
			t.Fatal(test.args, stderr)
		}
		if inside, said := strings.Contains(out, "ServerCapabilities"), strings.Contains(out, "in every server"); inside != test.inside || said != test.said {
			t.Errorf("%s: inside %v, said %v\n%.2000s", test.args, inside, said, out)
		}
		if test.args == "" && strings.Count(out, "\n") > 30 {
			t.Errorf("%d lines by default", strings.Count(out, "\n"))
		}
	}
}

// Of a long list below the node the default tree for people shows the first few and how many there are;
// that of the node itself is shown in full, and so is everything with --depth or --json.
func TestBrowseShortensLongLists(t *testing.T) {
	w := isolated(t)
	url := testServer(t, func(space *memspace.Space) {
		at := func(id string) memspace.Option { return memspace.WithNodeID(ua.NewStringNodeID(2, id)) }
		for name, n := range map[string]int{"Long": longList + 1, "Short": longList} {
			folder := space.AddFolder(space.Objects(), name, at(name))
			for i := range n {
				space.AddVariable(folder, fmt.Sprintf("%s%02d", name, i), ua.Int32(0))
			}
		}
	}, nil)
	for args, want := range map[string][3]int{ // of Long, of Short, lines that tell of more
		"": {shownOfLong, longList, 1}, "--depth 2": {longList + 1, longList, 0}, "ns=2;s=Long": {longList + 1, 0, 0},
		"--refs hierarchical": {longList + 1, longList, 0}, "--depth 2 --json": {longList + 1, longList, 0},
	} {
		code, out, stderr := w.run(t.Context(), append([]string{"browse", url, "--security", "none"}, strings.Fields(args)...)...)
		got := [3]int{
			len(regexp.MustCompile(`(var |"displayName":")Long\d\d`).FindAllString(out, -1)),
			len(regexp.MustCompile(`(var |"displayName":")Short\d\d`).FindAllString(out, -1)),
			strings.Count(out, fmt.Sprintf("└─ … %d more: browse ns=2;s=Long, or give --depth\n", longList+1-shownOfLong)),
		}
		if code != 0 || got != want {
			t.Errorf("%s: %v, %v wanted\n%s%s", args, got, want, out, stderr)
		}
	}
}

// Report V32, the part about browsing: references that lead round in circles, to the node itself and to
// Root, and everything below Server along all references, end, and no node is descended twice.
func TestBrowseInCircles(t *testing.T) {
	w := isolated(t)
	url := testServer(t, func(space *memspace.Space) {
		at := func(id string) memspace.Option { return memspace.WithNodeID(ua.NewStringNodeID(2, id)) }
		a := space.AddObject(space.Objects(), "A", at("A"))
		b := space.AddObject(a, "B", at("B"))
		for _, r := range []struct{ source, kind, target ua.NodeID }{
			{b.ID(), ua.ID(uaid.HasComponent), a.ID()},
			{b.ID(), ua.ID(uaid.Organizes), ua.ID(uaid.RootFolder)},
			{a.ID(), ua.ID(uaid.HasComponent), a.ID()},
		} {
			if err := space.AddReference(r.source, r.kind, r.target); err != nil {
				t.Error(err)
			}
		}
		deep := a
		for range 300 {
			deep = space.AddObject(deep, "Deeper")
		}
	}, nil)
	for _, args := range []string{"ns=2;s=A", "ns=2;s=A --refs all", "i=2253 --refs all"} {
		code, out, stderr := w.run(t.Context(), append([]string{"browse", url, "--security", "none", "--depth", "1000000", "--json", "--timeout", "60s"}, strings.Fields(args)...)...)
		if code != 0 {
			t.Fatal(args, stderr)
		}
		type reference struct{ Parent, Node, Reference string }
		seen, parents, ended := map[reference]bool{}, map[string]bool{}, ""
		for text := range strings.Lines(out) {
			var r struct {
				reference
				Depth int
			}
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(text, err)
			}
			if seen[r.reference] {
				t.Fatalf("%s: %v is descended twice, at %+v", args, r.Parent, r.reference)
			}
			seen[r.reference], parents[r.Parent] = true, true
			if strings.HasSuffix(r.Node, "Deeper") && r.Depth > 299 {
				ended = r.Node
			}
		}
		if len(parents) < 300 || !strings.HasPrefix(args, "i=") && ended == "" {
			t.Errorf("%s: only %d nodes with references", args, len(parents))
		}
	}
	code, out, stderr := w.run(t.Context(), "browse", url, "ns=2;s=A", "--security", "none", "--depth", "3")
	if code != 0 || strings.Count(out, "(shown above)") != 2 {
		t.Error(code, out, stderr)
	}
}
