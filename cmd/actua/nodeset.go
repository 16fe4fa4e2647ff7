package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/actua/actua/internal/config"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// importNodesets adds the files of a configuration and of --nodeset, and says on standard error what of
// them is not served as it stands.
func (a *app) importNodesets(set *config.Config, space *memspace.Space) error {
	if set.Lenient && len(set.Nodesets) == 0 {
		return usage("--lenient is about the files of --nodeset, and there is none")
	}
	for i, name := range set.Nodesets {
		if slices.Contains(set.Nodesets[:i], name) {
			return usage("the nodeset %s is given twice", name)
		}
	}
	report, err := space.ImportFiles(memspace.ImportOptions{Lenient: set.Lenient}, set.Nodesets...)
	if err != nil {
		hint := ""
		if !set.Lenient && !errors.Is(err, fs.ErrNotExist) {
			hint = " (--lenient leaves out what is wrong)"
		}
		return ourPart(err, "%v%s", err, hint)
	}
	for i := range report.Skipped {
		fmt.Fprintf(a.err, "skipped: %s\n", cleanLines(report.Skipped[i].Error()))
	}
	if n := len(report.Doubtful); n > 0 && set.Lenient {
		for i := range report.Doubtful {
			fmt.Fprintf(a.err, "doubtful: %s\n", cleanLines(report.Doubtful[i].Error()))
		}
	} else if n > 0 {
		fmt.Fprintf(a.err, "warning: %d values of the nodesets do not fit their variables and are served as they stand; --lenient lists them\n", n)
	}
	return nil
}
