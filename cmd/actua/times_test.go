package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// Report T04: times of source and server and the status are shown with each value, to 100 ns, and a value
// of type DateTime is not lost.
func TestReportT04Times(t *testing.T) {
	w := isolated(t)
	at := ua.NewDateTime(time.Date(2026, 2, 3, 4, 5, 6, 123456700, time.UTC))
	url := testServer(t, func(s *memspace.Space) {
		v := s.AddVariable(s.Objects(), "When", ua.DateTime(0).Variant(), memspace.WithNodeID(ua.NewStringNodeID(2, "When")))
		err := v.SetValue(ua.DataValue{Value: at.Variant(), SourceTimestamp: at, Status: ua.UncertainLastUsableValue})
		if err != nil {
			t.Fatal(err)
		}
	}, nil)
	const text = "2026-02-03T04:05:06.1234567Z"
	_, out, stderr := w.run(t.Context(), "read", url, "ns=2;s=When", "--security", "none", "--json")
	var line struct{ Value, Type, Status, SourceTimestamp, ServerTimestamp string }
	if err := json.Unmarshal([]byte(out), &line); err != nil {
		t.Fatal(err, out, stderr)
	}
	if line.Value != text || line.SourceTimestamp != text || line.Type != "DateTime" || line.Status != "UncertainLastUsableValue" {
		t.Errorf("%+v", line)
	}
	server, err := ua.ParseDateTime(line.ServerTimestamp)
	if age := time.Since(server.Time()); err != nil || age < -time.Minute || age > time.Minute {
		t.Errorf("server time %q: %v", line.ServerTimestamp, err)
	}
	_, out, _ = w.run(t.Context(), "read", url, "ns=2;s=When", "--security", "none")
	if strings.Count(out, text) != 2 || !strings.Contains(out, "UncertainLastUsableValue") {
		t.Errorf("for people:\n%s", out)
	}
}
