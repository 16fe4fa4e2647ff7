package digits

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var found = regexp.MustCompile(`(?m)^(?:\./)?([^:\s]+\.go):(\d+):\d+: Found (IsInBounds|IsSliceInBounds)`)

// checksInLoops builds the package in dir with the compiler's report of bounds checks, and returns how many
// it left at all and those that lie in a loop.
func checksInLoops(t *testing.T, dir string) (all int, inLoops []string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-gcflags=-d=ssa/check_bce", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, m := range found.FindAllStringSubmatch(string(out), -1) {
		all++
		line, _ := strconv.Atoi(m[2])
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(dir, filepath.Base(m[1])), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				if fset.Position(n.Pos()).Line <= line && line <= fset.Position(n.End()).Line {
					inLoops = append(inLoops, m[0])
					return false
				}
			}
			return true
		})
	}
	return all, inLoops
}

// TestNoBoundsChecksInLoops asks the compiler. That the question is asked rightly is shown on a package that
// has such a check.
func TestNoBoundsChecksInLoops(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool to ask: ", err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example\n\ngo 1.26\n")
	write("a.go", "package example\n\nfunc F(b []byte, n int) {\n\tfor i := range n {\n\t\tb[i] = 0\n\t}\n}\n\nfunc G(b []byte) byte { return b[7] }\n")
	if all, in := checksInLoops(t, dir); all != 2 || len(in) != 1 {
		t.Fatalf("a package with two bounds checks, one of them in a loop, gives %d and %v", all, in)
	}
	_, in := checksInLoops(t, ".")
	for _, l := range in {
		t.Error("a bounds check inside a loop: ", l)
	}
}
