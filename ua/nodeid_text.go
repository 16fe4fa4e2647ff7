package ua

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String is the text form, such as "i=2258", "ns=2;s=Pump.Speed", "g=09087e75-8e5e-499b-954f-f2a9603db28a"
// or "ns=1;b=M/RbKBsRVkePCePcx24oRA==" (Part 6, 5.3.1.10 and 5.1.12).
func (n NodeID) String() string {
	var buf [64]byte
	return string(n.appendText(buf[:0]))
}

// AppendText appends the text form; it returns no error. It makes NodeID an encoding.TextAppender.
func (n NodeID) AppendText(b []byte) ([]byte, error) { return n.appendText(b), nil }

// MarshalText is the text form; it returns no error.
func (n NodeID) MarshalText() ([]byte, error) { return n.appendText(nil), nil }

// UnmarshalText reads the text form as ParseNodeID does.
func (n *NodeID) UnmarshalText(text []byte) error {
	v, err := ParseNodeID(string(text))
	if err != nil {
		return err
	}
	*n = v
	return nil
}

func (n NodeID) appendText(b []byte) []byte {
	if n.namespace != 0 {
		b = append(b, "ns="...)
		b = strconv.AppendUint(b, uint64(n.namespace), 10)
		b = append(b, ';')
	}
	return n.appendIdentifier(b)
}

func (n NodeID) appendIdentifier(b []byte) []byte {
	switch n.kind {
	case IDTypeString:
		return append(append(b, "s="...), n.text...)
	case IDTypeGUID:
		return n.GUID().appendText(append(b, "g="...))
	case IDTypeOpaque:
		return base64.StdEncoding.AppendEncode(append(b, "b="...), []byte(n.text))
	}
	return strconv.AppendUint(append(b, "i="...), uint64(n.numeric), 10)
}

// ParseNodeID reads the text form of a NodeID: an optional "ns=<index>;" and one of "i=<number>",
// "s=<string>", "g=<guid>" and "b=<base64>" (Part 6, 5.3.1.10 and 5.1.12). The error says what is
// wrong and is BadNodeIdInvalid.
func ParseNodeID(s string) (NodeID, error) {
	e, err := parseNodeID(s)
	if err != nil {
		return NodeID{}, err
	}
	switch {
	case e.NamespaceURI != "":
		return NodeID{}, badNodeID(s, "a namespace URI belongs to an ExpandedNodeId; write ns=<index>")
	case e.ServerIndex != 0:
		return NodeID{}, badNodeID(s, "a server index belongs to an ExpandedNodeId")
	}
	return e.NodeID, nil
}

// ParseExpandedNodeID reads the text form of an ExpandedNodeID: an optional "svr=<index>;", then an
// optional "ns=<index>;" or "nsu=<uri>;" in which '%' and ';' are written %25 and %3B, then the
// identifier as ParseNodeID reads it (Part 6, 5.3.1.11 and 5.1.12). The error says what is wrong and
// is BadNodeIdInvalid.
func ParseExpandedNodeID(s string) (ExpandedNodeID, error) { return parseNodeID(s) }

func parseNodeID(s string) (e ExpandedNodeID, err error) {
	rest := s
	if after, ok := strings.CutPrefix(rest, "svr="); ok {
		index, tail, found := strings.Cut(after, ";")
		n, ok := parseUint(index, math.MaxUint32)
		switch {
		case !found:
			return ExpandedNodeID{}, badNodeID(s, "no ';' behind the server index")
		case !ok:
			return ExpandedNodeID{}, badNodeID(s, fmt.Sprintf("server index %q is no number from 0 to %d", index, uint32(math.MaxUint32)))
		}
		e.ServerIndex, rest = uint32(n), tail
	} else if strings.HasPrefix(rest, "svu=") {
		return ExpandedNodeID{}, badNodeID(s, "servers are given by index; write svr=<index>")
	}
	var namespace uint16
	switch {
	case strings.HasPrefix(rest, "ns="):
		index, tail, found := strings.Cut(rest[3:], ";")
		n, ok := parseUint(index, math.MaxUint16)
		switch {
		case !found:
			return ExpandedNodeID{}, badNodeID(s, "no ';' behind the namespace index")
		case !ok:
			return ExpandedNodeID{}, badNodeID(s, fmt.Sprintf("namespace index %q is no number from 0 to 65535", index))
		}
		namespace, rest = uint16(n), tail
	case strings.HasPrefix(rest, "nsu="):
		uri, tail, found := strings.Cut(rest[4:], ";")
		if !found {
			return ExpandedNodeID{}, badNodeID(s, "no ';' behind the namespace URI")
		}
		if uri == "" {
			return ExpandedNodeID{}, badNodeID(s, "the namespace URI is empty")
		}
		if e.NamespaceURI, found = unescapeURI(uri); !found {
			return ExpandedNodeID{}, badNodeID(s, "a '%' in the namespace URI is not followed by two hexadecimal digits")
		}
		rest = tail
	}
	if len(rest) < 2 || rest[1] != '=' {
		if rest == "" {
			return ExpandedNodeID{}, badNodeID(s, "the identifier is missing")
		}
		return ExpandedNodeID{}, badNodeID(s, "an identifier begins with i=, s=, g= or b=")
	}
	id := rest[2:]
	switch rest[0] {
	case 'i':
		n, ok := parseUint(id, math.MaxUint32)
		if !ok {
			return ExpandedNodeID{}, badNodeID(s, fmt.Sprintf("identifier %q is no number from 0 to %d", id, uint32(math.MaxUint32)))
		}
		e.NodeID = NewNodeID(namespace, uint32(n))
	case 's':
		e.NodeID = NewStringNodeID(namespace, id)
	case 'g':
		g, ok := parseGUID(id)
		if !ok {
			return ExpandedNodeID{}, badNodeID(s, fmt.Sprintf("%q is no GUID of the form %s", id, guidForm))
		}
		e.NodeID = NewGUIDNodeID(namespace, g)
	case 'b':
		raw, err := decodeBase64(id)
		if err != nil {
			return ExpandedNodeID{}, badNodeID(s, fmt.Sprintf("%q is not base64", id))
		}
		e.NodeID = NewOpaqueNodeID(namespace, raw)
	default:
		return ExpandedNodeID{}, badNodeID(s, "an identifier begins with i=, s=, g= or b=")
	}
	return e, nil
}

func badNodeID(s, reason string) error {
	return &textError{BadNodeIdInvalid, fmt.Sprintf("%.200q: %s", s, reason)}
}

// decodeBase64 reads base64 with or without padding: people cut it off. A line break, which package
// base64 skips, is no part of a text form.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, base64.CorruptInputError(strings.IndexAny(s, "\r\n"))
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
}

// String is the text form, such as "svr=1;nsu=http://example.org/UA;s=Pump" (Part 6, 5.3.1.11 and
// 5.1.12).
func (e ExpandedNodeID) String() string { return string(e.appendText(nil)) }

// AppendText appends the text form; it returns no error.
func (e ExpandedNodeID) AppendText(b []byte) ([]byte, error) { return e.appendText(b), nil }

// MarshalText is the text form; it returns no error.
func (e ExpandedNodeID) MarshalText() ([]byte, error) { return e.appendText(nil), nil }

// UnmarshalText reads the text form as ParseExpandedNodeID does.
func (e *ExpandedNodeID) UnmarshalText(text []byte) error {
	v, err := ParseExpandedNodeID(string(text))
	if err != nil {
		return err
	}
	*e = v
	return nil
}

func (e ExpandedNodeID) appendText(b []byte) []byte {
	if e.ServerIndex != 0 {
		b = append(b, "svr="...)
		b = strconv.AppendUint(b, uint64(e.ServerIndex), 10)
		b = append(b, ';')
	}
	if e.NamespaceURI == "" {
		return e.NodeID.appendText(b)
	}
	b = appendURI(append(b, "nsu="...), e.NamespaceURI)
	return e.NodeID.appendIdentifier(append(b, ';'))
}

// appendURI appends a URI with the two characters escaped that the text forms reserve.
func appendURI(b []byte, uri string) []byte {
	for i := 0; i < len(uri); i++ {
		switch c := uri[i]; c {
		case ';':
			b = append(b, "%3B"...)
		case '%':
			b = append(b, "%25"...)
		default:
			b = append(b, c)
		}
	}
	return b
}

func unescapeURI(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		var c [1]byte
		if i+3 > len(s) {
			return "", false
		}
		if _, err := hex.Decode(c[:], []byte(s[i+1:i+3])); err != nil {
			return "", false
		}
		b = append(b, c[0])
		i += 2
	}
	return string(b), true
}

// Resolve is the NodeID in the server whose NamespaceArray is given: it replaces the namespace URI by
// its index. It returns false when the namespace is not in the array, or the node is one of another
// server.
func (e ExpandedNodeID) Resolve(namespaces []string) (NodeID, bool) {
	if e.ServerIndex != 0 {
		return NodeID{}, false
	}
	return resolve(e, namespaces)
}

const guidForm = "00000000-0000-0000-0000-000000000000"

// String is the text form of five groups of hexadecimal digits, such as
// "09087e75-8e5e-499b-954f-f2a9603db28a" (Part 6, 5.1.3).
func (g GUID) String() string {
	var buf [36]byte
	return string(g.appendText(buf[:0]))
}

// AppendText appends the text form; it returns no error.
func (g GUID) AppendText(b []byte) ([]byte, error) { return g.appendText(b), nil }

// MarshalText is the text form; it returns no error.
func (g GUID) MarshalText() ([]byte, error) { return g.appendText(nil), nil }

// UnmarshalText reads the text form as ParseGUID does.
func (g *GUID) UnmarshalText(text []byte) error {
	v, err := ParseGUID(string(text))
	if err != nil {
		return err
	}
	*g = v
	return nil
}

func (g GUID) appendText(b []byte) []byte {
	b = append(hex.AppendEncode(b, g[:4]), '-')
	b = append(hex.AppendEncode(b, g[4:6]), '-')
	b = append(hex.AppendEncode(b, g[6:8]), '-')
	b = append(hex.AppendEncode(b, g[8:10]), '-')
	return hex.AppendEncode(b, g[10:])
}

// ParseGUID reads the text form of a GUID in upper or lower case, also within braces (Part 6, 5.1.3).
// The error is BadSyntaxError.
func ParseGUID(s string) (GUID, error) {
	t := s
	if len(t) > 2 && t[0] == '{' && t[len(t)-1] == '}' {
		t = t[1 : len(t)-1]
	}
	g, ok := parseGUID(t)
	if !ok {
		return GUID{}, &textError{BadSyntaxError, fmt.Sprintf("%.200q is no GUID of the form %s", s, guidForm)}
	}
	return g, nil
}

func parseGUID(s string) (g GUID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return GUID{}, false
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(g[:], []byte(digits)); err != nil {
		return GUID{}, false
	}
	return g, true
}
