package main

import (
	"regexp"
	"slices"
	"testing"
)

// TestTableFollowsTheProduct: each edit still finds its text, so that the script works when it is needed.
func TestTableFollowsTheProduct(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(slices.Clone(table), mailboxTable...) {
		if seen[m.name] {
			t.Errorf("two mutations are called %q", m.name)
		}
		seen[m.name] = true
		if _, err := regexp.Compile(m.cases); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		changed, err := m.apply("../..")
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if len(changed) == 0 {
			t.Errorf("%s changes nothing", m.name)
		}
	}
}
