package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// keysOf lists the keys of a configuration file, those of list items with [].
func keysOf(n *yaml.Node, path string, all map[string]bool) {
	switch n.Kind {
	case yaml.DocumentNode:
		keysOf(n.Content[0], path, all)
	case yaml.SequenceNode:
		for _, x := range n.Content {
			keysOf(x, path+"[]", all)
		}
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			at := strings.TrimPrefix(path+"."+n.Content[i].Value, ".")
			all[at] = true
			keysOf(n.Content[i+1], at, all)
		}
	}
}

// configCase is a file, and what clients then see. Words that begin with ! must not be in the output.
type configCase struct {
	keys   string // that it shows the effect of
	file   string
	args   []string // of the command, behind the server's address
	code   int
	output []string
}

var configCases = []configCase{
	{"application application.name", "application: {name: press shop}", []string{"read", "i=2261"}, 0, []string{`"press shop"`}},
	{"pki application.uri", "pki: PKI2\napplication: {uri: 'urn:press:1'}", []string{"read", "i=2255"}, 0, []string{`"urn:press:1"`}},
	{"advertise", "advertise: [opc.tcp://plant7:4999]", []string{"endpoints"}, 0, []string{`"policy"`}},
	{"security security.policies", "security: {policies: [None, Basic256Sha256]}", []string{"endpoints"}, 0, []string{"Basic256Sha256", `"None"`, "!Aes"}},
	{"security.modes", "security: {modes: [Sign]}", []string{"endpoints"}, 0, []string{`"Sign"`, "!SignAndEncrypt"}},
	{"security.allow-deprecated", "security: {allow-deprecated: true}", []string{"endpoints"}, 0, []string{`"Basic256"`, `"Basic128Rsa15"`}},
	{"security.allow-deprecated", "security: {allow-deprecated: true, policies: [None, Basic256]}", []string{"endpoints"}, 0, []string{`"Basic256"`, `"Basic128Rsa15"`, "!Aes"}},
	{"security.clients", "security: {clients: any}", []string{"read", "i=2258", "--security", "encrypt"}, 0, nil},
	{"security.clients", "security: {clients: trusted}", []string{"read", "i=2258", "--security", "encrypt"}, exitNoServer, nil},
	{"security.clients", "", []string{"read", "i=2258", "--security", "encrypt"}, exitNoServer, nil},
	{"users users.anonymous users.accounts", "users: {anonymous: false, accounts: [{name: anna, password: a}]}", []string{"read", "i=2258"}, exitNoServer, nil},
	{"users.accounts[].name users.accounts[].password", "users: {anonymous: false, accounts: [{name: anna, password: a}]}",
		[]string{"read", "i=2258", "--user", "anna", "--password", "a"}, 0, nil},
	{"users.accounts[].password", "users: {accounts: [{name: anna, password: a}]}", []string{"read", "i=2258", "--user", "anna", "--password", "b"}, exitNoServer, nil},
	{"users.accounts[].password-env", "users: {accounts: [{name: anna, password-env: ANNAS_PASSWORD}]}",
		[]string{"read", "i=2258", "--user", "anna", "--password", "of anna"}, 0, nil},
	{"diagnostics", "diagnostics: true", []string{"read", "i=2294", "i=2277", "i=3707"}, 0, []string{`"value":true`}},
	{"diagnostics", "", []string{"read", "i=2294", "i=2277"}, 1, []string{`"value":false`, "BadNotReadable"}},
	{"plant", "plant: demo", []string{"read", "ns=1;s=Plant.Line1.Output"}, 0, nil},
	{"plant", "plant: none", []string{"read", "ns=1;s=Plant.Line1.Output"}, 1, []string{"BadNodeIdUnknown"}},
	{"plant", "plant: bench", []string{"read", "ns=1;i=1000"}, 0, []string{`"value":0`}},
	{"namespaces", "namespaces: ['urn:a', 'urn:b']", []string{"read", "i=2255"}, 0, []string{`"urn:a","urn:b"]`}},
	{"namespaces", "plant: demo\nnamespaces: ['urn:a', 'urn:b']", []string{"read", "ns=2;s=Plant.Line1.Output"}, 0, nil},
	{"nodesets", "nodesets: [NODESETS/plant.xml, NODESETS/machines.xml]", []string{"read", "i=2255"}, 0, []string{"urn:example:machines"}},
	{"lenient", "lenient: true\nnodesets: [NODESETS/plant.xml]", []string{"read", "i=2255"}, 0, []string{"!urn:example:machines"}},
	{"variables variables[].name", "variables: [{name: A/B/C}, {name: A/B/D}]", []string{"read", "/Objects/A/B/C", "/Objects/A/B/D", "ns=1;s=A.B.D"}, 0, nil},
	{"variables[].id", "variables: [{name: A, id: i=7}]", []string{"read", "ns=1;i=7"}, 0, nil},
	{"variables[].namespace", "namespaces: ['urn:a', 'urn:b']\nvariables: [{name: X/A, namespace: 'urn:b'}]", []string{"read", "nsu=urn:b;s=X.A", "/Objects/3:X/3:A"}, 0, nil},
	{"variables[].kind variables[].type variables[].interval variables[].min variables[].max",
		"variables: [{name: A, kind: counter, type: UInt16, min: 7, max: 8, interval: 10000h}]", []string{"read", "ns=1;s=A"}, 0, []string{`"type":"UInt16"`}},
	{"variables[].period", "variables: [{name: A, min: 5, max: 6, period: 1000000h, interval: 1000000h}]", []string{"read", "ns=1;s=A"}, 0, []string{`"value":5,`}},
	{"variables[].value", "variables: [{name: A, kind: writable, value: 40}]", []string{"read", "ns=1;s=A"}, 0, []string{`"value":40,`}},
	{"variables[].value", "variables: [{name: A, kind: writable, type: String, value: hello}]", []string{"read", "ns=1;s=A"}, 0, []string{`"value":"hello"`}},
	{"variables[].value", "variables: [{name: A, kind: writable, type: Boolean, value: true}]", []string{"read", "ns=1;s=A"}, 0, []string{`"value":true`}},
	{"variables[].kind", "variables: [{name: A, kind: writable}]", []string{"write", "ns=1;s=A", "5"}, 0, nil},
	{"variables[].kind", "variables: [{name: A, kind: ramp}]", []string{"write", "ns=1;s=A", "5"}, 1, []string{"BadNotWritable"}},
	{"variables[].min", "variables: [{name: A, kind: writable, min: -5}]", []string{"write", "ns=1;s=A", "--", "-6"}, 1, []string{"BadOutOfRange"}},
	{"variables[].max", "variables: [{name: A, kind: writable, max: 5}]", []string{"write", "ns=1;s=A", "6"}, 1, []string{"BadOutOfRange"}},
	{"variables[].max", "variables: [{name: A, max: 5}]", []string{"read", "/Objects/A/EURange"}, 0, []string{`"High":5`}},
	{"variables[].unit", "variables: [{name: A, unit: °C}]", []string{"read", "/Objects/A/EngineeringUnits"}, 0, []string{"°C"}},
	{"variables[].description", "variables: [{name: A, description: It is hot}]", []string{"read", "ns=1;s=A", "--attribute", "Description"}, 0, []string{"It is hot"}},
	{"limits limits.max-nodes-per-read", "limits: {max-nodes-per-read: 7}", []string{"read", "i=11705"}, 0, []string{`"value":7,`}},
	{"limits.max-nodes-per-read", "limits: {max-nodes-per-read: none}", []string{"read", "i=11705"}, 0, []string{`"value":0,`}},
	{"limits.idle-timeout", "limits: {idle-timeout: none}", []string{"read", "i=2258"}, 0, nil},
}

// Every key of the printed default file has an effect. Those of limits are set by name in a test of
// package config.
func TestEveryConfigKey(t *testing.T) {
	w := isolated(t)
	dir := t.TempDir()
	t.Setenv("ANNAS_PASSWORD", "of anna")
	_, printed, _ := w.run(context.Background(), "serve", "--print-config")
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(printed), &doc); err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	keysOf(&doc, "", missing)
	if len(missing) < 50 {
		t.Fatalf("only %d keys in\n%s", len(missing), printed)
	}
	for _, c := range configCases {
		file := filepath.Join(dir, "plant.yaml")
		text := strings.Replace(c.file, "PKI2", filepath.Join(dir, "pki2"), 1)
		text = strings.ReplaceAll(text, "NODESETS", nodesets)
		if !strings.Contains(c.file, "pki:") {
			text += "\npki: " + filepath.Join(dir, "pki")
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, stop := startServe(t, "--config", file, "--listen", "127.0.0.1:0")
		args := append([]string{c.args[0], s.URL}, c.args[1:]...)
		if c.args[0] == "endpoints" {
			args = append(args, "--json")
		} else if !slices.Contains(args, "--security") {
			args = slices.Insert(args, 2, "--security", "none", "--json")
		} else {
			args = append(args, "--trust", "--json")
		}
		code, out, stderr := w.run(context.Background(), args...)
		if code != c.code {
			t.Errorf("%s: %v: exit %d, %s%s", c.file, args, code, out, stderr)
		}
		for _, word := range c.output {
			if rest, not := strings.CutPrefix(word, "!"); strings.Contains(out, rest) == not {
				t.Errorf("%s: %v: %q, output %s", c.file, args, word, out)
			}
		}
		if c.keys == "advertise" && s.Endpoints[0].URL != "opc.tcp://plant7:4999" {
			t.Errorf("advertise: %v", s.Endpoints)
		}
		stop()
		for _, key := range strings.Fields(c.keys) {
			delete(missing, key)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pki2", "own")); err != nil {
		t.Error("pki:", err)
	}
	listen, page := freeAddress(t), freeAddress(t)
	file := filepath.Join(dir, "listen.yaml")
	if err := os.WriteFile(file, []byte("listen: [opc.tcp://"+listen+"]\nstats: "+page+"\npki: "+filepath.Join(dir, "pki")), 0o600); err != nil {
		t.Fatal(err)
	}
	startServe(t, "--config", file)
	if code, _, stderr := w.run(context.Background(), "read", "opc.tcp://"+listen, "i=2258", "--security", "none"); code != 0 {
		t.Error("listen:", stderr)
	}
	if r, err := http.Get("http://" + page); err != nil || r.StatusCode != http.StatusOK {
		t.Error("stats:", r, err)
	}
	delete(missing, "listen")
	delete(missing, "stats")
	for key := range missing {
		if !strings.HasPrefix(key, "limits.") {
			t.Errorf("%s has no test", key)
		}
	}
}

// What is wrong with a file is one sentence with file and line, and exit code 2; a file that cannot be
// read is exit code 4.
func TestConfigErrors(t *testing.T) {
	w := isolated(t)
	file := filepath.Join(t.TempDir(), "plant.yaml")
	for text, want := range map[string]string{
		"plant: demo\nsecurity:\n  polices: [None]\n": `plant.yaml, line 3: there is no key "polices" in security; did you mean policies?`,
		"limts: {}\n":                 `plant.yaml, line 1: there is no key "limts"; did you mean limits?`,
		"limits:\n  max-sesions: 5\n": `plant.yaml, line 2: there is no key "max-sesions" in limits; did you mean max-sessions?`,
		"\nnodesets: a.xml\n":         `plant.yaml, line 2: nodesets`,
		"plant: [\n":                  `this is no YAML`,
		"users:\n  accounts:\n    - name: a\n      password-env: NO_SUCH": `plant.yaml, line 4: the environment variable NO_SUCH, the password of a, is not set`,
		"variables: [{name: A}]\nplant: demo\nnamespaces:\n  - urn:a\n":   ``,
		"variables:\n  - name: A\n  - name: A\n":                          `plant.yaml, line 3: variables[1]: another node has the NodeId s=A already: give another name or id`,
		"plant: bench\nvariables:\n  - {name: A, id: i=1000}\n":           `plant.yaml, line 3: variables[0]:`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if code, out, stderr := w.run(context.Background(), "serve", "--config", file, "--print-config"); code != 0 || stderr != "" || !strings.Contains(out, "  - name: A\n") {
				t.Errorf("%s: exit %d, %s%s", text, code, out, stderr)
			}
			continue
		}
		code, out, stderr := w.run(context.Background(), "serve", "--config", file, "--listen", "127.0.0.1:0")
		if code != exitUsage || out != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", text, code, stderr)
		}
	}
	if code, _, stderr := w.run(context.Background(), "serve", "--config", file+"x"); code != exitOurPart || !strings.Contains(stderr, "plant.yamlx") {
		t.Error(code, stderr)
	}
}

// A certificate keeps its URI: a configuration with another one is told so.
func TestConfigOtherURI(t *testing.T) {
	w := isolated(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "plant.yaml")
	write := func(uri string) {
		if err := os.WriteFile(file, []byte("application:\n  uri: "+uri+"\npki: "+filepath.Join(dir, "pki")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("urn:one")
	_, stop := startServe(t, "--config", file, "--listen", "127.0.0.1:0")
	stop()
	write("urn:two")
	code, _, stderr := w.run(context.Background(), "serve", "--config", file, "--listen", "127.0.0.1:0")
	if code != exitUsage || !strings.Contains(stderr, "line 2: application.uri: the certificate in") {
		t.Error(code, stderr)
	}
}

// The file that the documentation explains serves as it stands, and so does a printed default file; a
// configured server does not accept unknown clients.
func TestDocumentedConfig(t *testing.T) {
	w := isolated(t)
	dir := t.TempDir()
	example, err := os.ReadFile("../../docs/plant.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```yaml\n"+string(example)+"```") {
		t.Error("docs/configuration.md does not show docs/plant.yaml as it is")
	}
	t.Setenv("OPERATOR_PASSWORD", "secret")
	files := map[string]string{"../../docs/plant.yaml": "nsu=urn:example:boilers;s=Boiler1.Temperature"}
	for profile, node := range map[string]string{"demo": "nsu=urn:actua:demo;s=Simulation.Sine", "bench": "ns=1;i=1000", "empty": "i=2258"} {
		_, text, _ := w.run(context.Background(), "serve", "--print-config", "--profile", profile)
		file := filepath.Join(dir, profile+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files[file] = node
	}
	for file, node := range files {
		s, stop := startServe(t, "--config", file, "--listen", "127.0.0.1:0", "--pki", filepath.Join(dir, "pki"))
		args := []string{"read", s.URL, node, "--trust"}
		if file == "../../docs/plant.yaml" {
			args = append(args, "--user", "operator", "--password", "secret")
		}
		if code, _, stderr := w.run(context.Background(), append(args, "--security", "encrypt")...); code != exitNoServer {
			t.Errorf("%s: an unknown client: exit %d, %s", file, code, stderr)
		}
		code, out, stderr := w.run(context.Background(), append(args, "--security", "none")...)
		if code != 0 && file != "../../docs/plant.yaml" {
			t.Errorf("%s: exit %d, %s%s", file, code, out, stderr)
		}
		if file == "../../docs/plant.yaml" {
			rejected, _ := filepath.Glob(filepath.Join(dir, "pki", "rejected", "certs", "*"))
			for _, r := range rejected {
				if err := os.Rename(r, filepath.Join(dir, "pki", "trusted", "certs", filepath.Base(r))); err != nil {
					t.Fatal(err)
				}
			}
			if code, _, stderr := w.run(context.Background(), args...); code != 0 {
				t.Errorf("%s: a trusted client: exit %d, %s", file, code, stderr)
			}
			for _, r := range rejected {
				_ = os.Remove(filepath.Join(dir, "pki", "trusted", "certs", filepath.Base(r)))
			}
		}
		stop()
	}
}

// The walk from a file to a session with security and a user name, as the page of configurations has it.
func TestDocumentedTrust(t *testing.T) {
	w := isolated(t)
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## From the file to a secured session\n")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatal("docs/configuration.md does not have the walk any more")
	}
	t.Chdir("../../docs") // the file is there
	pki := filepath.Join(t.TempDir(), "pki")
	t.Setenv("OPERATOR_PASSWORD", "secret")
	s, stop := startServe(t, "--config", "plant.yaml", "--listen", "127.0.0.1:0", "--pki", pki)
	defer stop()
	w.env["ACTUA_PASSWORD"] = "secret"
	own := func(args ...string) string {
		_, out, _ := w.run(context.Background(), append([]string{"cert", "show", "--json"}, args...)...)
		var line struct{ Thumbprint string }
		if err := json.Unmarshal([]byte(out), &line); err != nil {
			t.Fatal(err)
		}
		return line.Thumbprint[:8]
	}
	wants := map[string][]struct {
		code int
		text string
	}{
		"connect": {{exitNoServer, "FAILED  certificate"}, {exitNoServer, "FAILED  channel"}, {0, "user operator"}},
		"cert":    {{0, "trusted"}, {0, "trusted"}},
	}
	thumbs := []func() string{func() string { return own("--pki", pki) }, func() string { return own() }}
	for _, command := range strings.Split(strings.TrimSpace(block), "\n") {
		command, _, _ = strings.Cut(command, "   #")
		args := words(strings.TrimPrefix(command, "actua "))
		if args[0] == "serve" {
			continue
		}
		for i, a := range args {
			switch a {
			case "localhost":
				args[i] = s.URL
			case "pki":
				args[i] = pki
			case "8820B3F7", "E88DA4AC":
				args[i], thumbs = thumbs[0](), thumbs[1:]
			}
		}
		if len(wants[args[0]]) == 0 {
			t.Fatalf("%s is not awaited", command)
		}
		want := wants[args[0]][0]
		wants[args[0]] = wants[args[0]][1:]
		if code, out, stderr := w.run(context.Background(), args...); code != want.code || !strings.Contains(out, want.text) {
			t.Errorf("%s: exit %d, %s%s", command, code, out, stderr)
		}
	}
	if len(wants["connect"])+len(wants["cert"]) > 0 {
		t.Errorf("the walk lacks %v", wants)
	}
}

// What serve prints goes with what it offers: a server without security says so, and nothing of trust.
func TestServeAnnouncesSecurity(t *testing.T) {
	isolated(t)
	file := filepath.Join(t.TempDir(), "plant.yaml")
	for policies, want := range map[string]string{
		"[None]":                  "offers no security",
		"[None, Basic256Sha256]":  "With security, a client is refused until its certificate is trusted",
		"[Aes256_Sha256_RsaPss] ": "Besides, a client is refused until its certificate is trusted",
	} {
		if err := os.WriteFile(file, []byte("security: {policies: "+policies+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		r, out := io.Pipe()
		a := &app{in: strings.NewReader(""), out: out, err: io.Discard, env: func(string) string { return "" }}
		done := make(chan int, 1)
		go func() {
			done <- a.run(ctx, []string{"serve", "--config", file, "--listen", "127.0.0.1:0"})
			out.Close()
		}()
		var text string
		for lines := bufio.NewScanner(r); lines.Scan(); {
			text += lines.Text() + "\n"
			if strings.HasSuffix(lines.Text(), "Ctrl-C stops the server.") {
				cancel()
			}
		}
		cancel()
		if code := <-done; code != 0 || !strings.Contains(text, want) || strings.Contains(text, " \n") || strings.Contains(text, "trusted") != (policies != "[None]") {
			t.Errorf("%s: exit %d, %s", policies, code, text)
		}
	}
}
