package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// nodeCheck is a line of node/client.js.
type nodeCheck struct {
	Case, Check, Detail string
	OK                  bool
	Event               string
	Passed, Failed      int
}

// checksPerCase is how many checks a case at least has; fewer mean that it ended early.
const checksPerCase = 33

// runNodeClient runs the node-opcua client through cases against our server.
func runNodeClient(t *testing.T, url string, cases []securityCase) {
	t.Helper()
	nodeClient(t, url, []string{"--structures"}, cases)
}

// nodeClient runs the node-opcua client through cases and reports each failed check under its case. known names checks
// that the server at hand is known to fail; that they still fail is checked, too.
func nodeClient(t *testing.T, url string, flags []string, cases []securityCase, known ...string) {
	t.Helper()
	nodeProgram(t, append([]string{"node/client.js", "--url", url}, flags...), cases, checksPerCase, known...)
}

// nodeProgram runs a program that prints its checks, of which each case has at least so many.
func nodeProgram(t *testing.T, program []string, cases []securityCase, least int, known ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	args := slices.Concat(pkcs1Flag(), program, []string{"--pki", filepath.Join(scratch, "node-client"), "--user", userName, "--password", password})
	for _, c := range cases {
		args = append(args, "--case", c.String())
	}
	command := exec.CommandContext(ctx, "node", args...)
	stderr := &lockedBuffer{}
	command.Stderr = stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	checks := map[string][]nodeCheck{}
	done := false
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue // Node.js itself warns of its flag on standard output
		}
		var check nodeCheck
		if err := json.Unmarshal(lines.Bytes(), &check); err != nil {
			t.Errorf("%s printed %q: %v", program[0], lines.Text(), err)
			continue
		}
		done = done || check.Event == "done"
		checks[check.Case] = append(checks[check.Case], check)
	}
	if err := command.Wait(); !done {
		t.Errorf("%s ended early with %v:\n%s", program[0], err, stderr)
	}
	for _, c := range cases {
		t.Run(c.String(), func(t *testing.T) {
			for _, check := range checks[c.String()] {
				switch expected := !slices.Contains(known, check.Check); {
				case check.OK == expected:
				case expected:
					t.Errorf("%s: %s", check.Check, check.Detail)
				default:
					t.Errorf("%s holds now; take it off the list of known failures", check.Check)
				}
			}
			if n := len(checks[c.String()]); n < least {
				t.Errorf("only %d checks ran", n)
			}
		})
	}
}

func TestNodeClient(t *testing.T) {
	requireNode(t)
	s := startActua(t)
	runNodeClient(t, s.url, matrix(true, currentPolicies...))
}

func TestNodeClientDeprecatedPolicies(t *testing.T) {
	requireNode(t)
	s := startActua(t, "--allow-deprecated")
	runNodeClient(t, s.url, matrix(false, deprecatedPolicies...))
}

// nodeClientControl runs the client program against node-opcua's own server: what fails here is not our doing.
func nodeClientControl(t *testing.T, url string) {
	nodeClient(t, url, nil, []securityCase{
		{"None", "None", "Anonymous"}, {"Basic128Rsa15", "SignAndEncrypt", "UserName"},
	},
		"Read IndexRange errors", // answers Good to a range of a scalar
		"Write errors",           // takes an array for a scalar
		"Cancel")                 // does not have the service
}
