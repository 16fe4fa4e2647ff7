package tcp

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// Answers to requests that nobody waits for are heard of in their order, requests may be sent meanwhile, and
// each is heard of once, also when the connection ends or cannot take it.
func TestStart(t *testing.T) {
	type held struct {
		conn *ServerConn
		id   uint32
		req  *ua.ReadRequest
	}
	parked := make(chan held, 100)
	s := ServerConfig{Handler: &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
		if m.MaxAge >= 1000 {
			parked <- held{c, id, m}
			return
		}
		answer(c, id, m)
	}}}
	c := dial(t, onLoopback(t, s), ClientConfig{})
	got := make(chan int, 100)
	var start func(n int)
	start = func(n int) {
		resp := new(ua.ReadResponse)
		err := c.Start(request(n), resp, func(err error) {
			if err != nil {
				got <- -n
				return
			}
			got <- sizeOf(resp)
			if n < 1003 {
				start(n + 100) // from the goroutine that reads
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
	for n := 1000; n < 1005; n++ {
		start(n)
	}
	read(t, c, 10)
	var list []held
	for range 5 {
		list = append(list, <-parked)
	}
	for _, i := range []int{3, 0, 4, 1, 2} {
		answer(list[i].conn, list[i].id, list[i].req)
	}
	for _, want := range []int{1003, 1000, 1004, 1001, 1002} {
		if n := <-got; n != want {
			t.Fatalf("answer of %d bytes, want %d", n, want)
		}
	}
	for range 3 {
		<-parked // the three that were started by answers
	}
	c.Close(context.Background())
	ended := map[int]bool{}
	for range 3 {
		select {
		case n := <-got:
			ended[n] = true
		case <-time.After(5 * time.Second):
			t.Fatal("a request was not ended with its connection")
		}
	}
	if !ended[-1100] || !ended[-1101] || !ended[-1102] {
		t.Error(ended)
	}
	if err := c.Start(request(1), new(ua.ReadResponse), func(error) { t.Error("called") }); !errors.Is(err, ua.BadConnectionClosed) {
		t.Error(err)
	}
}
