package assoc

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestRow39Defaults has every default once more, as the reference configuration of Akka.NET 1.5 states it.
func TestRow39Defaults(t *testing.T) {
	want := map[string]any{
		"Hostname": "", "Port": 2552, "PublicHostname": "", "PublicPort": 0,
		"ConnectionTimeout": 15 * time.Second, "SendBufferSize": 256000, "ReceiveBufferSize": 256000, "Backlog": 4096,
		"TCPNoDelay": true, "TCPKeepAlive": true, "MaximumFrameSize": 128000, "BigEndian": false, "BatchingMaxPendingWrites": 30,
		"TLS.Enable": false, "TLS.SuppressValidation": false, "TLS.RequireMutualAuthentication": true, "TLS.ValidateCertificateHostname": false,
		"HandshakeTimeout": 15 * time.Second, "HeartbeatInterval": 4 * time.Second, "AcceptableHeartbeatPause": 120 * time.Second,
		"BackoffInterval": 50 * time.Millisecond, "UsePassiveConnections": true,
		"RetryGateClosedFor": 5 * time.Second, "PruneQuarantineMarkerAfter": 5 * 24 * time.Hour, "QuarantineAfterSilence": 48 * time.Hour,
		"StartupTimeout": 10 * time.Second, "ShutdownTimeout": 10 * time.Second, "FlushWaitOnShutdown": 2 * time.Second,
		"CommandAckTimeout": 30 * time.Second, "LogBufferSizeExceeding": 50000,
		"SystemMessageBufferSize": 20000, "SystemMessageAckPiggybackTimeout": 300 * time.Millisecond, "ResendInterval": 2 * time.Second,
		"ResendLimit": 200, "InitialSystemMessageDeliveryTimeout": 3 * time.Minute, "GiveUpSystemMessageAfter": time.Duration(0),
		"WatchHeartbeatInterval": time.Second, "WatchUnreachableReaperInterval": time.Second, "WatchExpectedResponseAfter": time.Second,
		"WatchDetector.Threshold": 10.0, "WatchDetector.MaxSampleSize": 200, "WatchDetector.MinStdDeviation": 100 * time.Millisecond,
		"WatchDetector.AcceptableHeartbeatPause": 10 * time.Second, "WatchDetector.FirstHeartbeatEstimate": time.Second,
		"UntrustedMode": false, "TrustedSelectionPaths": []string(nil),
		"PendingSendLimit": 50000, "SystemMessageReceiveWindow": 2000, "HoldLimit": 1 << 20, "StashLimit": 4,
	}
	got := map[string]any{}
	flatten("", reflect.ValueOf(DefaultSettings()), got)
	for name, v := range got {
		w, ok := want[name]
		if !ok {
			t.Errorf("%s (%v) is not in this list", name, v)
		} else if !reflect.DeepEqual(w, v) {
			t.Errorf("%s is %v, want %v", name, v, w)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("there is no setting %s", name)
		}
	}
	s := DefaultSettings()
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func flatten(prefix string, v reflect.Value, into map[string]any) {
	for i := range v.NumField() {
		f, name := v.Field(i), prefix+v.Type().Field(i).Name
		if f.Kind() == reflect.Struct {
			flatten(name+".", f, into)
		} else {
			into[name] = f.Interface()
		}
	}
}

// TestSettingsCheck breaks each setting that can be broken: the error names it.
func TestSettingsCheck(t *testing.T) {
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
	if s.MaximumFrameSize = MinFrameSize - 1; s.Check() == nil {
		t.Error("a frame limit below 32000 is accepted")
	}
	if s.MaximumFrameSize = MinFrameSize; s.Check() != nil {
		t.Error("a frame limit of 32000 is refused")
	}
}
