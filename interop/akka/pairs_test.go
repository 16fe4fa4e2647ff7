package akka

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kind is what a node is made of.
type kind string

const (
	golang kind = "go"
	dotnet kind = "dotnet"
)

// missing ends a test whose peer is not there: a failure where the suite is required, as in CI, a skip elsewhere.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("ACTUA_INTEROP") == "required" {
		t.Fatalf("%s; ACTUA_INTEROP=required forbids skipping", why)
	}
	t.Skip(why)
}

// command returns the program of a kind and the arguments that come first.
func command(t *testing.T, k kind) (string, []string) {
	t.Helper()
	if k == golang {
		file, err := buildActua()
		if err != nil {
			t.Fatal(err)
		}
		return file, []string{"actors", "node"}
	}
	shared := os.Getenv("ACTUA_SHARED")
	if shared == "" {
		t.Skip("ACTUA_SHARED does not name the folder with the Akka.NET node")
	}
	file := filepath.Join(shared, "peers", "akka-peer")
	if _, err := os.Stat(file); err != nil {
		missing(t, "the Akka.NET node is missing: "+err.Error())
	}
	return file, []string{"node"}
}

// pair is who talks to whom. Tests act on the first node and look at what the second makes of it.
type pair struct{ a, b kind }

func (p pair) String() string { return string(p.a) + "-" + string(p.b) }

// pairs lists the pairs to test: those with a node of ours, or those that ACTUA_AKKA_PAIRS names. "dotnet-dotnet" tests the tests.
func pairs(t *testing.T) (all []pair) {
	t.Helper()
	text := os.Getenv("ACTUA_AKKA_PAIRS")
	if text == "" {
		text = "go-go,go-dotnet,dotnet-go"
	}
	for _, s := range strings.Split(text, ",") {
		a, b, _ := strings.Cut(s, "-")
		all = append(all, pair{kind(a), kind(b)})
	}
	return all
}

// eachPair runs a test with every pair.
func eachPair(t *testing.T, test func(t *testing.T, p pair)) {
	t.Helper()
	t.Parallel()
	for _, p := range pairs(t) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}
