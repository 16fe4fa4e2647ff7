package remote

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

// TestRow39SettingsCheck has what cannot work refused by name.
func TestRow39SettingsCheck(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"Hostname is":                         func(s *Settings) { s.Hostname = "a:b" },
		"PublicHostname is":                   func(s *Settings) { s.PublicHostname = "a@b" },
		"Port is":                             func(s *Settings) { s.Port = -1 },
		"PublicPort is":                       func(s *Settings) { s.PublicPort = 65536 },
		"MaximumFrameSize is":                 func(s *Settings) { s.MaximumFrameSize = 31999 },
		"ConnectionTimeout is":                func(s *Settings) { s.ConnectionTimeout = 0 },
		"Backlog is":                          func(s *Settings) { s.Backlog = 0 },
		"WatchDetector.Threshold is":          func(s *Settings) { s.WatchDetector.Threshold = -1 },
		"TLS.CertificatePath is":              func(s *Settings) { s.TLS.Enable = true },
		"SystemMessageBufferSize is":          func(s *Settings) { s.SystemMessageBufferSize = 0 },
		"InitialSystemMessageDeliveryTimeout": func(s *Settings) { s.InitialSystemMessageDeliveryTimeout = 0 },
	} {
		s := DefaultSettings()
		change(&s)
		if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
		c := Config{Settings: &s}
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), "Settings."+name) {
			t.Errorf("%s: the configuration says %v", name, err)
		}
		if _, err := actor.NewSystem("A", actor.Config{Provider: New(c)}); err == nil || !strings.Contains(err.Error(), "Settings."+name) {
			t.Errorf("%s: the system says %v", name, err)
		}
	}
	if err := (&Config{SendLimit: -1}).Check(); err == nil || !strings.HasPrefix(err.Error(), "SendLimit") {
		t.Errorf("got %v", err)
	}
	c := Config{Deployable: map[string]func([]any) (*actor.Props, error){"A": nil}}
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "Deployable") {
		t.Errorf("got %v", err)
	}
	if err := new(Config).Check(); err != nil {
		t.Error(err)
	}
}

// TestRow39SettingsDefaults has every default once more, as the reference configuration of Akka.NET 1.5 states it.
func TestRow39SettingsDefaults(t *testing.T) {
	s := time.Second
	want := Settings{
		Hostname: "", Port: 2552, PublicHostname: "", PublicPort: 0, ConnectionTimeout: 15 * s, SendBufferSize: 256000, ReceiveBufferSize: 256000,
		Backlog: 4096, TCPNoDelay: true, TCPKeepAlive: true, MaximumFrameSize: 128000, BigEndian: false, BatchingMaxPendingWrites: 30,
		TLS:              TLSSettings{RequireMutualAuthentication: true},
		HandshakeTimeout: 15 * s, HeartbeatInterval: 4 * s, AcceptableHeartbeatPause: 120 * s, BackoffInterval: s / 20, UsePassiveConnections: true,
		RetryGateClosedFor: 5 * s, PruneQuarantineMarkerAfter: 5 * 86400 * s, QuarantineAfterSilence: 2 * 86400 * s, StartupTimeout: 10 * s,
		ShutdownTimeout: 10 * s, FlushWaitOnShutdown: 2 * s, CommandAckTimeout: 30 * s, LogBufferSizeExceeding: 50000,
		SystemMessageBufferSize: 20000, SystemMessageAckPiggybackTimeout: 300 * time.Millisecond, ResendInterval: 2 * s, ResendLimit: 200,
		InitialSystemMessageDeliveryTimeout: 180 * s, GiveUpSystemMessageAfter: 0,
		WatchHeartbeatInterval: s, WatchUnreachableReaperInterval: s, WatchExpectedResponseAfter: s,
		WatchDetector: PhiSettings{Threshold: 10, MaxSampleSize: 200, MinStdDeviation: s / 10, AcceptableHeartbeatPause: 10 * s, FirstHeartbeatEstimate: s},
		UntrustedMode: false, TrustedSelectionPaths: nil,
		PendingSendLimit: 50000, SystemMessageReceiveWindow: 2000, HoldLimit: 1 << 20, StashLimit: 4,
	}
	got := DefaultSettings()
	w, g := flat(want), flat(got)
	for name, v := range w {
		if !reflect.DeepEqual(v, g[name]) {
			t.Errorf("%s is %v, want %v", name, g[name], v)
		}
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
}

// TestRow39SettingsCheckEach breaks each setting that can be broken: the error names it.
func TestRow39SettingsCheckEach(t *testing.T) {
	unbreakable := map[string]bool{"GiveUpSystemMessageAfter": true, "LogBufferSizeExceeding": true}
	zero := map[string]bool{"Port": true, "PublicPort": true, "AcceptableHeartbeatPause": true}
	var try func(prefix string, v func(s *Settings) reflect.Value)
	try = func(prefix string, v func(s *Settings) reflect.Value) {
		var d Settings
		typ := v(&d).Type()
		for i := range typ.NumField() {
			field, name := func(s *Settings) reflect.Value { return v(s).Field(i) }, prefix+typ.Field(i).Name
			s := DefaultSettings()
			switch f := field(&s); f.Kind() {
			case reflect.Struct:
				try(name+".", field)
				continue
			case reflect.Int, reflect.Int64:
				if f.SetInt(-1); unbreakable[name] && name == "LogBufferSizeExceeding" {
					continue
				}
			case reflect.Float64:
				f.SetFloat(-1)
			default:
				continue
			}
			if err := s.Check(); err == nil || !strings.Contains(err.Error(), typ.Field(i).Name) {
				t.Errorf("%s below 0: %v", name, err)
			}
			if f := field(&s); !zero[typ.Field(i).Name] && !unbreakable[name] && f.Kind() != reflect.Float64 {
				if f.SetInt(0); s.Check() == nil {
					t.Errorf("%s of 0 is accepted", name)
				}
			}
		}
	}
	try("", func(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem() })
	s := DefaultSettings()
	if s.MaximumFrameSize = minFrameSize - 1; s.Check() == nil {
		t.Error("a frame limit below 32000 is accepted")
	}
	if s.MaximumFrameSize = minFrameSize; s.Check() != nil {
		t.Error("a frame limit of 32000 is refused")
	}
}

// TestRow39SettingsArrive gives every setting a value of its own: each that package assoc has gets the value of its namesake.
func TestRow39SettingsArrive(t *testing.T) {
	var in Settings
	n := 0
	fill(reflect.ValueOf(&in).Elem(), &n)
	ours, theirs := flat(in), flat(in.assoc())
	if len(theirs) == 0 {
		t.Error("package assoc has no settings")
	}
	for name, v := range theirs {
		if !reflect.DeepEqual(ours[name], v) {
			t.Errorf("%s is %v, want %v", name, v, ours[name])
		}
	}
}

func fill(v reflect.Value, n *int) {
	for i := range v.NumField() {
		*n++
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			fill(f, n)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString(strings.Repeat("x", *n))
		case reflect.Float64:
			f.SetFloat(float64(*n))
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{strings.Repeat("y", *n)}))
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(*n))
		}
	}
}

func flat(s any) map[string]any {
	out := map[string]any{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			f, name := v.Field(i), prefix+v.Type().Field(i).Name
			if f.Kind() == reflect.Struct {
				walk(name+".", f)
			} else {
				out[name] = f.Interface()
			}
		}
	}
	walk("", reflect.ValueOf(s))
	return out
}
