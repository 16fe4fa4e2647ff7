// Command gen writes the generated parts of the OPC UA stack from the official schema files: status
// codes, node id constants, attribute ids, enumerations, structures with their codecs and
// descriptors, and namespace 0 as an embedded file.
//
//	go run ./ua/internal/gen -schema ../shared/schema          # from the module's root: write all
//	go run ./ua/internal/gen -schema ../shared/schema -check   # exit status 1 and names of stale files
//
// The Go files depend on nothing but the schema files. Namespace 0 is written by a second program,
// ns0blob, that is built with the generated types: it is run afterwards.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	schema := flag.String("schema", "../shared/schema", "folder of the official schema files")
	root := flag.String("root", ".", "root of the module")
	check := flag.Bool("check", false, "write nothing; name the files that are not up to date")
	sources := flag.Bool("go", false, "Go files only, without namespace 0")
	flag.Parse()
	stale, err := run(*root, *schema, *check, *sources)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(2)
	}
	if *check && len(stale) > 0 {
		for _, name := range stale {
			fmt.Fprintln(os.Stderr, "gen: stale:", name)
		}
		os.Exit(1)
	}
}

// run generates everything and returns the names of the files that differed from what it made. With
// check, it writes none of them.
func run(root, schema string, check, sourcesOnly bool) (stale []string, err error) {
	files, err := generate(schema)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.name))
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.data) {
			continue
		}
		stale = append(stale, f.name)
		if check {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return nil, err
		}
	}
	if sourcesOnly || (check && len(stale) > 0) {
		return stale, nil
	}
	// The second stage needs the types of the first, so it is another process. It is built with the
	// file that it writes, so there must be one.
	blob := filepath.Join(root, "ua", "internal", "ns0", "ns0.bin")
	if _, err := os.Stat(blob); os.IsNotExist(err) {
		if err := os.WriteFile(blob, nil, 0o644); err != nil {
			return nil, err
		}
	}
	abs, err := filepath.Abs(schema)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", "./ua/internal/gen/ns0blob", "-schema", abs, fmt.Sprintf("-check=%t", check))
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("ns0blob: %w", err)
	}
	for _, name := range bytes.Fields(out.Bytes()) {
		stale = append(stale, string(name))
	}
	return stale, nil
}

// output is a file to write, its name relative to the module's root.
type output struct {
	name string
	data []byte
}

// generate makes all Go files.
func generate(schema string) ([]output, error) {
	in, err := readInputs(schema)
	if err != nil {
		return nil, err
	}
	var files []output
	for _, part := range []func(*inputs) ([]output, error){
		statusFiles, idFiles, attributeFiles, typeFiles,
	} {
		out, err := part(in)
		if err != nil {
			return nil, err
		}
		files = append(files, out...)
	}
	return files, nil
}
