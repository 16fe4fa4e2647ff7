package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// schemaFolder is where the official files are; it skips the test where they are not.
func schemaFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("ACTUA_SCHEMA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "schema")
	}
	if _, err := os.Stat(filepath.Join(folder, typesFile)); err != nil {
		t.Skipf("the schema files are not there (%v); set ACTUA_SCHEMA to their folder", err)
	}
	return folder
}

func TestGeneratedFilesFresh(t *testing.T) {
	schema, err := filepath.Abs(schemaFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	stale, err := run(filepath.Join("..", "..", ".."), schema, true, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stale {
		t.Errorf("%s is not what the schema files give; run: go run ./ua/internal/gen", name)
	}
}

// copyOf copies the schema files to a folder where a test may damage them.
func copyOf(t *testing.T, schema string) string {
	folder := t.TempDir()
	for _, name := range []string{typesFile, nodeSetFile, nodeIDsFile, statusFile, attributeFile} {
		b, err := os.ReadFile(filepath.Join(schema, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestDamagedInputs: a file that is missing, empty, cut or wrong is an error that names it, and one byte
// more makes what is generated from it stale.
func TestDamagedInputs(t *testing.T) {
	schema := copyOf(t, schemaFolder(t))
	inputs := map[string]string{ // with a file that is made from it
		typesFile: "ua/enums_gen.go", nodeSetFile: "ua/uaid/method_gen.go", nodeIDsFile: "ua/uaid/object_gen.go",
		statusFile: "ua/status_gen.go", attributeFile: "ua/attributes_gen.go",
	}
	whole := map[string][]byte{}
	for name := range inputs {
		path := filepath.Join(schema, name)
		var err error
		if whole[name], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		damage := map[string][]byte{"empty": []byte("\n"), "cut": whole[name][:len(whole[name])/2-3], "wrong": []byte("A,x,y,z\n")}
		for what, data := range damage {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := generate(schema); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, %s: got %v", name, what, err)
			}
		}
		os.Remove(path)
		if _, err := generate(schema); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing: got %v", name, err)
		}
		if err := os.WriteFile(path, whole[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range inputs {
		if err := os.WriteFile(filepath.Join(schema, name), append(whole[name], '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stale, err := run(filepath.Join("..", "..", ".."), schema, true, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, made := range inputs {
		if !slices.Contains(stale, made) {
			t.Errorf("%s has a byte more, but %s is not stale", name, made)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	files, err := generate(schemaFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if n := strings.Count(string(f.data), "\n"); n > 15000 {
			t.Errorf("%s has %d lines", f.name, n)
		}
		if !strings.HasPrefix(string(f.data), "// Code generated ") {
			t.Errorf("%s does not say that it is generated", f.name)
		}
	}
}

func TestGoName(t *testing.T) {
	for in, want := range map[string]string{
		"NodeId": "NodeID", "NodesToRead": "NodesToRead", "ServerUris": "ServerURIs", "Identifier": "Identifier",
		"TranslateBrowsePathsToNodeIdsRequest": "TranslateBrowsePathsToNodeIDsRequest", "EndpointUrl": "EndpointURL",
		"JsonNetworkMessage": "JSONNetworkMessage", "X509IdentityToken": "X509IdentityToken", "Guid": "GUID", "Idle": "Idle",
	} {
		if got := goName(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// TestUnionAndRecursion writes what the official files do not have: a union, and structures that
// contain themselves.
func TestUnionAndRecursion(t *testing.T) {
	number := field{name: "Number", goName: "Number", builtin: builtinNamed("Int32")}
	names := field{name: "Names", goName: "Names", builtin: builtinNamed("String"), array: true}
	u := &structure{name: "Either", goName: "Either", id: 1, binary: 2, doc: "Either is one of two.", kind: union, fields: []field{number, names}}
	tree := &structure{name: "Tree", goName: "Tree", id: 3, binary: 4, doc: "Tree is a tree."}
	tree.fields = []field{number, {name: "Children", goName: "Children", structure: tree, array: true}}
	tree.recursive = tree.reaches(tree, map[*structure]bool{})
	if tree.size() != 8 || u.size() != 4 || u.reaches(u, map[*structure]bool{}) {
		t.Errorf("sizes %d and %d", tree.size(), u.size())
	}
	s := &source{name: "x.go"}
	s.line("package ua")
	u.write(s)
	tree.write(s)
	f, err := s.file()
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "union.golden")
	if os.Getenv("ACTUA_UPDATE") != "" {
		if err := os.WriteFile(golden, f.data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != string(f.data) {
		t.Errorf("differs from %s (%v; ACTUA_UPDATE=1 rewrites it):\n%s", golden, err, f.data)
	}
}

func TestNamesDeclaredTwice(t *testing.T) {
	m := &model{
		structures: []*structure{{name: "AB", goName: "AB"}},
		enums:      []*enum{{name: "A", goName: "A", values: []enumValue{{name: "B"}}}},
	}
	if err := m.check(); err == nil || !strings.Contains(err.Error(), "AB") {
		t.Errorf("got %v", err)
	}
}
