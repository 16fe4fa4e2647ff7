package uaclient_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

func ids(n int) []ua.NodeID {
	list := make([]ua.NodeID, n)
	for i := range list {
		list[i] = ua.NewNodeID(1, uint32(i))
	}
	return list
}

// C23: an abort is reported at once with its status, and the channel lives on.
func TestAbortIsReported(t *testing.T) {
	s := newStub(t, nil)
	c := s.dial(nil)
	s.setAnswer(func(ua.Structure) ua.Structure { return &abort{status: ua.BadResponseTooLarge} })
	begin := time.Now()
	_, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 1))
	if !errors.Is(err, ua.BadResponseTooLarge) || uaclient.StepOf(err) != uaclient.StepService || time.Since(begin) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	s.setAnswer(nil)
	if _, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 1)); err != nil {
		t.Errorf("after the abort: %v", err)
	}
}

func TestCallTimesOut(t *testing.T) {
	s := newStub(t, nil)
	c := s.dial(&uaclient.Config{RequestTimeout: 50 * time.Millisecond})
	s.setAnswer(func(ua.Structure) ua.Structure { return &silent{} })
	_, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 1))
	if !errors.Is(err, ua.BadTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if hint := s.lastOf("ReadRequest").(*ua.ReadRequest).RequestHeader.TimeoutHint; hint == 0 || hint > 50 {
		t.Errorf("timeout hint %d", hint)
	}
}

func TestWrongNumberOfResults(t *testing.T) {
	s := newStub(t, nil)
	c := s.dial(nil)
	s.setAnswer(func(req ua.Structure) ua.Structure {
		switch req.(type) {
		case *ua.ReadRequest:
			return &ua.ReadResponse{}
		case *ua.WriteRequest:
			return &ua.WriteResponse{Results: make([]ua.StatusCode, 2)}
		case *ua.CallRequest:
			return &ua.CallResponse{}
		case *ua.BrowseRequest:
			return &ua.BrowseResponse{}
		}
		return nil
	})
	ctx, id := context.Background(), ua.NewNodeID(1, 1)
	_, read := c.ReadValue(ctx, id)
	_, call := c.CallMethod(ctx, id, id)
	_, browse := c.BrowseAll(ctx, []ua.NodeID{id}, uaclient.BrowseOptions{})
	for _, err := range []error{read, c.WriteValue(ctx, id, ua.Int32(1)), call, browse} {
		if !errors.Is(err, ua.BadUnknownResponse) {
			t.Error(err)
		}
	}
}

// V13: requests keep the server's limit, and do without one when it does not tell.
func TestReadKeepsLimit(t *testing.T) {
	for _, limit := range []uint32{20, 0} {
		s := newStub(t, nil)
		var mu sync.Mutex
		largest := 0
		s.setAnswer(func(req ua.Structure) ua.Structure {
			r, ok := req.(*ua.ReadRequest)
			if !ok {
				return nil
			}
			if a := limits(r, limit); a != nil {
				return a
			}
			mu.Lock()
			largest = max(largest, len(r.NodesToRead))
			mu.Unlock()
			return nil
		})
		c := s.dial(nil)
		values, err := c.ReadValues(context.Background(), ids(1000)...)
		if err != nil || len(values) != 1000 {
			t.Fatal(len(values), err)
		}
		for i := range values {
			if values[i].Value.Uint() != uint64(i) {
				t.Fatalf("value %d is %v", i, values[i].Value)
			}
		}
		mu.Lock()
		if want := map[uint32]int{20: 20, 0: 1000}[limit]; largest != want {
			t.Errorf("limit %d: %d nodes in a request", limit, largest)
		}
		mu.Unlock()
	}
}

// A server that does not tell its limit, but has one: the client halves its requests.
func TestReadHalvesWhenTooLarge(t *testing.T) {
	s := newStub(t, func(req ua.Structure) ua.Structure {
		if r, ok := req.(*ua.ReadRequest); ok && len(r.NodesToRead) > 6 {
			return fault(ua.BadTooManyOperations)
		}
		return nil
	})
	values, err := s.dial(nil).ReadValues(context.Background(), ids(100)...)
	if err != nil || len(values) != 100 || values[99].Value.Uint() != 99 {
		t.Fatal(len(values), err)
	}
}

// V10: a write carries the value alone.
func TestWriteSendsValueOnly(t *testing.T) {
	s := newStub(t, func(req ua.Structure) ua.Structure {
		if r, ok := req.(*ua.WriteRequest); ok {
			return &ua.WriteResponse{Results: make([]ua.StatusCode, len(r.NodesToWrite))}
		}
		return nil
	})
	if err := s.dial(nil).WriteValue(context.Background(), ua.NewNodeID(1, 1), ua.Double(2)); err != nil {
		t.Fatal(err)
	}
	w := s.lastOf("WriteRequest").(*ua.WriteRequest).NodesToWrite[0]
	if b := w.Value.AppendBinary(nil); b[0] != 1 || w.AttributeID != uint32(ua.AttributeValue) {
		t.Errorf("mask %#x, attribute %d", b[0], w.AttributeID)
	}
}

func TestCallErrorsNameArguments(t *testing.T) {
	s := newStub(t, func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.CallRequest); ok {
			return &ua.CallResponse{Results: []ua.CallMethodResult{{
				StatusCode: ua.BadInvalidArgument, InputArgumentResults: []ua.StatusCode{ua.Good, ua.BadOutOfRange},
			}}}
		}
		return nil
	})
	_, err := s.dial(nil).CallMethod(context.Background(), ua.NewNodeID(1, 1), ua.NewNodeID(1, 2))
	var args *uaclient.ArgumentError
	if !errors.Is(err, ua.BadInvalidArgument) || !errors.As(err, &args) || len(args.Inputs) != 2 {
		t.Fatal(err)
	}
	if !strings.Contains(err.Error(), "argument 2") || !strings.Contains(err.Error(), "ns=1;i=2") {
		t.Error(err)
	}
}

// folders is a server of folders with many references, whose pages and continuation points the test
// limits.
type folders struct {
	mu       sync.Mutex
	children int
	points   int // continuation points it has
	maxPage  int // larger pages are too large to send
	open     map[string][2]int
	mostOpen int
	serial   int
	largest  int
	releases int
	tooLarge ua.Structure
}

func (f *folders) page(folder, from, size int) ua.BrowseResult {
	r := ua.BrowseResult{}
	to := min(from+size, f.children)
	for i := from; i < to; i++ {
		r.References = append(r.References, ua.ReferenceDescription{NodeID: ua.NewNodeID(2, uint32(folder*f.children+i)).Expanded()})
	}
	if to == f.children {
		return r
	}
	if len(f.open) >= f.points {
		return ua.BrowseResult{StatusCode: ua.BadNoContinuationPoints}
	}
	f.serial++
	point := strconv.Itoa(f.serial)
	f.open[point] = [2]int{folder, to}
	f.mostOpen = max(f.mostOpen, len(f.open))
	r.ContinuationPoint = []byte(point + "/" + strconv.Itoa(size))
	return r
}

func (f *folders) answer(req ua.Structure) ua.Structure {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch r := req.(type) {
	case *ua.ReadRequest:
		return limits(r, 0)
	case *ua.BrowseRequest:
		size := int(r.RequestedMaxReferencesPerNode)
		if f.maxPage > 0 && size*len(r.NodesToBrowse) > f.maxPage {
			return f.tooLarge
		}
		f.largest = max(f.largest, size)
		resp := &ua.BrowseResponse{}
		for _, n := range r.NodesToBrowse {
			resp.Results = append(resp.Results, f.page(int(n.NodeID.Numeric()), 0, size))
		}
		return resp
	case *ua.BrowseNextRequest:
		resp := &ua.BrowseNextResponse{}
		for _, p := range r.ContinuationPoints {
			name, text, _ := bytes.Cut(p, []byte("/"))
			at, ok := f.open[string(name)]
			delete(f.open, string(name))
			size, _ := strconv.Atoi(string(text))
			switch {
			case r.ReleaseContinuationPoints:
				f.releases++
				resp.Results = append(resp.Results, ua.BrowseResult{})
			case !ok:
				resp.Results = append(resp.Results, ua.BrowseResult{StatusCode: ua.BadContinuationPointInvalid})
			default:
				resp.Results = append(resp.Results, f.page(at[0], at[1], size))
			}
		}
		return resp
	}
	return nil
}

// V05: with one continuation point for ten folders the client still finds everything.
func TestBrowseWithFewContinuationPoints(t *testing.T) {
	for _, points := range []int{1, 3, 100} {
		f := &folders{children: 500, points: points, open: map[string][2]int{}}
		c := newStub(t, f.answer).dial(nil)
		found, err := c.BrowseAll(context.Background(), ids(10), uaclient.BrowseOptions{PageSize: 100})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[ua.NodeID]bool{}
		for i := range found {
			if found[i].Status.IsBad() || len(found[i].References) != 500 {
				t.Errorf("%d points: folder %d has %d references, %v", points, i, len(found[i].References), found[i].Status)
			}
			for _, r := range found[i].References {
				seen[r.NodeID.NodeID] = true
			}
		}
		f.mu.Lock()
		if len(seen) != 5000 || len(f.open) != 0 || f.mostOpen > points {
			t.Errorf("%d references, %d points left, %d at a time", len(seen), len(f.open), f.mostOpen)
		}
		f.mu.Unlock()
	}
	// Points that others hold are a status of the node, not an endless loop.
	f := &folders{children: 500, points: 0, open: map[string][2]int{}}
	found, err := newStub(t, f.answer).dial(nil).BrowseAll(context.Background(), ids(3), uaclient.BrowseOptions{PageSize: 100})
	if err != nil || found[2].Status != ua.BadNoContinuationPoints {
		t.Error(found, err)
	}
}

// V06: the page size is an option, and is halved when the server cannot answer.
func TestBrowseHalvesPage(t *testing.T) {
	for name, answer := range map[string]ua.Structure{
		"fault": fault(ua.BadResponseTooLarge), "abort": &abort{status: ua.BadResponseTooLarge},
	} {
		f := &folders{children: 900, points: 100, open: map[string][2]int{}, maxPage: 300, tooLarge: answer}
		c := newStub(t, f.answer).dial(nil)
		found, err := c.BrowseAll(context.Background(), ids(3), uaclient.BrowseOptions{})
		if err != nil || len(found[0].References) != 900 || len(found[2].References) != 900 {
			t.Fatal(name, err)
		}
		n := 0
		for ref, err := range c.References(context.Background(), ua.NewNodeID(1, 0), uaclient.BrowseOptions{}) {
			if err != nil || ref.NodeID.NodeID.Numeric() != uint32(n) {
				t.Fatal(name, n, ref, err)
			}
			n++
		}
		f.mu.Lock()
		if n != 900 || f.largest > 300 || len(f.open) != 0 {
			t.Errorf("%s: %d references, page %d", name, n, f.largest)
		}
		f.mu.Unlock()
	}
}

func TestReferencesReleasesWhenLeft(t *testing.T) {
	f := &folders{children: 500, points: 5, open: map[string][2]int{}}
	c := newStub(t, f.answer).dial(nil)
	for range c.References(context.Background(), ua.NewNodeID(1, 0), uaclient.BrowseOptions{PageSize: 10}) {
		break
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.releases != 1 || len(f.open) != 0 {
		t.Errorf("%d releases, %d points open", f.releases, len(f.open))
	}
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{ // T06
		"plant7": "opc.tcp://plant7:4840", "plant7:48010": "opc.tcp://plant7:48010", "opc.tcp://plant7": "opc.tcp://plant7:4840",
		"::1": "opc.tcp://[::1]:4840", "opc.tcp://[::1]:1/x": "opc.tcp://[::1]:1/x", "127.0.0.1/a": "opc.tcp://127.0.0.1:4840/a",
	} {
		if u, err := uaclient.ParseURL(text); err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
	for _, text := range []string{"", "opc.tcp://", "opc.tcp://:4840", "ftp://x", "opc.tcp://u:p@x", "a b", "x:0", "x:65536", "x:48500000"} {
		if u, err := uaclient.ParseURL(text); !errors.Is(err, ua.BadTcpEndpointUrlInvalid) {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
}

// C21: all four numbers of the Hello can be set.
func TestHelloNumbers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hello := make(chan []byte, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		b := make([]byte, 28)
		_, _ = io.ReadFull(nc, b)
		hello <- b
	}()
	limits := uaclient.MessageLimits{ReceiveBufferSize: 10000, SendBufferSize: 20000, MaxMessageSize: 300000, MaxChunkCount: 40}
	_, err = uaclient.Dial(context.Background(), l.Addr().String(), &uaclient.Config{Messages: limits})
	if uaclient.StepOf(err) != uaclient.StepHello {
		t.Error(err)
	}
	b := <-hello
	for i, want := range []uint32{10000, 20000, 300000, 40} {
		if got := binary.LittleEndian.Uint32(b[12+4*i:]); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}
