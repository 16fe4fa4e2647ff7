package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var reportID = regexp.MustCompile(`\b[CSUVPT][0-9]{2}\b`)

// TestReportsHaveTests reads docs/reports.md, the list of user reports of other stacks that we took as
// test ideas, and wants for each that is not left for later a test that names it: in its name, its
// comment, or the comment or name of a case inside it.
func TestReportsHaveTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	done, later, found := strings.Cut(string(text), "\n## Left for later")
	if !found {
		t.Fatal("docs/reports.md has no part \"Left for later\"")
	}
	tested := map[string]bool{}
	for _, f := range files(t) {
		if !f.test() || f.pkg == "internal/arch" {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			note := func(text string) {
				for _, id := range reportID.FindAllString(text, -1) {
					tested[id] = true
				}
			}
			note(strings.ReplaceAll(fn.Name.Name, "Report", "Report "))
			for _, m := range regexp.MustCompile(`Report([CSUVPT][0-9]{2})`).FindAllStringSubmatch(fn.Name.Name, -1) {
				note(m[1])
			}
			for _, g := range f.ast.Comments {
				if fn.Doc == g || (g.Pos() > fn.Pos() && g.End() < fn.End()) {
					note(g.Text())
				}
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok {
					note(l.Value)
				}
				return true
			})
		}
	}
	ids := reportID.FindAllString(done, -1)
	if len(ids) < 40 {
		t.Fatalf("docs/reports.md lists only %d reports", len(ids))
	}
	for _, id := range ids {
		if !tested[id] {
			t.Errorf("report %s is listed as done, but no test names it", id)
		}
	}
	for _, id := range reportID.FindAllString(later, -1) {
		if strings.Contains(done, id) {
			t.Errorf("report %s is both done and left for later", id)
		}
	}
}
