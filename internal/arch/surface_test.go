package arch

import (
	"bytes"
	"flag"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden text of the public surface in api/")

// public reports whether users may import the package.
func public(pkg string) bool {
	if pkg == "" {
		return false
	}
	parts := strings.Split(pkg, "/")
	return !slices.Contains(parts, "internal") && (below(pkg, "ua") || below(pkg, "actor") || below(pkg, "twin"))
}

// TestPublicSurface compares every exported declaration with the golden text in api/: a change of the
// public surface is a change of those files, seen in review. Run with -update to accept it.
func TestPublicSurface(t *testing.T) {
	surface := map[string][]string{}
	for _, f := range files(t) {
		if f.test() || !public(f.pkg) {
			continue
		}
		for _, d := range f.ast.Decls {
			surface[f.pkg] = append(surface[f.pkg], exported(d)...)
		}
	}
	seen := map[string]bool{}
	for pkg, decls := range surface {
		sort.Strings(decls)
		name := strings.ReplaceAll(pkg, "/", ".") + ".txt"
		seen[name] = true
		path := filepath.Join(root, "api", name)
		got := strings.Join(decls, "\n") + "\n"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("package %s has no golden text (%v): go test ./internal/arch -update", pkg, err)
			continue
		}
		if got != string(want) {
			t.Errorf("the public surface of %s differs from api/%s:\n%s\nIf that is meant: go test ./internal/arch -update", pkg, name, firstDifference(string(want), got))
		}
	}
	old, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if !seen[filepath.Base(path)] {
			if *update {
				os.Remove(path)
				continue
			}
			t.Errorf("%s is of a package that does not exist", path)
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, l := range w {
		if !slices.Contains(g, l) {
			return "- " + l
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			return "+ " + l
		}
	}
	return "only the order"
}

// exported renders the exported parts of a declaration, a line each.
func exported(d ast.Decl) (out []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || (d.Recv != nil && !ast.IsExported(receiver(d))) {
			return nil
		}
		c := *d
		c.Body, c.Doc = nil, nil
		return []string{render(&c)}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						typ := ""
						if s.Type != nil {
							typ = " " + render(s.Type)
						}
						out = append(out, d.Tok.String()+" "+n.Name+typ)
					}
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					out = append(out, exportedType(s)...)
				}
			}
		}
	}
	return out
}

func exportedType(s *ast.TypeSpec) []string {
	switch x := s.Type.(type) {
	case *ast.StructType:
		out := []string{"type " + s.Name.Name + params(s) + " struct"}
		for _, f := range x.Fields.List {
			if len(f.Names) == 0 {
				out = append(out, "type "+s.Name.Name+" struct, embeds "+render(f.Type))
			}
			for _, n := range f.Names {
				if n.IsExported() {
					out = append(out, "type "+s.Name.Name+" struct, "+n.Name+" "+render(f.Type))
				}
			}
		}
		return out
	case *ast.InterfaceType:
		out := []string{"type " + s.Name.Name + params(s) + " interface"}
		for _, f := range x.Methods.List {
			for _, n := range f.Names {
				out = append(out, "type "+s.Name.Name+" interface, "+n.Name+strings.TrimPrefix(render(f.Type), "func"))
			}
			if len(f.Names) == 0 {
				out = append(out, "type "+s.Name.Name+" interface, "+render(f.Type))
			}
		}
		return out
	}
	eq := " "
	if s.Assign.IsValid() {
		eq = " = "
	}
	return []string{"type " + s.Name.Name + params(s) + eq + render(s.Type)}
}

func params(s *ast.TypeSpec) string {
	if s.TypeParams == nil {
		return ""
	}
	var names []string
	for _, f := range s.TypeParams.List {
		for _, n := range f.Names {
			names = append(names, n.Name+" "+render(f.Type))
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func render(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestExportsAreDocumented wants a doc comment on every exported name of a public package. Members of
// a documented group of constants or variables need none.
func TestExportsAreDocumented(t *testing.T) {
	for _, f := range files(t) {
		if f.test() || !public(f.pkg) {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) && !f.generated() {
					t.Errorf("%s: %s has no doc comment", fset.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					undocumented(t, d, s)
				}
			}
		}
	}
}

func undocumented(t *testing.T, d *ast.GenDecl, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
			t.Errorf("%s: type %s has no doc comment", fset.Position(s.Pos()), s.Name.Name)
		}
	case *ast.ValueSpec:
		if s.Doc == nil && s.Comment == nil && d.Doc == nil && s.Names[0].IsExported() {
			t.Errorf("%s: %s has no doc comment", fset.Position(s.Pos()), s.Names[0].Name)
		}
	}
}
