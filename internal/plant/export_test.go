package plant

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uaserver/memspace"
)

// The plant, with a value of every type, is the same after it was written to a nodeset and read again.
func TestPlantAsNodeset(t *testing.T) {
	const uri = "urn:actua:demo"
	lines := func(s *memspace.Space) ([]byte, []string) {
		var b bytes.Buffer
		if err := s.ExportModels(&b, uri); err != nil {
			t.Fatal(err)
		}
		list := strings.Split(b.String(), "\n")
		slices.Sort(list) // references may stand in another order
		return b.Bytes(), list
	}
	space := memspace.New(uri)
	if _, err := Build(space); err != nil {
		t.Fatal(err)
	}
	file, want := lines(space)
	again := memspace.New(uri)
	report, err := again.Import(memspace.ImportOptions{}, memspace.NodeSetSource{Name: "plant.xml", Data: file})
	if err != nil {
		t.Fatal(err)
	}
	for i := range report.Doubtful {
		t.Error(&report.Doubtful[i])
	}
	_, got := lines(again)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of the sorted files differs:\n%s\n%s", i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
}
