package nodeset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
)

// attributes reads XML attributes; the first error sticks.
type attributes struct {
	p   *parser
	e   *element
	err error
}

func (a *attributes) fail(name string, err error) {
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("attribute %s: %w", name, err)
	}
}

func (a *attributes) bool(name string, def bool) bool {
	s, ok := a.e.lookup(name)
	if !ok {
		return def
	}
	v, err := parseBool(s)
	a.fail(name, err)
	return v
}

func (a *attributes) uint(name string, def uint32, bits int) uint32 {
	s, ok := a.e.lookup(name)
	if !ok {
		return def
	}
	v, err := parseUint(s, bits)
	a.fail(name, err)
	return uint32(v)
}

func (a *attributes) int(name string, def int64, bits int) int64 {
	s, ok := a.e.lookup(name)
	if !ok {
		return def
	}
	v, err := parseInt(s, bits)
	a.fail(name, err)
	return v
}

func (a *attributes) float(name string) float64 {
	v, err := parseFloat(a.e.attr(name), 64)
	a.fail(name, err)
	return v
}

func (a *attributes) id(name string, def ua.NodeID) ua.NodeID {
	s, ok := a.e.lookup(name)
	if !ok || s == "" {
		return def
	}
	v, err := a.p.nodeID(s)
	a.fail(name, err)
	return v
}

// dimensions reads numbers that are separated by commas.
func (a *attributes) dimensions(name string) []uint32 {
	s := a.e.attr(name)
	if s == "" {
		return nil
	}
	var out []uint32
	for _, part := range strings.Split(s, ",") {
		n, err := dimension(strings.TrimSpace(part))
		a.fail(name, err)
		out = append(out, uint32(n))
	}
	return out
}

// dimension is one of ArrayDimensions, which is not left out.
func dimension(s string) (uint64, error) {
	if s == "" {
		return 0, errors.New("an array dimension is missing")
	}
	return parseUint(s, 32)
}

const baseDataType = 24
