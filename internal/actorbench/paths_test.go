package actorbench

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rows, err := Paths(ctx); !errors.Is(err, context.Canceled) || rows != nil {
		t.Error(rows, err)
	}
	if rows, err := Digits(ctx); !errors.Is(err, context.Canceled) || rows != nil {
		t.Error(rows, err)
	}
}

func TestSummary(t *testing.T) {
	s := summary([]float64{10, 12, 11, 13, 9, 11, 1000})
	if s.MeanNs != 11 || s.MinNs != 9 || math.Abs(s.StdDevNs-math.Sqrt(2)) > 1e-9 || math.Abs(s.ErrorNs-6.869*math.Sqrt2/math.Sqrt(6)) > 1e-9 {
		t.Errorf("%+v", s)
	}
	for freedom, want := range map[int]float64{1: 636.619, 14: 4.140, 15: 4.073, 20: 3.850, 30: 3.646, 99: 3.392} {
		if got := student(freedom); math.Abs(got-want) > 0.005*want {
			t.Errorf("%d degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
	if s := summary([]float64{5}); s.MeanNs != 5 || s.ErrorNs != 0 || s.StdDevNs != 0 {
		t.Errorf("one round: %+v", s)
	}
}

// TestTables runs everything, briefly; with ACTUA_BENCH set it takes the time of the command and prints the tables.
func TestTables(t *testing.T) {
	if os.Getenv("ACTUA_BENCH") == "" {
		defer func(d time.Duration) { roundTime = d }(roundTime)
		roundTime = 200 * time.Microsecond
	}
	paths, err := Paths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := Digits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 4*9 || len(numbers) != 2*6+3*4 {
		t.Errorf("%d and %d rows", len(paths), len(numbers))
	}
	for _, r := range paths {
		if r.PR == nil || r.Base == nil || r.Ours.MeanNs <= 0 {
			t.Errorf("%s, uid %d: %+v", r.Method, r.UID, r)
		}
		makesString := r.Method == toString || strings.HasPrefix(r.Method, serialization)
		if (r.Ours.AllocBytes != 0) != makesString || r.Ours.Allocs > 1 {
			t.Errorf("%s, uid %d: %v bytes in %v allocations", r.Method, r.UID, r.Ours.AllocBytes, r.Ours.Allocs)
		}
	}
	for _, r := range numbers {
		if r.Ours.MeanNs <= 0 || (r.PR == nil) != strings.HasPrefix(r.Method, "Render") || (r.Ours.AllocBytes != 0) != strings.HasPrefix(r.Method, "Render naive") {
			t.Errorf("%s, %d: %+v", r.Method, r.Value, r)
		}
	}
	var b strings.Builder
	if err := WritePathTable(&b, paths); err != nil {
		t.Error(err)
	}
	if err := WriteDigitTable(&b, numbers); err != nil {
		t.Error(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 2+len(paths)+len(numbers) {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
	if _, err := json.Marshal(paths); err != nil {
		t.Error(err)
	}
	if os.Getenv("ACTUA_BENCH") != "" {
		t.Log("\n" + b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestTablesReportTheWriter(t *testing.T) {
	if WritePathTable(broken{}, []PathRow{{}}) == nil || WriteDigitTable(broken{}, []DigitRow{{}}) == nil {
		t.Error("a failed write is kept quiet")
	}
}
