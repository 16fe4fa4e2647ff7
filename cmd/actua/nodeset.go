package main

import (
	"fmt"
	"slices"

	"github.com/actua/actua/ua/uaserver/memspace"
)

// importNodesets adds the files of --nodeset, and says on standard error what of them is not served as it
// stands.
func (a *app) importNodesets(f *serveFlags, space *memspace.Space) error {
	if f.lenient && len(f.nodesets) == 0 {
		return usage("--lenient is about the files of --nodeset, and there is none")
	}
	for i, name := range f.nodesets {
		if slices.Contains(f.nodesets[:i], name) {
			return usage("--nodeset %s is given twice", name)
		}
	}
	report, err := space.ImportFiles(memspace.ImportOptions{Lenient: f.lenient}, f.nodesets...)
	if err != nil {
		hint := ""
		if !f.lenient {
			hint = " (--lenient leaves out what is wrong)"
		}
		return ourPart(err, "%v%s", err, hint)
	}
	for i := range report.Skipped {
		fmt.Fprintf(a.err, "skipped: %s\n", cleanLines(report.Skipped[i].Error()))
	}
	if n := len(report.Doubtful); n > 0 && f.lenient {
		for i := range report.Doubtful {
			fmt.Fprintf(a.err, "doubtful: %s\n", cleanLines(report.Doubtful[i].Error()))
		}
	} else if n > 0 {
		fmt.Fprintf(a.err, "warning: %d values of the nodesets do not fit their variables and are served as they stand; --lenient lists them\n", n)
	}
	return nil
}
