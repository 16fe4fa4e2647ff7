package tcp

import (
	"io"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// FuzzServe sends bytes to a server, from the first byte on, after a Hello, or on an open channel. It
// must end the connection soon after the peer has, and never panic.
func FuzzServe(f *testing.F) {
	hello := uacp.Limits{}.Hello(anyURL)
	f.Add(uint8(0), hello.Append(nil))
	f.Add(uint8(1), append([]byte("OPNF\x28\x00\x00\x00"), make([]byte, 32)...))
	f.Add(uint8(2), append([]byte("MSGF\x18\x00\x00\x00"), make([]byte, 16)...))
	f.Add(uint8(2), []byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, state uint8, b []byte) {
		a, s := linktest.Pipe(linktest.Faults{})
		budget := uasc.NewBudget(1 << 20)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Serve(s, &ServerConfig{Handler: handlerFunc(func(*ServerConn, uint32, []byte) {}), Log: quiet, Budget: budget})
		}()
		p := linktest.NewPeer(t, a)
		switch state % 3 {
		case 1:
			p.Hello(hello)
		case 2:
			p.Connect(anyURL, uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
		}
		a.SetWriteDeadline(time.Now().Add(time.Second))
		a.Write(b)
		a.CloseWrite()
		io.Copy(io.Discard, a)
		a.Close()
		select {
		case <-ended:
		case <-time.After(linktest.Patience):
			t.Fatal("the connection does not end")
		}
		if n := budget.Used(); n != 0 {
			t.Errorf("%d bytes of the budget are lost", n)
		}
	})
}
