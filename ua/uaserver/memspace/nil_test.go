package memspace

import (
	"io"
	"testing"

	"github.com/actua/actua/ua"
)

// Space.Node and Space.Variable give nil for an id that they do not know; what takes nodes says so.
func TestNodesThatAreNot(t *testing.T) {
	unknown := ua.NewStringNodeID(2, "nowhere")
	for name, none := range map[string]func(*Space) Referent{
		"nil":         func(*Space) Referent { return nil },
		"no node":     func(s *Space) Referent { return s.Node(unknown) },
		"no variable": func(s *Space) Referent { return s.Variable(unknown) },
	} {
		for what, do := range map[string]func(*Space, Referent) (ua.StatusCode, error){
			"object": func(s *Space, r Referent) (ua.StatusCode, error) {
				return ua.BadParentNodeIdInvalid, s.AddObject(r, "A").Err()
			},
			"type": func(s *Space, r Referent) (ua.StatusCode, error) {
				return ua.BadParentNodeIdInvalid, s.AddType(r, "A").Err()
			},
			"variable": func(s *Space, r Referent) (ua.StatusCode, error) {
				return ua.BadParentNodeIdInvalid, s.AddVariable(r, "A", ua.Int32(1)).Err()
			},
			"property": func(s *Space, r Referent) (ua.StatusCode, error) {
				return ua.BadParentNodeIdInvalid, s.AddProperty(r, "A", ua.Int32(1)).Err()
			},
			"method": func(s *Space, r Referent) (ua.StatusCode, error) {
				return ua.BadParentNodeIdInvalid, s.AddMethod(r, "A", Func0(func(Call) (None, error) { return None{}, nil })).Err()
			},
			"remove": func(s *Space, r Referent) (ua.StatusCode, error) { return ua.BadNodeIdUnknown, s.Remove(r) },
			"export": func(s *Space, r Referent) (ua.StatusCode, error) {
				return ua.BadNodeIdUnknown, s.Export(io.Discard, s.Objects(), r)
			},
		} {
			s := New("urn:test")
			before, version := s.Len(), s.ModelVersion()
			if want, err := do(s, none(s)); ua.StatusOf(err) != want {
				t.Errorf("%s, %s: %v", what, name, err)
			}
			if s.Len() != before || s.ModelVersion() != version {
				t.Errorf("%s, %s: %d nodes more, %d changes", what, name, s.Len()-before, s.ModelVersion()-version)
			}
		}
	}
}
