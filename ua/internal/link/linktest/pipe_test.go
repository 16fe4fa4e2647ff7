package linktest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

func TestPipePassesEverything(t *testing.T) {
	data := make([]byte, 100000)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for _, f := range []Faults{{}, {Buffer: 10}, {MaxRead: 3}, {MaxWrite: 4}, {MaxRead: 1, MaxWrite: 1, Buffer: 5}} {
		a, b := Pipe(f)
		var done sync.WaitGroup
		done.Go(func() {
			if n, err := a.Write(data); n != len(data) || err != nil {
				t.Errorf("%+v: %d written, %v", f, n, err)
			}
			a.CloseWrite()
		})
		got, err := io.ReadAll(b)
		done.Wait()
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%+v: %d read, %v", f, len(got), err)
		}
		// The other direction is still open.
		b.Write([]byte("x"))
		if n, err := a.Read(make([]byte, 5)); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
}

func TestPipeDeadlines(t *testing.T) {
	a, b := Pipe(Faults{Buffer: 4})
	a.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	a.SetReadDeadline(time.Time{})
	b.Write([]byte("x"))
	if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Error(n, err)
	}
	a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := a.Write(make([]byte, 9)); n != 4 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(n, err)
	}
	waiting := make(chan error)
	go func() { _, err := a.Read(make([]byte, 1)); waiting <- err }()
	a.SetReadDeadline(time.Unix(1, 0))
	if err := <-waiting; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestPipeEnds(t *testing.T) {
	a, b := Pipe(Faults{CutAfter: 10})
	if n, err := a.Write(make([]byte, 20)); n != 10 || !errors.Is(err, ErrCut) {
		t.Error(n, err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, ErrCut) {
		t.Error(err)
	}
	a, b = Pipe(Faults{})
	a.Write([]byte("last"))
	a.Close()
	if got, err := io.ReadAll(b); string(got) != "last" || err != nil {
		t.Error(got, err)
	}
	if _, err := b.Write([]byte("x")); err == nil {
		t.Error("written to a closed end")
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if a.Close() == nil || a.RemoteAddr().String() != "server" || b.RemoteAddr().String() != "client" {
		t.Error("second Close, or addresses")
	}
}

func TestListener(t *testing.T) {
	l := Listen()
	nc, err := l.Dial(t.Context(), "tcp", "anything")
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	nc.Write([]byte("x"))
	if n, _ := server.Read(make([]byte, 2)); n != 1 {
		t.Error(n)
	}
	l.CutAll()
	if _, err := server.Read(make([]byte, 2)); !errors.Is(err, ErrCut) {
		t.Error(err)
	}
	l.Close()
	if _, err := l.Dial(t.Context(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
