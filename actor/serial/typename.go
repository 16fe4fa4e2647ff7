package serial

import (
	"bytes"
	"fmt"
	"strings"
)

// netName is a .NET type without version, culture and key: "Shop.Order" of "Shop".
type netName struct{ typ, assembly string }

// String is the name as it is sent: "Shop.Order, Shop".
func (n netName) String() string { return n.typ + ", " + n.assembly }

// netNames makes the names of types of .NET itself.
type netNames struct{ coreLib string }

func (n *netNames) core(typ string) netName { return netName{typ, n.coreLib} }

func (n *netNames) generic(typ string, args ...netName) netName {
	for i, a := range args {
		open := ",["
		if i == 0 {
			open = "[["
		}
		typ += open + a.String() + "]"
	}
	return n.core(typ + "]")
}

// parseName checks a name that a user gives.
func parseName(s string) (netName, error) {
	b := normalName(nil, []byte(s))
	depth := 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] < 0x20:
			return netName{}, fmt.Errorf("serial: the .NET type name %q has a control character", s)
		case b[i] == '[':
			depth++
		case b[i] == ']':
			depth--
		case depth == 0 && b[i] == ',':
			n := netName{string(b[:i]), strings.TrimSpace(string(b[i+1:]))}
			if n.typ == "" || n.assembly == "" || strings.ContainsAny(n.assembly, ",[]") {
				return netName{}, fmt.Errorf(`serial: a .NET type name is like "Shop.Order, Shop", not %q`, s)
			}
			return n, nil
		}
	}
	return netName{}, fmt.Errorf(`serial: the .NET type name %q has no assembly: "Shop.Order, Shop"`, s)
}

// The assemblies that types of .NET itself are found in, of old and of new.
var coreLibs = map[string]bool{
	"mscorlib": true, "System.Private.CoreLib": true, "System.Runtime": true, "netstandard": true,
	"System.Core": true, "System.Collections": true, "System": true,
}

const coreLib = "System.Private.CoreLib"

// normalName appends a type name in the form that registered names are kept in: without version, culture and key,
// and with one name for the assembly of .NET's own types.
func normalName(dst, name []byte) []byte {
	for len(name) > 0 {
		i := bytes.IndexByte(name, ',')
		if i < 0 {
			return append(dst, name...)
		}
		dst = append(dst, name[:i]...)
		name = name[i+1:]
		end := bytes.IndexAny(name, ",]")
		if end < 0 {
			end = len(name)
		}
		part := bytes.TrimSpace(name[:end])
		switch {
		case bytes.HasPrefix(part, []byte("Version=")), bytes.HasPrefix(part, []byte("Culture=")), bytes.HasPrefix(part, []byte("PublicKeyToken=")):
			name = name[end:]
		case len(part) == 0 || part[0] == '[':
			dst = append(dst, ',')
		case coreLibs[string(part)]:
			dst = append(append(dst, ", "...), coreLib...)
			name = name[end:]
		default:
			dst = append(append(dst, ", "...), part...)
			name = name[end:]
		}
	}
	return dst
}

// typeMember is the member that names a type, nil if it has no name.
func typeMember(n netName) []byte {
	if n.typ == "" {
		return nil
	}
	return appendJSONString([]byte(`"$type":`), n.String())
}
