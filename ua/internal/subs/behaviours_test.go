package subs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBehavioursHaveTests: each line of testdata/behaviours names a test of this package that exists, its
// subtests by the names in the source, or has a reason.
func TestBehavioursHaveTests(t *testing.T) {
	sources, _ := filepath.Glob("*_test.go")
	tests := map[string]string{} // a test's source
	start := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, name := range sources {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := start.FindAllSubmatchIndex(b, -1)
		for i, a := range at {
			end := len(b)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			tests[string(b[a[2]:a[3]])] = string(b[a[0]:end])
		}
	}
	lists, _ := filepath.Glob("testdata/behaviours/*.txt")
	if len(lists) == 0 {
		t.Fatal("no lists")
	}
	for _, name := range lists {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			behaviour, test, ok := strings.Cut(line, "|")
			test = strings.TrimSpace(test)
			if !ok || strings.TrimSpace(behaviour) == "" || test == "" {
				t.Errorf("%s:%d: not a behaviour and a test", name, i+1)
				continue
			}
			if strings.HasPrefix(test, "reason: ") {
				continue
			}
			top, sub, _ := strings.Cut(test, "/")
			source, ok := tests[top]
			switch {
			case !ok:
				t.Errorf("%s:%d: there is no %s", name, i+1, top)
			case sub != "" && !strings.Contains(source, `"`+sub+`"`):
				t.Errorf("%s:%d: %s has no case %q", name, i+1, top, sub)
			}
		}
	}
}
