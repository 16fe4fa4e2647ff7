package ua

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// oddText is a short text of characters that mean something in one of the text forms.
func oddText(rnd *rand.Rand) string {
	odd := []rune("=;:%&/.<>#!,\"\\{}\x00\n 0123456789nsuigbä水😀")
	var b strings.Builder
	for range rnd.Intn(12) {
		b.WriteRune(odd[rnd.Intn(len(odd))])
	}
	return b.String()
}

func oddNodeID(rnd *rand.Rand) NodeID {
	namespace := []uint16{0, 1, 2, 7, 65535}[rnd.Intn(5)]
	b := make([]byte, 16)
	rnd.Read(b)
	switch rnd.Intn(4) {
	case 0:
		return NewNodeID(namespace, rnd.Uint32())
	case 1:
		return NewStringNodeID(namespace, oddText(rnd))
	case 2:
		return NewGUIDNodeID(namespace, GUID(b))
	}
	return NewOpaqueNodeID(namespace, b[:rnd.Intn(6)])
}

// TestTextForms: what a text form prints, it reads, whatever the characters; so does JSON with and
// without namespace URIs.
func TestTextForms(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	forms := []*JSONOptions{{}, {Encoding: JSONVerbose, Namespaces: []string{"http://opcfoundation.org/UA/", "urn:a;b%c", "urn:x"}}}
	for range 5000 {
		n := oddNodeID(rnd)
		if back, err := ParseNodeID(n.String()); err != nil || back != n {
			t.Fatalf("%q: %v, %v", n, back, err)
		}
		e := n.Expanded()
		if rnd.Intn(2) == 0 {
			e.NodeID, e.NamespaceURI = n.WithNamespace(0), "x"+oddText(rnd)
		}
		e.ServerIndex = rnd.Uint32() >> rnd.Intn(33)
		if back, err := ParseExpandedNodeID(e.String()); err != nil || back != e {
			t.Fatalf("%q: %v, %v", e, back, err)
		}
		q := QualifiedName{n.Namespace(), "n" + oddText(rnd)}
		if rnd.Intn(2) == 0 {
			q.Name = q.Name[1:] + "0"
		}
		if back, err := ParseQualifiedName(q.String()); err != nil || back != q {
			t.Fatalf("%q: %v, %v", q, back, err)
		}
		for _, v := range []Variant{n.Variant(), e.Variant(), q.Variant(), String(oddText(rnd))} {
			for _, o := range forms {
				text := o.AppendVariant(nil, v)
				if back, err := o.DecodeVariant(text); err != nil || !back.Equal(v) {
					t.Fatalf("%s: %v, %v", text, back, err)
				}
			}
		}
		path := RelativePath{Elements: []RelativePathElement{
			{ReferenceTypeID: ID(33), IncludeSubtypes: true, TargetName: q},
			{ReferenceTypeID: n, IsInverse: rnd.Intn(2) == 0, IncludeSubtypes: rnd.Intn(2) == 0, TargetName: q},
		}}
		if back, err := ParseRelativePath(path.String(), nil); err != nil || fmt.Sprint(back) != fmt.Sprint(path) {
			t.Fatalf("%q: %v, %v", path, back, err)
		}
	}
}

// TestDateTimeRange takes random times and those at the bounds through all forms.
func TestDateTimeRange(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 20_000 {
		d := DateTime(rnd.Uint64() >> rnd.Intn(40))
		switch rnd.Intn(3) {
		case 0:
			d = lastTick + DateTime(rnd.Intn(4*ticksPerSecond)-2*ticksPerSecond)
		case 1:
			d = DateTime(rnd.Intn(4000) - 2000)
		}
		want := clamped(uint64(d))
		if got := NewDateTime(d.Time()); got != want {
			t.Fatalf("%d is %v, which is %d, want %d", d, d.Time(), got, want)
		}
		if got, err := ParseDateTime(d.String()); err != nil || got != want {
			t.Fatalf("%d is %v, which is %d, want %d, %v", d, d, got, want, err)
		}
	}
	// Years of more digits, as other platforms print them.
	for text, want := range map[string]DateTime{
		"10000-01-01T00:00:00Z": MaxDateTime, "+010000-01-01T00:00:00.000Z": MaxDateTime, "+10000-02-28": MaxDateTime,
		"-000001-12-31T23:59:59Z": MinDateTime, "-0001-01-01T00:00:00Z": MinDateTime,
		"+001970-01-01T00:00:00Z": unixEpoch, "001970-01-01T00:00:00Z": unixEpoch,
	} {
		if got, err := ParseDateTime(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"+10000-13-01T00:00:00Z", "++1970-01-01", "-", "+", "10000", "-1-01-01", "+10000-01-01x"} {
		if got, err := ParseDateTime(text); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}
