package uaclient

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/actua/actua/ua"
)

// DefaultPort is the registered port of opc.tcp (Part 6, 7.4).
const DefaultPort = "4840"

// ParseURL completes what people type as the address of a server: "host", "host:port" and a URL
// without a port become an opc.tcp URL with port 4840. Another scheme than opc.tcp gives
// BadNotSupported when OPC UA defines it, else, as for anything unreadable, BadTcpEndpointUrlInvalid.
func ParseURL(text string) (*url.URL, error) {
	full := strings.TrimSpace(text)
	if !strings.Contains(full, "://") {
		if net.ParseIP(full) != nil && strings.Contains(full, ":") {
			full = "[" + full + "]" // a bare IPv6 address
		}
		full = "opc.tcp://" + full
	}
	u, err := url.Parse(full)
	if err != nil {
		return nil, reason(ua.BadTcpEndpointUrlInvalid, "address %.200q cannot be read", text)
	}
	switch u.Scheme {
	case "opc.tcp":
	case "opc.https", "https", "opc.wss", "opc.udp", "opc.eth":
		return nil, reason(ua.BadNotSupported, "addresses with %s:// are not supported yet, only opc.tcp://", u.Scheme)
	default:
		return nil, reason(ua.BadTcpEndpointUrlInvalid, "address %.200q does not begin with opc.tcp://", text)
	}
	if u.Hostname() == "" {
		return nil, reason(ua.BadTcpEndpointUrlInvalid, "address %.200q has no host", text)
	}
	if u.User != nil {
		return nil, reason(ua.BadTcpEndpointUrlInvalid, "address of a server with a user name or password in it: give them apart")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, reason(ua.BadTcpEndpointUrlInvalid, "address %.200q: the port is not between 1 and 65535", text)
		}
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), DefaultPort)
	}
	return u, nil
}

// pathOf is the part of an endpoint URL that must match: hosts and ports change on the way through
// address translation and containers.
func pathOf(endpointURL string) string {
	u, err := url.Parse(endpointURL)
	if err != nil {
		return endpointURL
	}
	return strings.Trim(u.Path, "/")
}
