package secpol

import (
	"bufio"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"os"
	"sync"
	"testing"
)

// testKey reads a key of testdata. The keys are made for these tests and
// protect nothing; making them anew would cost seconds per run.
func testKey(t testing.TB, name string) *rsa.PrivateKey {
	t.Helper()
	if key, ok := testKeys.Load(name); ok {
		return key.(*rsa.PrivateKey)
	}
	text, err := os.ReadFile("testdata/" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	testKeys.Store(name, key)
	return key.(*rsa.PrivateKey)
}

var testKeys sync.Map // reading a key checks its primes, which takes a while

func mustPolicy(t testing.TB, name string) *Policy {
	t.Helper()
	p, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lines decodes a file of one JSON object a line.
func lines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := in.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%s: %d lines, %v", file, len(out), err)
	}
	return out
}

func filled(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + 1)
	}
	return b
}
