package nodeset

import (
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
	return strconv.ParseInt(s, 10, bits)
}

func parseUint(s string, bits int) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	return strconv.ParseUint(s, 10, bits)
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
	return strconv.ParseFloat(s, bits)
}

func parseTime(s string) (ua.DateTime, error) {
	if s == "" {
		return ua.MinDateTime, nil
	}
	return ua.ParseDateTime(s)
}
