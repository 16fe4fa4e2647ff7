package config

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/actua/actua/ua"
)

// The words that keys take.
var (
	policies   = []string{"None", "Basic256Sha256", "Aes128_Sha256_RsaOaep", "Aes256_Sha256_RsaPss"}
	deprecated = []string{"Basic256", "Basic128Rsa15"}
	modes      = []string{"Sign", "SignAndEncrypt"}
	clients    = []string{ClientsTrusted, ClientsAny}
	plants     = []string{PlantNone, PlantDemo, PlantBench}
	kinds      = []string{"ramp", "sine", "random", "counter", "writable"}
)

// check finds what is wrong with the values of keys.
func (c *Config) check() error {
	for _, f := range []func() error{c.checkAddresses, c.checkSecurity, c.checkUsers, c.checkNodes, c.checkLimits} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkAddresses() error {
	if len(c.Listen) == 0 {
		return c.at("listen", "at least one address is wanted, such as opc.tcp://:4840")
	}
	if i, why := CheckListen(c.Listen); why != "" {
		return c.at(fmt.Sprintf("listen[%d]", i), "%s", why)
	}
	for i, text := range c.Advertise {
		if u, err := url.Parse(text); err != nil || u.Scheme != "opc.tcp" || u.Hostname() == "" || u.User != nil {
			return c.at(fmt.Sprintf("advertise[%d]", i), "%s is no address that clients can use; such as opc.tcp://plant7:4840", text)
		}
	}
	if c.Stats != "" && !IsAddress(c.Stats) {
		return c.at("stats", "%s is no address; such as localhost:6840", c.Stats)
	}
	return nil
}

// CheckListen checks addresses to listen on, and completes those without opc.tcp://. It returns the first
// wrong one with a sentence about it.
func CheckListen(list []string) (int, string) {
	seen := map[string]bool{}
	for i, text := range list {
		if !strings.Contains(text, "://") {
			if net.ParseIP(text) != nil && strings.Contains(text, ":") {
				text = "[" + text + "]"
			}
			text = "opc.tcp://" + text
			list[i] = text
		}
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || !isPort(u.Port()):
			return i, text + " is no address; such as opc.tcp://0.0.0.0:4840"
		case u.Port() == "" && u.Hostname() != "" && isPort(u.Hostname()):
			return i, text + " has a port where the host should be; did you mean opc.tcp://:" + u.Hostname() + "?"
		case u.User != nil:
			return i, u.Redacted() + ": an address to listen on has no user"
		case u.Scheme == "opc.https" || u.Scheme == "https" || u.Scheme == "opc.wss":
			return i, fmt.Sprintf("%s: %s:// comes with a later version of actua, listen on opc.tcp://", text, u.Scheme)
		case u.Scheme != "opc.tcp":
			return i, text + " does not begin with opc.tcp://"
		case seen[u.Host] && u.Port() != "0":
			return i, text + " is given twice"
		}
		seen[u.Host] = true
	}
	return 0, ""
}

// IsAddress reports whether text is HOST:PORT, of which the host may be missing.
func IsAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	return err == nil && port != "" && isPort(port)
}

// isPort accepts no port too: it is the default one.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// oneOf checks a word against those that a key takes.
func (c *Config) oneOf(path, word string, valid []string) error {
	if slices.Contains(valid, word) {
		return nil
	}
	return c.at(path, "%q is not known%s", word, c.hint(word, valid))
}

func (c *Config) checkSecurity() error {
	s := &c.Security
	valid := policies
	if s.AllowDeprecated {
		valid = append(slices.Clone(policies), deprecated...)
	}
	for _, l := range []struct {
		path        string
		list, valid []string
	}{{"security.policies", s.Policies, valid}, {"security.modes", s.Modes, modes}} {
		if len(l.list) == 0 {
			return c.at(l.path, "at least one is wanted: %s", strings.Join(l.valid, ", "))
		}
		for i, word := range l.list {
			path := fmt.Sprintf("%s[%d]", l.path, i)
			switch {
			case l.path == "security.policies" && !s.AllowDeprecated && slices.Contains(deprecated, word):
				return c.at(path, "%s is no longer safe; to offer it all the same set allow-deprecated", word)
			case slices.Contains(l.list[:i], word):
				return c.at(path, "%s is given twice", word)
			}
			if err := c.oneOf(path, word, l.valid); err != nil {
				return err
			}
		}
	}
	return c.oneOf("security.clients", s.Clients, clients)
}

func (c *Config) checkUsers() error {
	seen := map[string]bool{}
	for i, a := range c.Users.Accounts {
		path := fmt.Sprintf("users.accounts[%d]", i)
		switch {
		case a.Name == "":
			return c.at(path, "the user has no name")
		case seen[a.Name]:
			return c.at(path+".name", "%s is given twice", a.Name)
		case (a.Password == "") == (a.PasswordEnv == ""):
			return c.at(path, "either password or password-env is wanted")
		}
		seen[a.Name] = true
	}
	if !c.Users.Anonymous && len(c.Users.Accounts) == 0 {
		return c.at("users.anonymous", "nobody can log in: without anonymous users, accounts are wanted")
	}
	return nil
}

func (c *Config) checkNodes() error {
	if err := c.oneOf("plant", c.Plant, plants); err != nil {
		return err
	}
	for i, uri := range c.Namespaces {
		switch path := fmt.Sprintf("namespaces[%d]", i); {
		case uri == "":
			return c.at(path, "a namespace has a URI, such as urn:example:plant")
		case uri == "http://opcfoundation.org/UA/":
			return c.at(path, "%s is namespace 0, which every server has", uri)
		case slices.Contains(c.Namespaces[:i], uri):
			return c.at(path, "%s is given twice", uri)
		}
	}
	for i := range c.Variables {
		if err := c.checkVariable(&c.Variables[i], fmt.Sprintf("variables[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkVariable(v *Variable, path string) error {
	if v.Name == "" || slices.Contains(strings.Split(v.Name, "/"), "") {
		return c.at(path+".name", "a name is wanted, below folders such as Line1/Speed")
	}
	if v.Namespace != "" && !slices.Contains(c.Namespaces, v.Namespace) {
		return c.at(path+".namespace", "%s is not in namespaces", v.Namespace)
	}
	if v.ID != "" {
		if id, err := ua.ParseNodeID(v.ID); err != nil || id.Namespace() != 0 {
			return c.at(path+".id", "%s is no identifier; such as i=5 or s=Speed, without a namespace", v.ID)
		}
	}
	if err := c.oneOf(path+".kind", v.Kind, kinds); err != nil {
		return err
	}
	t, number := numbers[v.Type]
	switch {
	case v.Kind == "writable" && !number:
		if err := c.oneOf(path+".type", v.Type, append(numberTypes(), "Boolean", "String")); err != nil {
			return err
		}
	case !number:
		if v.Type == "Boolean" || v.Type == "String" {
			return c.at(path+".type", "only a writable variable can be a %s", v.Type)
		}
		return c.oneOf(path+".type", v.Type, numberTypes())
	case v.Min >= v.Max:
		return c.at(path+".max", "%v is not above min, %v", v.Max, v.Min)
	case v.Min < t.low || v.Max > t.high:
		return c.at(path+".max", "a %s is from %v to %v", v.Type, t.low, t.high)
	case t.whole && (v.Min != math.Trunc(v.Min) || v.Max != math.Trunc(v.Max)):
		return c.at(path+".type", "%s holds whole numbers only, and so must min and max be", v.Type)
	}
	if v.Kind != "writable" && v.Value != "" {
		return c.at(path+".value", "only a writable variable has a first value")
	}
	if _, why := v.first(); why != "" {
		return c.at(path+".value", "%s", why)
	}
	return nil
}

// checkLimits refuses what would make no sense or no server.
func (c *Config) checkLimits() error {
	l := &c.Limits
	for _, x := range []struct {
		key  string
		none bool
	}{
		{"min-session-timeout", l.MinSessionTimeout < 0}, {"min-token-lifetime", l.MinTokenLifetime < 0},
		{"max-buffer-size", l.MaxBufferSize < 0}, {"max-nesting", l.MaxNesting < 0},
		{"min-publishing-interval", l.MinPublishingInterval < 0}, {"min-sampling-interval", l.MinSamplingInterval < 0},
		{"min-subscription-lifetime", l.MinSubscriptionLifetime < 0},
	} {
		if x.none {
			return c.at("limits."+x.key, "a bound is wanted here, not none")
		}
	}
	switch d := defaultLimits(); {
	case l.MaxBufferSize != 0 && l.MaxBufferSize < 8192:
		return c.at("limits.max-buffer-size", "%d is below 8192, the least that OPC UA allows", l.MaxBufferSize)
	case l.MaxNesting > 1000:
		return c.at("limits.max-nesting", "%d is above 1000", l.MaxNesting)
	case above(l.MinSessionTimeout, l.MaxSessionTimeout, d.MinSessionTimeout, d.MaxSessionTimeout):
		return c.at("limits.min-session-timeout", "it is above max-session-timeout")
	case above(l.MinTokenLifetime, l.MaxTokenLifetime, d.MinTokenLifetime, d.MaxTokenLifetime):
		return c.at("limits.min-token-lifetime", "it is above max-token-lifetime")
	case above(l.MinPublishingInterval, l.MaxPublishingInterval, d.MinPublishingInterval, d.MaxPublishingInterval):
		return c.at("limits.min-publishing-interval", "it is above max-publishing-interval")
	case above(l.MinSubscriptionLifetime, l.MaxSubscriptionLifetime, d.MinSubscriptionLifetime, d.MaxSubscriptionLifetime):
		return c.at("limits.min-subscription-lifetime", "it is above max-subscription-lifetime")
	}
	return nil
}

// above compares two limits, of which 0 takes the default and a negative highest one is none.
func above[T ~int64](least, most, defaultLeast, defaultMost T) bool {
	if least == 0 {
		least = defaultLeast
	}
	if most == 0 {
		most = defaultMost
	}
	return most > 0 && least > most
}
