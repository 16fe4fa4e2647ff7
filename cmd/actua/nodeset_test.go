package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const nodesets = "../../ua/uaserver/memspace/testdata/"

func TestServeNodesets(t *testing.T) {
	w := isolated(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines, done := serveLines(t, ctx, "--profile", "empty", "--listen", "opc.tcp://127.0.0.1:0", "--json",
		"--nodeset", nodesets+"plant.xml", "--nodeset", nodesets+"machines.xml", "--pki", t.TempDir())
	var listening struct{ URL string }
	if err := json.Unmarshal([]byte(<-lines), &listening); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"browse " + listening.URL + " --security none":                                            "Presse",
		"read " + listening.URL + " nsu=urn:example:plant;s=Press.State --security none":          "1",
		"read " + listening.URL + " nsu=urn:example:plant;s=Press.Job --security none --json":     `"Name":"first"`,
		"read " + listening.URL + " nsu=urn:example:machines;i=3 --attribute all --security none": "FedBy",
	} {
		if code, out, stderr := w.run(ctx, words(args)...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, stderr)
		}
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestServeBadNodesets(t *testing.T) {
	w := isolated(t)
	bad := filepath.Join(t.TempDir(), "bad.xml")
	const text = `<UANodeSet><NamespaceUris><Uri>urn:bad</Uri></NamespaceUris><Models><Model ModelUri="urn:bad"/></Models>
<UAObject NodeId="ns=4;s=X" BrowseName="1:X"/></UANodeSet>`
	if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code       int
		args, want string
	}{
		{4, "--nodeset " + nodesets + "plant.xml", "plant.xml: the nodeset needs the model urn:example:machines, which none of the files has: add the file that has it"},
		{4, "--nodeset absent.xml", "absent.xml: the file cannot be read: "},
		{4, "--nodeset " + bad, "bad.xml: line 2: node ns=4;s=X (1:X): attribute NodeId: namespace index 4, but the file has 1 NamespaceUris (--lenient"},
		{2, "--lenient", "--lenient is about the files of --nodeset"},
		{2, "--nodeset a.xml --nodeset a.xml", "the nodeset a.xml is given twice"},
	} {
		code, _, stderr := w.run(context.Background(), words("serve --listen opc.tcp://127.0.0.1:0 "+c.args)...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(strings.TrimSpace(stderr), "\n") > 1 {
			t.Errorf("%s: exit %d, %s", c.args, code, stderr)
		}
	}
	// Leniently the server starts all the same.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, stderr := w.run(ctx, words("serve --listen opc.tcp://127.0.0.1:0 --lenient --nodeset "+nodesets+"plant.xml --nodeset "+bad)...)
	for _, want := range []string{"skipped: " + nodesets + "plant.xml: the nodeset needs", "skipped: " + bad + ": line 2: node"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("not listed: %q in %s", want, stderr)
		}
	}
}
