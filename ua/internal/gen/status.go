package main

import (
	"fmt"
	"sort"
	"strconv"
)

// statusFiles makes the constants and the table of status codes.
func statusFiles(in *inputs) ([]output, error) {
	rows, err := in.rows(statusFile, 3)
	if err != nil {
		return nil, err
	}
	type status struct {
		code       uint64
		name, text string
	}
	var all []status
	for i, row := range rows {
		code, err := strconv.ParseUint(row[1], 0, 32)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", statusFile, i+1, err)
		}
		all = append(all, status{code, row[0], row[2]})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].code < all[j].code })
	for i := range all[1:] {
		if all[i].code == all[i+1].code {
			return nil, fmt.Errorf("%s: %s and %s have the same code", statusFile, all[i].name, all[i+1].name)
		}
	}
	s := in.newSource("ua/status_gen.go", "ua", statusFile)
	s.line("// Status codes (Part 4, 7.38; Part 6, A.2).")
	s.line("const (")
	for _, c := range all {
		s.comment("\t", fmt.Sprintf("%s: %s", c.name, sentence(c.text)))
		s.line("\t%s StatusCode = 0x%08X", c.name, c.code)
	}
	s.line(")")
	s.line("")
	s.line("// statusTable holds the status codes by number.")
	s.line("var statusTable = [...]statusInfo{")
	for _, c := range all {
		s.line("\t{%s, %q, %q},", c.name, c.name, c.text)
	}
	s.line("}")
	return s.files()
}
