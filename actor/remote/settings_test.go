package remote

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
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

// TestRow39SettingsArrive gives every setting a value of its own, there and back again.
func TestRow39SettingsArrive(t *testing.T) {
	var in assoc.Settings
	n := 0
	fill(reflect.ValueOf(&in).Elem(), &n)
	out := settingsOf(in)
	if back := out.assoc(); !reflect.DeepEqual(back, in) {
		t.Errorf("%+v\nbecame\n%+v", in, back)
	}
	theirs, ours := flat(in), flat(out)
	for name, v := range theirs {
		if !reflect.DeepEqual(ours[name], v) {
			t.Errorf("%s is %v, want %v", name, ours[name], v)
		}
	}
	for name := range ours {
		if _, ok := theirs[name]; !ok && !strings.HasPrefix(name, "TLS.") {
			t.Errorf("%s reaches nobody", name)
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
		default:
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
