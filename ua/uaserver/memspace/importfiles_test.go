package memspace

import (
	"bytes"
	"fmt"
	"github.com/actua/actua/ua/uaid"
	"maps"
	"slices"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"

	"os"
	"path/filepath"
	"testing"
)

// officialFiles are the companion specifications of the schema folder; the test is skipped without.
func officialFiles(t testing.TB) []string {
	t.Helper()
	folder := os.Getenv("ACTUA_SCHEMA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "schema")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "nodesets", "*.xml"))
	if len(files) == 0 {
		t.Skipf("no nodesets in %s; set ACTUA_SCHEMA to the folder of the schema files", folder)
	}
	return files
}

// sameSpace compares all nodes of two Spaces whose own namespaces may have other indexes.
func sameSpace(t *testing.T, a, b *Space) {
	t.Helper()
	m := indexMap{}
	for i, uri := range *a.uris.Load() {
		if at, ok := b.index(uri); ok {
			m[(*a.indexes.Load())[i]] = at
		}
	}
	expect(t, "nodes", b.Len(), a.Len())
	bad := 0
	a.nodes.each(func(n *Node) bool {
		o := b.nodes.find(m.id(n.id))
		if o == nil {
			t.Errorf("%v %v is missing", n.id, n.name)
		} else {
			for _, d := range differences(m, n, o) {
				t.Errorf("%v %v: %s", n.id, n.name, d)
				bad++
			}
		}
		return bad < 20
	})
}

func differences(m indexMap, a, b *Node) (list []string) {
	check := func(what string, same bool) {
		if !same {
			list = append(list, what)
		}
	}
	for at := ua.AttributeNodeID; at <= ua.AttributeAccessLevelEx; at++ {
		var x, y ua.DataValue
		a.space.Read(session(""), []uaserver.ReadItem{{NodeID: a.id, Attribute: at, Result: &x}})
		b.space.Read(session(""), []uaserver.ReadItem{{NodeID: b.id, Attribute: at, Result: &y}})
		if a.id.Namespace() == 0 && at == ua.AttributeValue {
			continue // the server's own values
		}
		want := m.value(x.Value)
		if x.Status != y.Status || string(want.AppendBinary(nil)) != string(y.Value.AppendBinary(nil)) {
			list = append(list, fmt.Sprintf("attribute %v: %v %v, was %v %v", at, y.Status, y.Value, x.Status, want))
		}
	}
	refs := func(n *Node, m indexMap) map[string]int {
		out := map[string]int{}
		kinds := *n.space.kinds.Load()
		n.each(func(r ref) bool {
			out[fmt.Sprint(m.id(kinds[r.kind()].id), r.forward(), m.id(r.target.id))]++
			return true
		})
		return out
	}
	x, y := refs(a, m), refs(b, nil)
	check(fmt.Sprintf("references %v, were %v", y, x), maps.Equal(x, y))
	return list
}

// All official files load together, in the order of their dependencies, and what is exported loads again
// with the same content.
func TestOfficialFiles(t *testing.T) {
	files := officialFiles(t)
	slices.Reverse(files)
	s := newSpace(t)
	report, err := s.ImportFiles(ImportOptions{}, files...)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "models", len(report.Models), len(files))
	place := map[string]int{}
	for i, m := range report.Models {
		place[m.URI] = i
	}
	if place["http://opcfoundation.org/UA/DI/"] > place["http://opcfoundation.org/UA/Machinery/"] ||
		place["http://opcfoundation.org/UA/Machinery/"] > place["http://opcfoundation.org/UA/MachineTool/"] {
		t.Errorf("order of the models: %v", report.Models)
	}
	for _, d := range report.Doubtful {
		// Entries of an enumeration's dictionary have rank 2, but the files give an array.
		if !strings.Contains(d.Node, "EnumDictionaryEntries") {
			t.Errorf("doubtful: %v", &d)
		}
	}
	survivesExport(t, s)
	// A part: what Root leads to.
	var b bytes.Buffer
	if err := s.Export(&b, s.zero(uaid.RootFolder)); err != nil {
		t.Fatal(err)
	}
	part := newSpace(t)
	if _, err := part.Import(ImportOptions{}, NodeSetSource{"part.xml", b.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if part.Len() < s.Len()-20 {
		t.Errorf("%d of %d nodes below Root", part.Len(), s.Len())
	}
}

// survivesExport exports all models of a Space and imports them into another, which then has the same
// content.
func survivesExport(t *testing.T, s *Space) {
	t.Helper()
	var b bytes.Buffer
	if err := s.ExportModels(&b, (*s.uris.Load())[1:]...); err != nil {
		t.Fatal(err)
	}
	again := newSpace(t)
	if _, err := again.Import(ImportOptions{}, NodeSetSource{"all.xml", b.Bytes()}); err != nil {
		t.Fatal(err)
	}
	sameSpace(t, s, again)
}

func fileOf(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Each nodeset that comes with node-opcua loads with those that it requires, or the report names what is
// wrong in it.
func TestFilesOfNodeOPCUA(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "interop", "node_modules", "node-opcua-nodesets", "nodesets")
	files, _ := filepath.Glob(filepath.Join(folder, "*.xml"))
	if len(files) == 0 {
		t.Skipf("no nodesets in %s; npm ci in interop installs them", folder)
	}
	s := newSpace(t)
	report, err := s.ImportFiles(ImportOptions{Lenient: true}, files...)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "models", len(report.Models), len(files)-1) // all but namespace 0
	for i := range report.Skipped {
		e := &report.Skipped[i]
		switch {
		case e.Model == uaserver.NamespaceURI0:
		case filepath.Base(e.File) == "Opc.Ua.MetalForming.NodeSet2.xml" && strings.Contains(e.Error(), "61987#ABB271#007"):
			// It refers to an entry of IRDI that this edition of IRDI does not have.
		default:
			t.Error(e)
		}
	}
	survivesExport(t, s)
}
