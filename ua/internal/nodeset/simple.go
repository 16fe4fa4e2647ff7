package nodeset

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// appendText appends a String as it stands; null if it is absent.
func appendText(b []byte, e *element) []byte {
	if e.isNil() {
		return uabin.AppendInt32(b, -1)
	}
	return append(uabin.AppendInt32(b, int32(len(e.text))), e.text...)
}

func localizedText(e *element) (t ua.LocalizedText) {
	if c := e.child("Locale"); c != nil {
		t.Locale = strings.TrimSpace(c.text)
	}
	if c := e.child("Text"); c != nil {
		t.Text = c.text
	}
	return t
}

func (p *parser) identifier(e *element) (ua.NodeID, error) {
	c := e.child("Identifier")
	if c == nil || strings.TrimSpace(c.text) == "" {
		return ua.NodeID{}, nil
	}
	return p.nodeID(c.text)
}

// expanded reads an ExpandedNodeId. An index is one of the file; a URI stays.
func (p *parser) expanded(e *element) (ua.ExpandedNodeID, error) {
	c := e.child("Identifier")
	if c == nil || strings.TrimSpace(c.text) == "" {
		return ua.ExpandedNodeID{}, nil
	}
	text, err := p.resolve(c.text)
	if err != nil {
		return ua.ExpandedNodeID{}, err
	}
	out, err := ua.ParseExpandedNodeID(text)
	if err != nil {
		return out, unknownAlias(text, err)
	}
	if out.NamespaceURI == "" {
		out.NodeID, err = p.translate(out.NodeID)
	}
	return out, err
}

func (p *parser) appendQualifiedName(b []byte, e *element) ([]byte, error) {
	var index uint64
	if c := e.child("NamespaceIndex"); c != nil {
		var err error
		if index, err = parseUint(strings.TrimSpace(c.text), 16); err != nil {
			return b, err
		}
	}
	ns, err := p.namespace(uint16(index))
	return appendText(uabin.AppendUint16(b, ns), e.child("Name")), err
}

// The parsers of simple values take empty text as the default value.

func parseBool(s string) (bool, error) {
	switch s {
	case "true", "1", "True":
		return true, nil
	case "false", "0", "False", "":
		return false, nil
	}
	return false, fmt.Errorf("%q is not a Boolean", s)
}

func parseInt(s string, bits int) (int64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		most := int64(math.MaxInt64) >> (64 - bits)
		return 0, noNumber(s, err, fmt.Sprint(-most-1), fmt.Sprint(most))
	}
	return v, nil
}

func parseUint(s string, bits int) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s, 10, bits)
	if err != nil {
		if _, e := strconv.ParseInt(s, 10, 64); e == nil { // negative, or too large
			return 0, noNumber(s, strconv.ErrRange, "0", fmt.Sprint(uint64(math.MaxUint64)>>(64-bits)))
		}
		return 0, noNumber(s, err, "0", fmt.Sprint(uint64(math.MaxUint64)>>(64-bits)))
	}
	return v, nil
}

// noNumber is what is wrong with the text of a whole number.
func noNumber(s string, err error, least, most string) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%q is not from %s to %s", s, least, most)
	}
	return fmt.Errorf("%q is no whole number", s)
}

func parseFloat(s string, bits int) (float64, error) {
	switch s {
	case "":
		return 0, nil
	case "INF":
		return math.Inf(1), nil
	case "-INF":
		return math.Inf(-1), nil
	}
	v, err := strconv.ParseFloat(s, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is too large", s)
	case err != nil:
		return 0, fmt.Errorf("%q is no number", s)
	}
	return v, nil
}

func parseTime(s string) (ua.DateTime, error) {
	if s == "" {
		return ua.MinDateTime, nil
	}
	return ua.ParseDateTime(s)
}
