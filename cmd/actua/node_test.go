package main

import (
	"strings"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// A NODE is a NodeId, one with its namespace's URI, or a browse path whose names may have any character.
func TestNodeForms(t *testing.T) {
	url := testServer(t, func(s *memspace.Space) {
		line := s.AddObject(s.Objects(), "Line 1/A", memspace.WithNodeID(ua.NewStringNodeID(2, "line")))
		s.AddVariable(line, "Pump.Speed <1:2> #3 & more!", ua.Int32(7), memspace.WithNodeID(ua.NewStringNodeID(2, "a;b=c/d")))
	}, nil)
	w := isolated(t)
	const want = `{"node":"ns=2;s=a;b=c/d","attribute":"Value","value":7,`
	for _, node := range []string{
		"ns=2;s=a;b=c/d", "nsu=urn:test;s=a;b=c/d",
		"/Objects/Line 1&/A/Pump&.Speed &<1&:2&> &#3 && more&!",
		"/0:Objects/2:Line 1&/A/2:Pump&.Speed &<1&:2&> &#3 && more&!",
		"/Objects/Line 1&/A/Pump&.Speed &<1&:2&> &#3 && more&!/",
	} {
		if code, out, stderr := w.run(t.Context(), "read", url, node, "--json", "--security", "none"); code != 0 || !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit %d, %s%s", node, code, out, stderr)
		}
	}
	for node, status := range map[string]string{
		"/Objects/1:Line 1&/A": "BadNoMatch", "/Objects/Line 1/A": "BadNoMatch", "nsu=urn:other;s=x": "BadNodeIdUnknown", "ns=9;i=1": "BadNodeIdUnknown",
	} {
		code, out, stderr := w.run(t.Context(), "read", url, node, "--json", "--security", "none")
		if code != exitBadStatus || !strings.Contains(out, `"node":"`+node+`"`) || !strings.Contains(out, `"status":"`+status+`"`) {
			t.Errorf("%s: exit %d, %s%s", node, code, out, stderr)
		}
	}
}

// A node that several references of one parent lead to is shown once to people; JSON has each reference.
func TestSeveralReferencesToOneNode(t *testing.T) {
	url := testServer(t, func(s *memspace.Space) {
		plant := s.AddObject(s.Objects(), "Plant", memspace.WithNodeID(ua.NewStringNodeID(2, "Plant")))
		line := s.AddObject(plant, "Line1", memspace.WithNodeID(ua.NewStringNodeID(2, "Line1")))
		s.AddVariable(line, "Speed", ua.Int32(7), memspace.WithNodeID(ua.NewStringNodeID(2, "Speed")))
		if err := s.AddReference(ua.NewStringNodeID(2, "Plant"), ua.ID(uaid.HasEventSource), ua.NewStringNodeID(2, "Line1")); err != nil {
			t.Fatal(err)
		}
	}, nil)
	w := isolated(t)
	run := func(args ...string) string {
		code, out, stderr := w.run(t.Context(), append([]string{"browse", url, "ns=2;s=Plant", "--security", "none"}, args...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	if out := run(); strings.Count(out, "obj Line1") != 1 || strings.Count(out, "var Speed") != 1 || strings.Contains(out, "above") {
		t.Errorf("for people:\n%s", out)
	}
	if out := run("--depth", "2", "--json"); strings.Count(out, `"node":"ns=2;s=Line1"`) != 2 || strings.Count(out, `"node":"ns=2;s=Speed"`) != 1 ||
		!strings.Contains(out, `"reference":"i=36"`) {
		t.Errorf("JSON:\n%s", out)
	}
	if out := run("--refs", "i=36", "--json"); strings.Count(out, "\n") != 1 {
		t.Errorf("--refs i=36:\n%s", out)
	}
	if out := run("--refs", "/Types/ReferenceTypes/References/HierarchicalReferences/HasEventSource", "--json"); strings.Count(out, "\n") != 1 {
		t.Errorf("--refs with a path:\n%s", out)
	}
}
