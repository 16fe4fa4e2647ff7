package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uaserver/memspace"
)

// The commands in docs/cli.md, docs/security.md and the README work against the demo profile, in the order in which they stand.
func TestDocumentedCommands(t *testing.T) {
	w := isolated(t)
	var text string
	for _, name := range []string{"cli", "security"} {
		b, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	thumb := peer(t, "server")
	text = strings.ReplaceAll(text, "5A0F03B3", thumb[:8])
	t.Chdir(t.TempDir()) // some write files
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines, done := serveLines(t, ctx, "--listen", "opc.tcp://127.0.0.1:0", "--json")
	var listening struct{ URL string }
	if err := json.Unmarshal([]byte(<-lines), &listening); err != nil {
		t.Fatal(err)
	}
	host := regexp.MustCompile(`\b(opc\.tcp://)?(localhost|plant7)(:\d+)?(\s|$)`)
	n := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for _, command := range strings.Split(block[1], "\n") {
			command, _, _ = strings.Cut(command, "   #")
			args, ok := strings.CutPrefix(command, "actua ")
			if !ok || strings.HasPrefix(args, "serve") || strings.ContainsAny(args, "|$") {
				continue
			}
			n++
			code, out, stderr := w.run(ctx, words(host.ReplaceAllString(args, listening.URL+"$4"))...)
			if code != 0 || out == "" {
				t.Errorf("%s: exit %d, %s", command, code, stderr)
			}
		}
	}
	newcomer := isolated(t) // who has trusted nobody yet
	for _, m := range regexp.MustCompile(`(?m)^go run ./cmd/actua +(\w+ +opc.*)$`).FindAllStringSubmatch(string(readme), -1) {
		n++
		if code, out, stderr := newcomer.run(ctx, words(host.ReplaceAllString(m[1], listening.URL+"$4"))...); code != 0 || out == "" {
			t.Errorf("README, %s: exit %d, %s", m[1], code, stderr)
		}
	}
	if n < 30 {
		t.Errorf("only %d commands found", n)
	}
	cancel()
	<-done
}

// The nodesets that the pages serve together need no other.
func TestDocumentedNodesets(t *testing.T) {
	folder := os.Getenv("ACTUA_SCHEMA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "schema")
	}
	folder = filepath.Join(folder, "nodesets")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("%v; set ACTUA_SCHEMA to the folder of the schema files", err)
	}
	n := 0
	for _, name := range []string{"cli", "nodesets"} {
		text, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range regexp.MustCompile(`(?m)^actua serve .*--nodeset.*$`).FindAllString(string(text), -1) {
			var files []string
			for _, m := range regexp.MustCompile(`--nodeset (\S+)`).FindAllStringSubmatch(command, -1) {
				files = append(files, filepath.Join(folder, m[1]))
			}
			n++
			if _, err := memspace.New("urn:test").ImportFiles(memspace.ImportOptions{}, files...); err != nil {
				t.Errorf("%s.md: %s: %v", name, command, err)
			}
		}
	}
	if n < 2 {
		t.Errorf("only %d commands found", n)
	}
}
