package memspace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// dated is a file of one model with a date, which requires another one of a date; "" for none.
func dated(name, uri, date, needs, of string) NodeSetSource {
	attribute := func(d string) string {
		if d == "" {
			return ""
		}
		return fmt.Sprintf(` Version="1.0" PublicationDate=%q`, d)
	}
	return NodeSetSource{name, []byte(`<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"><NamespaceUris><Uri>` + uri +
		`</Uri></NamespaceUris><Models><Model ModelUri="` + uri + `"` + attribute(date) + `><RequiredModel ModelUri="` + needs + `"` + attribute(of) + `/></Model></Models>` +
		`<UAObject NodeId="ns=1;i=1" BrowseName="1:A"><DisplayName>A</DisplayName><References><Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References></UAObject></UANodeSet>`)}
}

const ns0URI = "http://opcfoundation.org/UA/"

// A model that is older than a file needs is an error that says so; lenient, it is listed.
func TestImportComparesDates(t *testing.T) {
	const old, young = "2022-03-01T00:00:00Z", "2024-05-06T00:00:00Z"
	for _, c := range []struct {
		have, need string
		ok         bool
	}{{old, old, true}, {young, old, true}, {old, young, false}, {"", young, true}, {old, "", true}} {
		base, user := dated("base.xml", "urn:base", c.have, ns0URI, ""), dated("user.xml", "urn:user", "", "urn:base", c.need)
		for _, together := range []bool{true, false} { // in one import, or one after the other
			s := newSpace(t)
			files := []NodeSetSource{user, base}
			if !together {
				if _, err := s.Import(ImportOptions{}, base); err != nil {
					t.Fatal(err)
				}
				files = files[:1]
			}
			nodes := s.Len()
			_, err := s.Import(ImportOptions{}, files...)
			if c.ok {
				if err != nil {
					t.Errorf("%+v: %v", c, err)
				}
				continue
			}
			wantImportError(t, err, "user.xml: the nodeset needs the model urn:base of 2024-05-06 (version 1.0) or later, and that of base.xml is of 2022-03-01 (version 1.0)", "urn:base")
			expect(t, "nodes after the error", s.Len(), nodes)
			report, err := s.Import(ImportOptions{Lenient: true}, files...)
			if err != nil || len(report.Doubtful) != 1 || len(report.Skipped) != 0 || report.Doubtful[0].Model != "urn:base" {
				t.Errorf("%+v, lenient: %v %+v", c, err, report)
			}
			expect(t, "nodes of the lenient import", s.Len(), nodes+len(files))
		}
	}
	s := newSpace(t)
	_, err := s.Import(ImportOptions{}, dated("future.xml", "urn:future", "", ns0URI, "2999-01-01T00:00:00Z"))
	wantImportError(t, err, "of 2999-01-01 (version 1.0) or later, and that of the built-in namespace 0 is of 20", ns0URI)
	if _, err := s.Import(ImportOptions{}, dated("now.xml", "urn:now", "", ns0URI, "2020-01-01T00:00:00Z")); err != nil {
		t.Error(err)
	}
}

// What is exported keeps version and date of the models that were imported, its own and required ones.
func TestExportKeepsDates(t *testing.T) {
	s := newSpace(t)
	if _, err := s.Import(ImportOptions{}, dated("base.xml", "urn:base", "2022-03-01T00:00:00Z", ns0URI, "")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.ExportModels(&b, "urn:base"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `<Model ModelUri="urn:base" Version="1.0" PublicationDate="2022-03-01T00:00:00Z">`) {
		t.Error(b.String())
	}
	again := newSpace(t)
	if _, err := again.Import(ImportOptions{}, NodeSetSource{"again.xml", b.Bytes()}); err != nil {
		t.Fatal(err)
	}
	_, err := again.Import(ImportOptions{}, dated("user.xml", "urn:user", "", "urn:base", "2024-01-01T00:00:00Z"))
	wantImportError(t, err, "that of again.xml is of 2022-03-01", "urn:base")
}
