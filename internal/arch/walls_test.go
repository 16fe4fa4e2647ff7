// Package arch holds the rules of the house as tests: who may import whom, which packages are pure,
// what the public surface is, and that every exported name is documented.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/actua/actua"
	root   = "../.."
)

// file is one parsed Go file of this module.
type file struct {
	path    string // relative to the root, with slashes
	pkg     string // import path relative to the module, "" for the root
	ast     *ast.File
	imports []string
	lines   int
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f *file) generated() bool { return strings.HasSuffix(f.path, "_gen.go") }

var fset = token.NewFileSet()

// files parses all Go files of the module, those of nested modules left out.
func files(t *testing.T) []*file {
	t.Helper()
	var out []*file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "interop" || d.Name() == "testdata" || d.Name() == "node_modules" || (len(d.Name()) > 2 && d.Name()[0] == '.') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		a, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f := &file{path: rel, pkg: strings.TrimPrefix(filepath.ToSlash(filepath.Dir(rel)), "."), ast: a}
		f.lines = fset.File(a.Pos()).LineCount()
		for _, i := range a.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			f.imports = append(f.imports, p)
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d files found: is the root right?", len(out))
	}
	return out
}

// below reports whether pkg is the folder or lies below it.
func below(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// wall forbids the files of From, tests left out unless Tests is set, to import what Not names.
type wall struct {
	from  string
	not   []string
	tests bool
	why   string
}

var walls = []wall{
	{from: "ua", not: []string{module + "/actor", module + "/twin"}, tests: true, why: "the two families know each other only through twin"},
	{from: "actor", not: []string{module + "/ua", module + "/twin"}, tests: true, why: "the two families know each other only through twin"},
	{from: "ua/uaclient", not: []string{module + "/ua/uaserver"}, why: "client and server meet only in external tests"},
	{from: "ua/uaserver", not: []string{module + "/ua/uaclient"}, why: "client and server meet only in external tests"},
	{from: "ua/internal/uasc", not: []string{"net", "os", "io", "log", "log/slog"}, why: "the secure conversation is pure"},
	{from: "ua/internal/subs", not: []string{"net", "os", "io", "log", "log/slog"}, why: "subscriptions are pure"},
	{from: "actor/internal/assoc", not: []string{"net", "os", "io", "log", "log/slog"}, why: "associations are pure"},
	{from: "actor/internal/wheel", not: []string{module, "net", "os", "io", "log", "log/slog", "sync"}, why: "the timing wheel is pure"},
	{from: "actor/internal/akkapb", not: []string{module, "net", "os", "io", "log", "log/slog", "reflect"}, why: "codecs are pure"},
	{from: "actor/internal/akkapb", not: []string{module, "net", "os", "io", "log", "log/slog", "reflect"}, why: "codecs are pure"},
	{from: "actor/serial", not: []string{"net", "os", "io", "log", "log/slog"}, why: "serializers are pure"},
	{from: "actor/internal/wheel", not: []string{module, "net", "os", "io", "log", "log/slog", "sync"}, why: "the timing wheel is pure"},
	{from: "ua/internal/filter", not: []string{"net", "os", "io", "log", "log/slog"}, why: "filters are pure"},
	{from: "ua/internal/uacp", not: []string{"net", "os"}, why: "framing is pure"},
	{from: "ua/internal/secpol", not: []string{"net", "os"}, why: "cryptography is pure"},
	{from: "ua/internal", not: []string{module + "/ua/uaclient", module + "/ua/uaserver", "github.com/spf13"}, why: "what both sides share knows neither"},
	{from: "internal/lease", not: []string{module, "net", "os", "io", "time"}, why: "pools know nobody and wait for nothing"},
	{from: "examples", not: []string{module + "/ua/internal", module + "/internal"}, why: "examples use what users can use"},
}

func TestImportWalls(t *testing.T) {
	for _, f := range files(t) {
		for _, w := range walls {
			if !below(f.pkg, w.from) || (f.test() && !w.tests) {
				continue
			}
			for _, i := range f.imports {
				for _, n := range w.not {
					if below(i, n) {
						t.Errorf("%s imports %s: %s", f.path, i, w.why)
					}
				}
			}
		}
	}
}

// TestTypesStandAlone keeps package ua at the bottom.
func TestTypesStandAlone(t *testing.T) {
	allowed := map[string][]string{
		"ua/uabin": {},
		"ua":       {module + "/ua/uabin"},
		"ua/uaid":  {},
	}
	for _, f := range files(t) {
		ours, ok := allowed[f.pkg]
		if !ok || f.test() {
			continue
		}
		for _, i := range f.imports {
			if i == "reflect" {
				t.Errorf("%s imports reflect: codecs have none", f.path)
			}
			if below(i, module) && !slices.Contains(ours, i) {
				t.Errorf("%s imports %s: %s may import of ours only %v", f.path, i, f.pkg, ours)
			}
		}
	}
}

// TestPureCores finds clocks and goroutines in the packages that have none.
func TestPureCores(t *testing.T) {
	clocks := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	for _, f := range files(t) {
		if f.test() || !slices.ContainsFunc([]string{"ua/internal/uasc", "ua/internal/uacp", "ua/internal/subs", "ua/internal/filter", "actor/internal/assoc", "actor/internal/akkapb", "actor/internal/wheel", "actor/serial"},
			func(p string) bool { return below(f.pkg, p) }) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a go statement in a pure package", fset.Position(x.Pos()))
			case *ast.SelectorExpr:
				if p, ok := x.X.(*ast.Ident); ok && p.Name == "time" && slices.Contains(clocks, x.Sel.Name) {
					t.Errorf("%s: time.%s in a pure package: time comes as an argument", fset.Position(x.Pos()), x.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestNoTestingInProduct keeps package testing out of what ships.
func TestNoTestingInProduct(t *testing.T) {
	for _, f := range files(t) {
		if !f.test() && slices.Contains(f.imports, "testing") && !below(f.pkg, "ua/internal/link/linktest") && !below(f.pkg, "actor/testkit") {
			t.Errorf("%s imports testing", f.path)
		}
	}
}

// tooLong lists hand-written files above the limit, each with its reason.
var tooLong = map[string]string{}

// TestFileSizes keeps files to one job. Tests may be longer.
func TestFileSizes(t *testing.T) {
	const limit = 500
	for _, f := range files(t) {
		if f.generated() || f.test() {
			continue
		}
		if reason := tooLong[f.path]; f.lines > limit && reason == "" {
			t.Errorf("%s has %d lines, the limit is %d: which two jobs does it do?", f.path, f.lines, limit)
		} else if f.lines <= limit && reason != "" {
			t.Errorf("%s is not too long any more: take it off the list", f.path)
		}
	}
}

// TestFunctionSizes keeps functions readable; a table or a switch over the standard's types may be longer.
func TestFunctionSizes(t *testing.T) {
	const limit = 120
	for _, f := range files(t) {
		if f.generated() || f.test() {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > limit {
					t.Errorf("%s: function %s has %d lines, the limit is %d", fset.Position(fn.Pos()), fn.Name.Name, n, limit)
				}
			}
		}
	}
}

// TestExamplesAreShort holds the examples to what the documentation promises.
func TestExamplesAreShort(t *testing.T) {
	for _, f := range files(t) {
		if below(f.pkg, "examples") && !f.test() && f.lines > 80 {
			t.Errorf("%s has %d lines, an example has at most 80", f.path, f.lines)
		}
	}
}
