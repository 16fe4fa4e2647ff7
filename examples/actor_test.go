package examples

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// prints runs an example, whose output must be that text.
func prints(t *testing.T, name, want string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), build(t, name)).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if string(out) != want {
		t.Errorf("%s prints\n%s\nwant\n%s", name, out, want)
	}
}

// TestActorSupervised: the driver is restarted after its first failure, goes on with the requests that waited, and is stopped at
// the second, of which its watcher hears.
func TestActorSupervised(t *testing.T) {
	prints(t, "actor-supervised", `driver: connected
driver: request 1 gives 20.5, error <nil>
driver: request 2 gives 21.0, error <nil>
driver: request 3 gives 0.0, error checksum wrong
driver: disconnected
driver: connected
driver: request 4 gives 22.0, error <nil>
driver: request 5 gives 22.5, error <nil>
driver: request 6 gives 23.0, error <nil>
driver: request 7 gives 0.0, error device does not answer
driver: disconnected
plant: driver has ended after [20.5 21.0 22.0 22.5 23.0]
`)
}

func TestActorAsk(t *testing.T) {
	prints(t, "actor-ask", `set 21.5: 21.5 degrees, error <nil>
set 99.0: 0.0 degrees, error 99 degrees are too hot
display: 21.5 degrees, 1 changes, error <nil>
after its end: actor: the actor that was asked has ended
`)
}

func TestActorRemote(t *testing.T) {
	prints(t, "actor-remote", `{temperature 71.5}, error <nil>
1. temperature is 71.5, noted by Plant, error <nil>
2. temperature is 71.5, noted by Plant, error <nil>
actor.Terminated, error <nil>
`)
}

// TestDocumentedActors compiles the Go of the pages about actors, and runs the tests that are in it.
func TestDocumentedActors(t *testing.T) {
	const system = "system *actor.System, ctx *actor.Context, ref *actor.Ref"
	const remoting = system + ", settings remote.Settings, r *remote.Remoting"
	t.Run("actors", func(t *testing.T) { documented(t, "actors.md", 10, system, "TestAccount", "TestTimeout") })
	t.Run("remoting", func(t *testing.T) { documented(t, "remoting.md", 10, remoting, "TestCable") })
	t.Run("from-akka-net", func(t *testing.T) { documented(t, "from-akka-net.md", 5, remoting) })
}

// documented compiles the Go of a page, where what is no declaration is the body of a function with those parameters, and
// runs its tests.
func documented(t *testing.T, name string, least int, parameters string, tests ...string) {
	t.Helper()
	page, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var declarations, functions strings.Builder
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	for i, b := range blocks {
		if neat, err := format.Source([]byte(b[1])); err != nil || string(neat) != b[1] {
			t.Errorf("block %d is not formatted (error %v); it should be\n%s", i, err, neat)
		}
		switch {
		case regexp.MustCompile(`^(type|func|var|const) `).MatchString(b[1]):
			declarations.WriteString(b[1] + "\n")
		case strings.Contains(b[1], "system, err := "):
			fmt.Fprintf(&functions, "func block%d() {\n%s}\n", i, b[1])
		default:
			fmt.Fprintf(&functions, "func block%d(%s) {\n{\n%s}\n}\n", i, parameters, b[1])
		}
	}
	if len(blocks) < least {
		t.Fatalf("only %d blocks found", len(blocks))
	}
	code := declarations.String() + functions.String()
	imports := "package documented\n"
	for _, path := range documentedImports {
		if regexp.MustCompile(`\b` + filepath.Base(path) + `\.`).MatchString(code) {
			imports += fmt.Sprintf("import %q\n", path)
		}
	}
	// The file is in this module for the compiler only.
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "code.go"), filepath.Join(dir, "overlay.json")
	place, err := filepath.Abs("documented/page_test.go")
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{place: file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{file: imports + code, overlay: string(list)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "documented.exe")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", binary, "-overlay", overlay, "./documented").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, imports+code)
	}
	if out, err = exec.CommandContext(t.Context(), binary, "-test.v").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range tests {
		wants(t, out, "--- PASS: "+test)
	}
}

// documentedImports are the packages that the Go of pages may use.
var documentedImports = []string{
	"context", "errors", "fmt", "io/fs", "log", "os", "os/exec", "os/signal", "testing", "time",
	"github.com/actua/actua/actor", "github.com/actua/actua/actor/remote", "github.com/actua/actua/actor/remote/remotetest",
	"github.com/actua/actua/actor/serial", "github.com/actua/actua/actor/testkit",
}
