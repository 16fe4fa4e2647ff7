package uaclient_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// A call that waits for a slow method is given up by Cancel: it ends at once with its status, and the
// session goes on (Part 4, 5.7.5).
func TestCancelOfWaitingCall(t *testing.T) {
	started, end := make(chan bool, 1), make(chan bool)
	defer close(end)
	space := memspace.New("urn:test")
	slow := space.AddMethod(space.Objects(), "Slow", memspace.Func0(func(memspace.Call) (bool, error) {
		started <- true
		<-end
		return true, nil
	}, "Done"))
	r := startServer(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{space} })
	c := r.dial(t, r.config(t))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	const handle = 4711
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, &ua.CallRequest{
			RequestHeader: ua.RequestHeader{RequestHandle: handle},
			MethodsToCall: []ua.CallMethodRequest{{ObjectID: space.Objects().ID(), MethodID: slow.ID()}},
		})
		failed <- err
	}()
	<-started
	if n, err := c.Cancel(ctx, handle+1); n != 0 || err != nil {
		t.Errorf("another handle: %d, %v", n, err)
	}
	if n, err := c.Cancel(ctx, handle); n != 1 || err != nil {
		t.Errorf("%d cancelled, %v", n, err)
	}
	if err := <-failed; !errors.Is(err, ua.BadRequestCancelledByClient) {
		t.Errorf("the call ended with %v", err)
	}
	if n, err := c.Cancel(ctx, handle); n != 0 || err != nil {
		t.Errorf("a second time: %d, %v", n, err)
	}
	if _, err := c.ReadValue(ctx, ua.ID(2258)); err != nil {
		t.Error(err)
	}
}
