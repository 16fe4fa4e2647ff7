package actor

import (
	"cmp"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/actua/actua/internal/digits"
)

// NoPort stands for the port of an address that has none.
const NoPort = -1

// maxAddress bounds the text of an address, in bytes, so that the positions in it stay small.
const maxAddress = math.MaxUint16

// Address says where an actor system is: a protocol ("akka" in the process, "akka.tcp" on the wire), the
// system's name, and for others to reach it a host and a port (Akka.NET 1.5, Address). It is a small value,
// comparable with ==, and a key of a map. The zero Address is no address.
//
// It is kept as its text, "akka.tcp://system@host:2552", with the positions of the parts: what addresses are
// for is to be written before paths and to be compared.
type Address struct {
	text string
	at   addressPlaces
}

// addressPlaces are positions in the text of an address, packed into one register: where the protocol ends (8 bits),
// the system (16), the host (16; 0 if there is none), and the port (16). A port is there if text goes on behind the host.
type addressPlaces uint64

func newAddressPlaces(protocol, system, host, port int) addressPlaces {
	return addressPlaces(protocol) | addressPlaces(system)<<8 | addressPlaces(host)<<24 | addressPlaces(port)<<40
}

func (p addressPlaces) protocol() int { return int(p & 0xff) }
func (p addressPlaces) system() int   { return int(p >> 8 & 0xffff) }
func (p addressPlaces) host() int     { return int(p >> 24 & 0xffff) }
func (p addressPlaces) port() int     { return int(p >> 40 & 0xffff) }

// LocalAddress is the address of a system that is reached only in its own process: "akka://system". Its
// error is a *PathError that names what is wrong with the name.
func LocalAddress(system string) (Address, error) {
	return NewAddress("akka", system, "", NoPort)
}

// NewAddress makes an address of its parts. The protocol has to start with "akka". An empty host with NoPort
// gives an address of local scope. Protocol and host become lower case (ASCII); an IPv6 address may come with
// or without brackets and gets them. A host with NoPort is possible, but the text of such an address cannot be
// parsed, and paths take another address over it (Akka.NET 1.5, Address). The error is a *PathError.
func NewAddress(protocol, system, host string, port int) (Address, error) {
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
		host = "[" + host + "]"
	}
	if len(protocol)+len(system)+len(host) > maxAddress-digits.Max {
		return Address{}, pathFailure(addressKind, system, 0, "an address longer than 65535 bytes")
	}
	text := protocol + "://" + system
	switch {
	case host != "" && port == NoPort:
		// Everything is checked by one parser, which wants a port: it gets one, and loses it again.
		text += "@" + host + ":0"
	case host != "":
		text += "@" + host + ":" + strconv.Itoa(port)
	case port != NoPort:
		return Address{}, pathFailure(addressKind, text, len(text), "a port without a host")
	}
	a, err := ParseAddress(text)
	if err != nil {
		return Address{}, err
	}
	if len(a.Host()) != len(host) || len(a.System()) != len(system) || len(a.Protocol()) != len(protocol) {
		return Address{}, pathFailure(addressKind, text, 0, "a part holds what separates the parts")
	}
	if port == NoPort && host != "" {
		a.text = a.text[:a.at.host()]
	}
	return a, nil
}

// IsZero reports whether a is no address.
func (a Address) IsZero() bool { return a.text == "" }

// Protocol is the part before "://", in lower case.
func (a Address) Protocol() string { return a.text[:a.at.protocol()] }

// System is the name of the actor system.
func (a Address) System() string {
	if a.text == "" {
		return ""
	}
	return a.text[a.at.protocol()+len("://") : a.at.system()]
}

// Host is the host's name or number in lower case, an IPv6 address in its brackets, or "".
func (a Address) Host() string {
	if a.at.host() == 0 {
		return ""
	}
	return a.text[a.at.system()+1 : a.at.host()]
}

// Port is the TCP port, 0 to 65535, or NoPort.
func (a Address) Port() int {
	if !a.complete() {
		return NoPort
	}
	return a.at.port()
}

// complete reports whether the address has a host and a port: only such a one is kept when a path is rendered
// with another address.
func (a Address) complete() bool { return a.at.host() != 0 && a.at.host() < len(a.text) }

// HasLocalScope reports whether the address has no host: it means nothing outside its process.
func (a Address) HasLocalScope() bool { return a.at.host() == 0 }

// HasGlobalScope reports whether the address has a host.
func (a Address) HasGlobalScope() bool { return a.at.host() != 0 }

// String is the address as text: "akka.tcp://system@host:2552", or "akka://system" if it is local. The zero
// Address gives "".
func (a Address) String() string { return a.text }

// Append appends what String returns. It allocates only where dst has to grow.
func (a Address) Append(dst []byte) []byte { return append(dst, a.text...) }

// Equal reports whether protocol, system, host and port are the same. It is the same as ==.
func (a Address) Equal(b Address) bool { return a.text == b.text }

// Compare orders addresses by protocol, system, host and port, the first three byte by byte; what is absent
// comes first (Akka.NET 1.5, Address.Comparer).
func (a Address) Compare(b Address) int {
	if a.text == b.text {
		return 0
	}
	return cmp.Or(strings.Compare(a.Protocol(), b.Protocol()), strings.Compare(a.System(), b.System()),
		strings.Compare(a.Host(), b.Host()), cmp.Compare(a.Port(), b.Port()))
}

// ParseAddress reads an address: protocol "://" system, and for one of global scope "@" host ":" port. Without
// "@" all that follows "://" is the system's name, colons included. The protocol has to start with "akka" in any case.
// It allocates only if something has to be rewritten (upper case, leading zeros of the port), once; otherwise
// the address keeps s alive. The error is a *PathError.
func ParseAddress(s string) (Address, error) {
	h, reason := scanAddress(s)
	if reason != "" {
		return Address{}, pathFailure(addressKind, s, h.end, reason)
	}
	if h.end < len(s) {
		return Address{}, pathFailure(addressKind, s, h.end, "an address ends here, what follows would be a path")
	}
	if h.rewrite {
		return h.address(string(h.append(make([]byte, 0, len(s)), s))), nil
	}
	return h.address(s), nil
}

// SplitAddress cuts the text of an absolute path into its address and the rest, which starts with "/" and is
// neither checked nor changed; it is "/" if nothing follows the address. It allocates as ParseAddress does.
// The error is a *PathError.
func SplitAddress(s string) (a Address, rest string, err error) {
	h, reason := scanAddress(s)
	if reason != "" {
		return Address{}, "", pathFailure(pathKind, s, h.end, reason)
	}
	rest = s[h.end:]
	if rest == "" {
		rest = "/"
	}
	if h.rewrite {
		return h.address(string(h.append(make([]byte, 0, h.end), s))), rest, nil
	}
	return h.address(s[:h.end]), rest, nil
}

// addressScan is what scanAddress found: the positions in the input, which are those of the text too, but for zeros
// before the port.
type addressScan struct {
	protocol, system, host int // where they end; host 0: there is none
	digits                 int // where the port's digits start, leading zeros left out
	port                   int
	end                    int // of the address; with a reason, where the trouble is
	rewrite                bool
}

// scanAddress reads the address at the start of s up to the first "/" behind "://". A reason that is not
// empty says what is wrong at h.end.
func scanAddress(s string) (h addressScan, reason string) {
	if reason = h.scanProtocol(s); reason != "" {
		return h, reason
	}
	start := h.protocol + len("://")
	at := -1
	i := start
	for ; i < len(s) && s[i] != '/'; i++ {
		switch c := s[i]; {
		case c == '@':
			if at >= 0 {
				h.end = i
				return h, "a second '@'"
			}
			at = i
		case c == '#':
			h.end = i
			return h, "a '#' before the path"
		case at >= 0 && c-'A' < 26:
			h.rewrite = true
		}
	}
	h.system, h.end = i, i
	if at >= 0 {
		h.system = at
	}
	if h.system == start {
		h.end = start
		return h, "the system's name is missing"
	}
	if i > maxAddress {
		h.end = maxAddress
		return h, "an address longer than 65535 bytes"
	}
	if at < 0 {
		return h, ""
	}
	return h, h.scanHost(s[:i], at+1)
}

// scanProtocol reads up to "://".
func (h *addressScan) scanProtocol(s string) string {
	i := 0
	for ; i < len(s) && s[i] != ':'; i++ {
		c := s[i]
		switch {
		case c-'A' < 26:
			h.rewrite = true
		case c-'a' < 26, c-'0' < 10, c == '.', c == '-', c == '+':
		default:
			h.end = i
			return "not the start of an absolute path: it would be a protocol such as akka.tcp and \"://\""
		}
		if i < 4 && c|0x20 != "akka"[i] {
			h.end = i
			return "the protocol does not start with \"akka\""
		}
		if i == 255 {
			h.end = i
			return "a protocol longer than 255 bytes"
		}
	}
	h.protocol, h.end = i, i
	switch {
	case i == len(s):
		return "no \"://\" after the protocol"
	case i < 4:
		return "the protocol does not start with \"akka\""
	case len(s) < i+3 || s[i+1] != '/' || s[i+2] != '/':
		return "the protocol is not followed by \"://\""
	}
	return ""
}

// scanHost reads host and port from position i to the end of s.
func (h *addressScan) scanHost(s string, i int) string {
	start := i
	h.end = i
	if i < len(s) && s[i] == '[' {
		n := strings.IndexByte(s[i:], ']')
		if n < 0 {
			return "no ']' closes the host"
		}
		if n == 1 {
			return "the host is missing"
		}
		i += n + 1
		if i < len(s) && s[i] != ':' {
			h.end = i
			return "the host is not followed by ':' and a port"
		}
	} else {
		for ; i < len(s) && s[i] != ':'; i++ {
			if s[i] == '[' || s[i] == ']' {
				h.end = i
				return "a bracket inside the host"
			}
		}
		if i == start {
			return "the host is missing"
		}
	}
	h.host, h.end = i, i
	if i == len(s) {
		return "the port is missing"
	}
	i++
	h.digits, h.end = i, i
	if i == len(s) {
		return "the port is missing"
	}
	for ; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			h.end = i
			return "the port is not a number"
		}
		if h.port = h.port*10 + int(c); h.port > math.MaxUint16 {
			return "the port is above 65535"
		}
		if h.port == 0 && i+1 < len(s) {
			h.digits = i + 1
			h.rewrite = true
		}
	}
	h.end = i
	return ""
}

// append appends the address in its canonical form.
func (h *addressScan) append(dst []byte, s string) []byte {
	dst = appendLower(dst, s[:h.protocol])
	dst = append(dst, s[h.protocol:h.system]...)
	if h.host != 0 {
		dst = appendLower(dst, s[h.system:h.host])
		dst = append(dst, ':')
		dst = append(dst, s[h.digits:h.end]...)
	}
	return dst
}

// address is the address with that canonical text.
func (h *addressScan) address(text string) Address {
	return Address{text: text, at: newAddressPlaces(h.protocol, h.system, h.host, h.port)}
}

// appendLower appends s with ASCII letters in lower case.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c-'A' < 26 {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// PathError says why a text is no address, no path, or no name, and where.
type PathError struct {
	Kind   string // "address", "path", "relative path", "actor name" or "system name"
	Text   string // the text, shortened if it is long
	Offset int    // in bytes from the start of the whole text
	Reason string
}

const (
	addressKind  = "address"
	pathKind     = "path"
	relativeKind = "relative path"
	nameKind     = "actor name"
	systemKind   = "system name"
)

// Error is one line: what, where and why.
func (e *PathError) Error() string {
	return "actor: " + e.Kind + " " + strconv.Quote(e.Text) + ", byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// pathFailure copies a bounded part of the text, so that an error neither grows with its input nor keeps it alive.
func pathFailure(kind, text string, offset int, reason string) error {
	const most = 100
	if len(text) > most {
		text = text[:most] + "..."
	}
	return &PathError{Kind: kind, Text: strings.Clone(text), Offset: offset, Reason: reason}
}
