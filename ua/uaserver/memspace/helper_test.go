package memspace

import (
	"context"
	"log/slog"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

const testURI = "urn:actua:test"

func newSpace(t testing.TB) *Space {
	s := New(testURI)
	s.SetLogger(slog.New(slog.DiscardHandler))
	return s
}

// session is a context as the server hands it to node managers, with leave to block.
func session(user string) *uaserver.Context {
	return &uaserver.Context{
		Context: context.Background(), Session: &uaserver.SessionInfo{User: user}, Now: ua.Now(), MayBlock: true,
	}
}

func read(s *Space, id ua.NodeID, a ua.AttributeID) ua.DataValue {
	var d ua.DataValue
	s.Read(session(""), []uaserver.ReadItem{{NodeID: id, Attribute: a, Result: &d}})
	return d
}

func writeRange(s *Space, id ua.NodeID, rng string, v ua.DataValue) (status ua.StatusCode) {
	r, err := ua.ParseNumericRange(rng)
	if err != nil {
		panic(err)
	}
	s.Write(session("anna"), []uaserver.WriteItem{{
		NodeID: id, Attribute: ua.AttributeValue, Range: r, Value: &v, Result: &status,
	}})
	return status
}

func write(s *Space, id ua.NodeID, v ua.Variant) ua.StatusCode {
	return writeRange(s, id, "", ua.DataValue{Value: v})
}

func call(s *Space, object, method ua.NodeID, inputs ...ua.Variant) (r ua.CallMethodResult) {
	s.Call(session("anna"), &uaserver.CallItem{ObjectID: object, MethodID: method, Inputs: inputs, Result: &r})
	return r
}

// browseAll follows pages of max references until the end.
func browseAll(t testing.TB, s *Space, item uaserver.BrowseItem) []uaserver.Reference {
	for {
		s.Browse(session(""), &item)
		if item.Status != ua.Good {
			t.Fatalf("Browse %v: %v", item.NodeID, item.Status)
		}
		if item.Cursor == 0 {
			return item.References
		}
		if n := item.Max; n > 0 && len(item.References)%n != 0 {
			t.Fatalf("a page of %d references in the middle", len(item.References)%n)
		}
	}
}

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
