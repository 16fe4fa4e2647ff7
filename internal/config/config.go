// Package config is the configuration of "actua serve": a YAML file, its checks with line numbers, and
// its printed form, in which every key is explained.
package config

import (
	"time"

	"github.com/actua/actua/ua/uaserver"
)

// Config is a whole configuration. The keys of the file are the names of the fields in lower case, with
// dashes between words.
type Config struct {
	Listen      []string
	Advertise   []string
	PKI         string
	Stats       string
	Application Application
	Security    Security
	Users       Users
	Diagnostics bool
	Plant       string
	Namespaces  []string
	Nodesets    []string
	Lenient     bool
	Variables   []Variable
	Limits      uaserver.Limits

	file  string
	lines map[string]int // by path, for those keys that the file has
	hint  Hint
}

// Application is how the server presents itself.
type Application struct {
	Name string
	URI  string
}

// Security says what is offered to whom.
type Security struct {
	Policies        []string
	Modes           []string
	AllowDeprecated bool
	Clients         string
}

// Users says who may log in.
type Users struct {
	Anonymous bool
	Accounts  []Account
}

// Account is a user with a password.
type Account struct {
	Name        string
	Password    string
	PasswordEnv string
}

// Variable is a simulated variable.
type Variable struct {
	Name        string
	ID          string
	Namespace   string
	Kind        string
	Type        string
	Min, Max    float64
	Period      time.Duration
	Interval    time.Duration
	Value       string
	Unit        string
	Description string
}

// newVariable has the defaults of a variable's keys.
func newVariable() Variable {
	return Variable{Kind: "ramp", Type: "Double", Max: 100, Period: 10 * time.Second, Interval: 100 * time.Millisecond}
}

// Values of keys.
const (
	ClientsTrusted = "trusted"
	ClientsAny     = "any"

	PlantNone  = "none"
	PlantDemo  = "demo"
	PlantBench = "bench"
)

// Profiles are the names that Profile takes.
func Profiles() []string { return []string{"demo", "bench", "empty"} }

// Profile is the configuration of a profile of "actua serve". The empty one is also what the keys have
// that a file leaves out.
func Profile(name string) *Config {
	c := &Config{
		Listen:      []string{"opc.tcp://:4840"},
		Application: Application{Name: "actua"},
		Security: Security{
			Policies: []string{"None", "Basic256Sha256", "Aes128_Sha256_RsaOaep", "Aes256_Sha256_RsaPss"},
			Modes:    []string{"Sign", "SignAndEncrypt"},
			Clients:  ClientsTrusted,
		},
		Users:  Users{Anonymous: true},
		Plant:  PlantNone,
		Limits: defaultLimits(),
	}
	switch name {
	case "demo":
		c.Security.Clients = ClientsAny
		c.Users.Accounts = []Account{{Name: "operator", Password: "operator"}}
		c.Plant = PlantDemo
		c.Namespaces = []string{"urn:actua:demo"}
		c.Variables = demoVariables()
	case "bench":
		c.Security.Clients = ClientsAny
		c.Plant = PlantBench
		c.Limits.MaxSessions = 5000
		c.Limits.MaxPublishRequests = 1000
		c.Limits.MinPublishingInterval = time.Millisecond
		c.Limits.MaxChannels, c.Limits.MaxHandshakes, c.Limits.MaxReceiveMemory, c.Limits.MaxLoginFailures = -1, -1, -1, -1
	}
	c.Application.Name = "actua " + name
	return c
}

// demoVariables is one simulated variable of each kind.
func demoVariables() []Variable {
	variable := func(name, kind string, change func(*Variable)) Variable {
		v := newVariable()
		v.Name, v.Kind = "Simulation/"+name, kind
		change(&v)
		return v
	}
	return []Variable{
		variable("Ramp", "ramp", func(v *Variable) { v.Unit, v.Description = "%", "Rises from 0 to 100 in ten seconds" }),
		variable("Sine", "sine", func(v *Variable) { v.Min, v.Max, v.Period = -1, 1, time.Minute }),
		variable("Random", "random", func(v *Variable) { v.Interval = time.Second }),
		variable("Counter", "counter", func(v *Variable) { v.Type, v.Max, v.Interval = "UInt32", 1_000_000, time.Second }),
		variable("SetPoint", "writable", func(v *Variable) { v.Value = "50" }),
	}
}

// defaultLimits are those of uaserver; a test compares them.
func defaultLimits() uaserver.Limits {
	return uaserver.Limits{
		MaxSessions: 1000, MaxChannels: 2000,
		MinSessionTimeout: 10 * time.Second, MaxSessionTimeout: time.Hour, ActivationTimeout: 10 * time.Second,
		MaxNodesPerRead: 10_000, MaxNodesPerWrite: 10_000, MaxNodesPerBrowse: 10_000, MaxNodesPerMethodCall: 10_000,
		MaxNodesPerRegisterNodes: 10_000, MaxNodesPerTranslatePaths: 10_000,
		MaxReferencesPerNode: -1, MaxBrowseContinuationPoint: 100, MaxPendingRequests: 100,
		MaxSubscriptions: 100, MaxMonitoredItems: 100_000, MaxMonitoredItemsPerCall: 10_000, MaxPublishRequests: 20,
		MaxRetransmissionQueue: 100, MaxNotificationsPerPublish: 10_000, MaxDataQueue: 1000, MaxEventQueue: 10_000,
		MinPublishingInterval: 10 * time.Millisecond, MaxPublishingInterval: time.Hour, MinSamplingInterval: 10 * time.Millisecond,
		MinSubscriptionLifetime: 10 * time.Second, MaxSubscriptionLifetime: time.Hour,
		MaxMessageSize: 16 << 20, MaxBufferSize: 65_535, MaxReceiveMemory: 256 << 20,
		MaxStringLength: 16 << 20, MaxByteString: 16 << 20, MaxArrayLength: 16 << 20, MaxNesting: 100,
		HandshakeTimeout: 10 * time.Second, IdleTimeout: -1, MinTokenLifetime: time.Minute, MaxTokenLifetime: time.Hour,
		MaxLoginFailures: 5, LockoutTime: 10 * time.Second,
	}
}
