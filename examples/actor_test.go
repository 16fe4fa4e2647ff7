package examples

import (
	"os/exec"
	"regexp"
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
