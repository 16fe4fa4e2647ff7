package actorbench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

func TestRemotePingPong(t *testing.T) {
	p := RemotePingPong{Each: 1000, Window: 50, Limit: time.Minute}
	for _, clients := range []int{1, 5} {
		r, err := p.Run(t.Context(), clients)
		if err != nil || r.Messages != int64(clients)*2000 || r.MsgsPerSec == 0 || r.StartThreads < 1 || r.EndThreads < 1 {
			t.Errorf("%+v %v", r, err)
		}
	}
	// With an echo actor elsewhere.
	s, at, err := newRemoteSystem("Elsewhere", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer end(s)
	s.MustSpawn(remoteEchoProps(), "echo")
	p.To = at.Address().String() + "/user/echo"
	if r, err := p.Run(t.Context(), 3); err != nil || r.Messages != 6000 {
		t.Errorf("%+v %v", r, err)
	}
	p.To += "s"
	if _, err := p.Run(t.Context(), 1); !errors.Is(err, ErrUnreachable) || !errors.Is(err, actor.ErrActorNotFound) {
		t.Error(err)
	}
}

// A run that is cut off ends with the reason.
func TestRemotePingPongCutOff(t *testing.T) {
	p := RemotePingPong{Each: 1 << 50, Window: 50, Limit: 100 * time.Millisecond}
	if _, err := p.Run(t.Context(), 2); !errors.Is(err, ErrLate) {
		t.Error(err)
	}
	p.Limit = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Run(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestRemotePingPongIsTheOriginals(t *testing.T) {
	p := DefaultRemotePingPong()
	if p.Each != 100_000 || p.Window != 50 || len(RemoteClients()) != 7 {
		t.Errorf("%+v %v", p, RemoteClients())
	}
	if h := p.Header(); !strings.Contains(h, "\nMessages sent/received per client: 200000  (2e5)\n") || !strings.Contains(h, "ProcessorCount:                    ") {
		t.Error(h)
	}
	r := RemoteResult{Clients: 10, Messages: 2_000_000, MsgsPerSec: 1_234_568, StartThreads: 9, EndThreads: 10, Usage: Usage{Wall: 1620 * time.Millisecond, CPU: 3 * time.Second, Bytes: 1_000_000}}
	if l := RemoteLine(r); l != "         10,     2000000,  1234568,    1620.00,             9,          10,    3.00,          0.50" {
		t.Errorf("%q", l)
	}
}
