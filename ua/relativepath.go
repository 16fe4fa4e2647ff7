package ua

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// reserved are the characters that a name in the text of a path has to escape with '&' (Part 4, A.2).
const reserved = "/.<>:#!&"

const (
	hierarchicalReferences = 33
	aggregates             = 44
)

// ParseRelativePath reads the text form of a path, such as "/2:Plant<HasComponent>2:Pump.2:Speed"
// (Part 4, A.2): '/' follows hierarchical references and their subtypes, '.' Aggregates and its
// subtypes, "<[#][!]name>" a reference type by name, with '#' without its subtypes and with '!'
// backwards. The name of a target may have a namespace index in front; it may be missing at the end
// only and then stands for any target. '&' takes the special meaning from the character behind it.
//
// The reference types of namespace 0 are known by name. For others resolve is asked, if it is not
// nil; their node id may also stand in place of the name, as in "<ns=2;i=4001>". The error says what
// is wrong and where; it is BadSyntaxError, or BadReferenceTypeIdInvalid for an unknown name.
func ParseRelativePath(text string, resolve func(QualifiedName) (NodeID, bool)) (RelativePath, error) {
	p := pathParser{text: text, resolve: resolve}
	var path RelativePath
	for p.at < len(text) {
		if n := len(path.Elements); n > 0 && path.Elements[n-1].TargetName.IsNull() {
			return RelativePath{}, p.fail(BadSyntaxError, "a target name is missing")
		}
		e, err := p.element()
		if err != nil {
			return RelativePath{}, err
		}
		path.Elements = append(path.Elements, e)
	}
	return path, nil
}

type pathParser struct {
	text    string
	at      int
	resolve func(QualifiedName) (NodeID, bool)
}

func (p *pathParser) fail(code StatusCode, reason string) error {
	return &textError{code, fmt.Sprintf("path %.200q: %s at byte %d", p.text, reason, p.at)}
}

func (p *pathParser) element() (e RelativePathElement, err error) {
	e.IncludeSubtypes = true
	start := p.at
	p.at++
	switch p.text[start] {
	case '/':
		e.ReferenceTypeID = ID(hierarchicalReferences)
	case '.':
		e.ReferenceTypeID = ID(aggregates)
	case '<':
	flags:
		for p.at < len(p.text) {
			switch p.text[p.at] {
			case '#':
				e.IncludeSubtypes = false
			case '!':
				e.IsInverse = true
			default:
				break flags
			}
			p.at++
		}
		if e.ReferenceTypeID, err = p.referenceType(); err != nil {
			return e, err
		}
	default:
		p.at = start
		return e, p.fail(BadSyntaxError, "a step begins with '/', '.' or '<'")
	}
	plain, colon, err := p.name("/.<")
	if err != nil {
		return e, err
	}
	e.TargetName, err = p.qualified(plain, colon)
	return e, err
}

func (p *pathParser) referenceType() (NodeID, error) {
	start := p.at
	plain, colon, err := p.name(">")
	if err != nil {
		return NodeID{}, err
	}
	if p.at == len(p.text) {
		return NodeID{}, p.fail(BadSyntaxError, "no '>' behind the reference type")
	}
	p.at++
	if id, err := ParseNodeID(plain); err == nil {
		return id, nil
	}
	name, err := p.qualified(plain, colon)
	if err != nil {
		return NodeID{}, err
	}
	if name.Name == "" {
		return NodeID{}, p.fail(BadSyntaxError, "the name of the reference type is empty")
	}
	if name.NamespaceIndex == 0 {
		if id, ok := referenceTypeNamed(name.Name); ok {
			return id, nil
		}
	}
	if p.resolve != nil {
		if id, ok := p.resolve(name); ok {
			return id, nil
		}
	}
	p.at = start
	return NodeID{}, p.fail(BadReferenceTypeIdInvalid, fmt.Sprintf("no reference type is named %q", name))
}

// name reads up to one of the characters in end and removes the escapes. colon is where the first
// colon that is not escaped stands in the result, or -1.
func (p *pathParser) name(end string) (plain string, colon int, err error) {
	var b []byte
	colon = -1
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case strings.IndexByte(end, c) >= 0:
			return string(b), colon, nil
		case c == '&':
			if p.at+1 == len(p.text) || strings.IndexByte(reserved, p.text[p.at+1]) < 0 {
				return "", -1, p.fail(BadSyntaxError, "'&' without one of "+reserved+" behind it")
			}
			p.at++
			c = p.text[p.at]
		case c == ':' && colon < 0:
			colon = len(b)
		case c == '>':
			return "", -1, p.fail(BadSyntaxError, "'>' without '<'; a name has to write it &>")
		}
		b = append(b, c)
		p.at++
	}
	return string(b), colon, nil
}

// qualified splits a name at the colon behind its namespace index. Another colon should have been
// escaped; it is taken as a part of the name, since nothing else could be meant.
func (p *pathParser) qualified(plain string, colon int) (QualifiedName, error) {
	if colon < 0 || !isDigits(plain[:colon]) {
		return QualifiedName{Name: plain}, nil
	}
	n, ok := parseUint(plain[:colon], math.MaxUint16)
	if !ok {
		return QualifiedName{}, p.fail(BadSyntaxError, "a namespace index is not in the range of 0 to 65535")
	}
	if colon+1 == len(plain) {
		return QualifiedName{}, p.fail(BadSyntaxError, "no name behind a namespace index")
	}
	return QualifiedName{NamespaceIndex: uint16(n), Name: plain[colon+1:]}, nil
}

// String is the text form that ParseRelativePath reads (Part 4, A.2). Reference types of other
// namespaces than 0 are written as their node id.
func (p RelativePath) String() string {
	var b []byte
	for _, e := range p.Elements {
		switch {
		case e.IncludeSubtypes && !e.IsInverse && e.ReferenceTypeID == ID(hierarchicalReferences):
			b = append(b, '/')
		case e.IncludeSubtypes && !e.IsInverse && e.ReferenceTypeID == ID(aggregates):
			b = append(b, '.')
		default:
			b = append(b, '<')
			if !e.IncludeSubtypes {
				b = append(b, '#')
			}
			if e.IsInverse {
				b = append(b, '!')
			}
			name := referenceTypeName(e.ReferenceTypeID)
			if name == "" {
				name = e.ReferenceTypeID.String()
			}
			b = append(appendEscaped(b, name), '>')
		}
		if e.TargetName.NamespaceIndex != 0 {
			b = append(strconv.AppendUint(b, uint64(e.TargetName.NamespaceIndex), 10), ':')
		}
		b = appendEscaped(b, e.TargetName.Name)
	}
	return string(b)
}

func appendEscaped(b []byte, name string) []byte {
	for i := 0; i < len(name); i++ {
		if strings.IndexByte(reserved, name[i]) >= 0 {
			b = append(b, '&')
		}
		b = append(b, name[i])
	}
	return b
}
