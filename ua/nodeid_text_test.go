package ua

import (
	"errors"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
)

func TestNodeIDText(t *testing.T) {
	guid := GUID{0x09, 0x08, 0x7e, 0x75, 0x8e, 0x5e, 0x49, 0x9b, 0x95, 0x4f, 0xf2, 0xa9, 0x60, 0x3d, 0xb2, 0x8a}
	for _, c := range []struct {
		text string
		id   NodeID
	}{
		{"i=2258", ID(2258)},
		{"i=0", NodeID{}},
		{"ns=2;i=4294967295", NewNodeID(2, 1<<32-1)},
		{"ns=2;s=Pump.Speed", NewStringNodeID(2, "Pump.Speed")},
		{"s=a;b=c,ns=3;ü", NewStringNodeID(0, "a;b=c,ns=3;ü")},
		{"ns=65535;s=", NewStringNodeID(65535, "")},
		{"g=09087e75-8e5e-499b-954f-f2a9603db28a", NewGUIDNodeID(0, guid)},
		{"ns=1;b=M/RbKBsRVkePCePcx24oRA==", NewOpaqueNodeID(1, []byte("\x33\xf4\x5b\x28\x1b\x11\x56\x47\x8f\x09\xe3\xdc\xc7\x6e\x28\x44"))},
		{"b=", NewOpaqueNodeID(0, nil)},
	} {
		got, err := ParseNodeID(c.text)
		if err != nil || got != c.id {
			t.Errorf("ParseNodeID(%q) = %v, %v", c.text, got, err)
		}
		if s := c.id.String(); s != c.text {
			t.Errorf("String = %q, want %q", s, c.text)
		}
		var back NodeID
		b, _ := c.id.MarshalText()
		if err := back.UnmarshalText(b); err != nil || back != c.id {
			t.Errorf("UnmarshalText(%q) = %v, %v", b, back, err)
		}
	}
	for text, want := range map[string]string{
		"":                                       "identifier is missing",
		"2258":                                   "begins with",
		"x=1":                                    "begins with",
		"i=":                                     "no number",
		"i=-1":                                   "no number",
		"i=+1":                                   "no number",
		"i=4294967296":                           "no number",
		"i=99999999999999999999":                 "no number",
		"i=1 ":                                   "no number",
		"ns=2":                                   "no ';'",
		"ns=;i=1":                                "namespace index",
		"ns=65536;i=1":                           "namespace index",
		"ns=1;":                                  "identifier is missing",
		"ns=1;ns=2;i=3":                          "begins with",
		"g=09087e75":                             "no GUID",
		"g=09087e75-8e5e-499b-954f-f2a9603db28x": "no GUID",
		"b=*":                                    "not base64",
		"nsu=http://x;i=1":                       "namespace URI",
		"svr=1;i=1":                              "server index",
	} {
		_, err := ParseNodeID(text)
		if !errors.Is(err, BadNodeIdInvalid) || StatusOf(err) != BadNodeIdInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseNodeID(%q): %v, want %q", text, err, want)
		}
	}
}

func TestExpandedNodeIDText(t *testing.T) {
	for _, c := range []struct {
		text string
		id   ExpandedNodeID
	}{
		{"i=85", ID(85).Expanded()},
		{"ns=3;s=x", NewStringNodeID(3, "x").Expanded()},
		{"svr=7;ns=3;s=x", ExpandedNodeID{NodeID: NewStringNodeID(3, "x"), ServerIndex: 7}},
		{"nsu=http://example.org/UA/;i=5", ExpandedNodeID{NodeID: ID(5), NamespaceURI: "http://example.org/UA/"}},
		{"svr=4294967295;nsu=urn:a%3Bb%25c;s=;", ExpandedNodeID{NodeID: NewStringNodeID(0, ";"), NamespaceURI: "urn:a;b%c", ServerIndex: 1<<32 - 1}},
	} {
		got, err := ParseExpandedNodeID(c.text)
		if err != nil || got != c.id || c.id.String() != c.text {
			t.Errorf("%q: parsed %#v, %v; printed %q", c.text, got, err, c.id)
		}
	}
	if e, err := ParseExpandedNodeID("nsu=a%3bb;i=1"); err != nil || e.NamespaceURI != "a;b" {
		t.Errorf("lower case escape: %v, %v", e, err)
	}
	for _, text := range []string{"svr=1", "svr=;i=1", "svr=4294967296;i=1", "svu=x;i=1", "nsu=x", "nsu=;i=1", "nsu=%;i=1", "nsu=%3;i=1", "nsu=%zz;i=1", "svr=1;", "nsu=a;ns=1;i=1"} {
		if _, err := ParseExpandedNodeID(text); !errors.Is(err, BadNodeIdInvalid) {
			t.Errorf("ParseExpandedNodeID(%q): %v", text, err)
		}
	}
}

func TestExpandedNodeIDResolve(t *testing.T) {
	table := []string{"http://opcfoundation.org/UA/", "urn:me", "urn:plant"}
	for _, c := range []struct {
		text, want string
	}{
		{"i=1", "i=1"}, {"ns=7;i=1", "ns=7;i=1"}, {"nsu=urn:plant;s=a", "ns=2;s=a"}, {"nsu=http://opcfoundation.org/UA/;i=85", "i=85"},
		{"nsu=urn:other;i=1", ""}, {"svr=1;i=1", ""},
	} {
		e, err := ParseExpandedNodeID(c.text)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := e.Resolve(table)
		if ok != (c.want != "") || ok && n.String() != c.want {
			t.Errorf("Resolve(%s) = %v, %v", c.text, n, ok)
		}
	}
}

func TestGUIDText(t *testing.T) {
	const text = "09087e75-8e5e-499b-954f-f2a9603db28a"
	for _, s := range []string{text, strings.ToUpper(text), "{" + text + "}"} {
		if g, err := ParseGUID(s); err != nil || g.String() != text {
			t.Errorf("ParseGUID(%q) = %v, %v", s, g, err)
		}
	}
	for _, s := range []string{"", "{}", text[1:], text + "0", strings.ReplaceAll(text, "-", ""), "{" + text} {
		if _, err := ParseGUID(s); !errors.Is(err, BadSyntaxError) {
			t.Errorf("ParseGUID(%q): %v", s, err)
		}
	}
}

func TestQualifiedNameText(t *testing.T) {
	for _, c := range []struct {
		text string
		name QualifiedName
	}{
		{"2:Name", QualifiedName{2, "Name"}},
		{"Name", QualifiedName{0, "Name"}},
		{"", QualifiedName{}},
		{"a:b", QualifiedName{0, "a:b"}},
		{"0:1:b", QualifiedName{0, "1:b"}},
		{"1::", QualifiedName{1, ":"}},
		{"0:70000:x", QualifiedName{0, "70000:x"}},
		{"0:nsu=x;y", QualifiedName{0, "nsu=x;y"}},
	} {
		q, err := ParseQualifiedName(c.text)
		if err != nil || q != c.name || c.name.String() != c.text {
			t.Errorf("%q: parsed %#v, %v; printed %q", c.text, q, err, c.name)
		}
	}
	for _, text := range []string{"65536:x", "99999999999999999999999:x", "nsu=urn:x;y"} {
		if _, err := ParseQualifiedName(text); !errors.Is(err, BadBrowseNameInvalid) {
			t.Errorf("ParseQualifiedName(%q): %v", text, err)
		}
	}
}

func TestDateTimeText(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"2024-02-29T12:30:15Z", ""},
		{"2024-02-29T12:30:15.25Z", ""},
		{"2024-02-29T12:30:15.1234567Z", ""},
		{"2024-02-29T12:30:15.123456789Z", "2024-02-29T12:30:15.1234567Z"},
		{"2024-02-29T13:30:15+01:00", "2024-02-29T12:30:15Z"},
		{"2024-02-29", "2024-02-29T00:00:00Z"},
		{"2024-02-29 12:30:15", "2024-02-29T12:30:15Z"},
		{"1601-01-01T00:00:00.0000001Z", ""},
		{"0001-01-01T00:00:00Z", ""},
		{"1500-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		{"9999-12-31T23:59:59Z", ""},
		{"9999-12-31T23:59:59.5Z", "9999-12-31T23:59:59Z"},
	} {
		if c.want == "" {
			c.want = c.text
		}
		d, err := ParseDateTime(c.text)
		if err != nil || d.String() != c.want {
			t.Errorf("%q: %v, %v", c.text, d, err)
		}
	}
	for _, text := range []string{"", "now", "2023-02-29T00:00:00Z", "24:00"} {
		if _, err := ParseDateTime(text); !errors.Is(err, BadSyntaxError) {
			t.Errorf("ParseDateTime(%q): %v", text, err)
		}
	}
	if d, _ := ParseDateTime("9999-12-31T23:59:59Z"); d != MaxDateTime {
		t.Errorf("end of time is %d", d)
	}
}

func TestRelativePathText(t *testing.T) {
	h, a := ID(uaid.HierarchicalReferences), ID(uaid.Aggregates)
	custom := NewNodeID(2, 4001)
	resolve := func(q QualifiedName) (NodeID, bool) {
		return custom, q == QualifiedName{2, "Feeds"} || q == QualifiedName{0, "0"}
	}
	el := func(ref NodeID, inverse, subtypes bool, ns uint16, name string) RelativePathElement {
		return RelativePathElement{ReferenceTypeID: ref, IsInverse: inverse, IncludeSubtypes: subtypes, TargetName: QualifiedName{ns, name}}
	}
	for _, c := range []struct {
		text, canonical string
		want            []RelativePathElement
	}{
		{"/2:Block&.Output", "", []RelativePathElement{el(h, false, true, 2, "Block.Output")}},
		{"/3:Truck.0:NodeVersion", "/3:Truck.NodeVersion", []RelativePathElement{el(h, false, true, 3, "Truck"), el(a, false, true, 0, "NodeVersion")}},
		{"<HasComponent>2:Child.3:Prop<!HasTypeDefinition>", "", []RelativePathElement{
			el(ID(uaid.HasComponent), false, true, 2, "Child"), el(a, false, true, 3, "Prop"), el(ID(uaid.HasTypeDefinition), true, true, 0, "")}},
		{"<#HasChild>", "", []RelativePathElement{el(ID(uaid.HasChild), false, false, 0, "")}},
		{"<#!HasChild>2:Wheel", "", []RelativePathElement{el(ID(uaid.HasChild), true, false, 2, "Wheel")}},
		{"<!0:HasChild>Truck", "<!HasChild>Truck", []RelativePathElement{el(ID(uaid.HasChild), true, true, 0, "Truck")}},
		{"<2:Feeds>2:Tank", "<ns&:2>", nil},
		{"/1&:x&&&/&<&>&#&!", "", []RelativePathElement{el(h, false, true, 0, "1:x&/<>#!")}},
		{"/", "", []RelativePathElement{el(h, false, true, 0, "")}},
		{"", "", nil},
		{"/2:a:b", "/2:a&:b", []RelativePathElement{el(h, false, true, 2, "a:b")}},
		{"<ns=2;i=4001>x", "", []RelativePathElement{el(custom, false, true, 0, "x")}},
	} {
		if c.canonical == "" {
			c.canonical = c.text
		}
		if c.text == "<2:Feeds>2:Tank" {
			c.canonical, c.want = "<ns=2;i=4001>2:Tank", []RelativePathElement{el(custom, false, true, 2, "Tank")}
		}
		p, err := ParseRelativePath(c.text, resolve)
		if err != nil || len(p.Elements) != len(c.want) {
			t.Errorf("%q: %v, %v", c.text, p.Elements, err)
			continue
		}
		for i := range c.want {
			if p.Elements[i] != c.want[i] {
				t.Errorf("%q: element %d is %+v", c.text, i, p.Elements[i])
			}
		}
		if p.String() != c.canonical {
			t.Errorf("%q: printed %q", c.text, p)
		}
	}
	for text, code := range map[string]StatusCode{
		"Objects":            BadSyntaxError,
		"//x":                BadSyntaxError,
		"/a//":               BadSyntaxError,
		"/.":                 BadSyntaxError,
		"<HasChild":          BadSyntaxError,
		"<>x":                BadSyntaxError,
		"<#>x":               BadSyntaxError,
		"/a&":                BadSyntaxError,
		"/a&x":               BadSyntaxError,
		"/a>b":               BadSyntaxError,
		"/65536:a":           BadSyntaxError,
		"/2:":                BadSyntaxError,
		"<NoSuchReference>x": BadReferenceTypeIdInvalid,
		"<3:Feeds>x":         BadReferenceTypeIdInvalid,
	} {
		if _, err := ParseRelativePath(text, resolve); !errors.Is(err, code) {
			t.Errorf("ParseRelativePath(%q): %v", text, err)
		}
	}
}

// TestReferenceTypeNames holds the table of names against the constants of package uaid.
func TestReferenceTypeNames(t *testing.T) {
	for name, id := range map[string]uint32{"References": uaid.References, "Organizes": uaid.Organizes, "HasComponent": uaid.HasComponent, "HasEffectUnsuppressed": uaid.HasEffectUnsuppressed} {
		if got, ok := referenceTypeNamed(name); !ok || got != ID(id) || referenceTypeName(got) != name {
			t.Errorf("%s is %v", name, got)
		}
	}
	for i := 1; i < len(referenceTypes); i++ {
		if referenceTypes[i-1].name >= referenceTypes[i].name {
			t.Errorf("%s is not in order", referenceTypes[i].name)
		}
	}
}

func TestStatusCodeText(t *testing.T) {
	for i := range statusTable {
		e := &statusTable[i]
		if got, err := ParseStatusCode(e.name); err != nil || got != e.code {
			t.Errorf("%s: %v, %v", e.name, got, err)
		}
		if e.code.String() != e.name || e.code.Text() != e.text || !errors.Is(e.code|StatusOverflow, e.code) {
			t.Errorf("0x%08X is %s, want %s", uint32(e.code), e.code, e.name)
		}
	}
	for text, want := range map[string]StatusCode{"0x80340000": BadNodeIdUnknown, "2150891520": BadNodeIdUnknown, "0": Good} {
		if s, err := ParseStatusCode(text); err != nil || s != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "bad", "0x", "0x80340000zz", "-1", "0x1ffffffff", "12 "} {
		if _, err := ParseStatusCode(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestBuiltInTypeText(t *testing.T) {
	for i := TypeNull; i <= TypeDiagnosticInfo; i++ {
		if got, err := ParseBuiltInType(strings.ToLower(i.String())); err != nil || got != i {
			t.Errorf("%v: %v, %v", i, got, err)
		}
	}
	if _, err := ParseBuiltInType("Quad"); !errors.Is(err, BadDataTypeIdUnknown) {
		t.Error(err)
	}
	if BuiltInType(99).String() != "BuiltInType(99)" {
		t.Error(BuiltInType(99))
	}
}

func TestLocalizedTextString(t *testing.T) {
	if s := (LocalizedText{Locale: "de", Text: "Pumpe"}).String(); s != "Pumpe" {
		t.Error(s)
	}
	if s := (LocalizedText{Text: uabin.NullString}).String(); s != "" {
		t.Error(s)
	}
}
