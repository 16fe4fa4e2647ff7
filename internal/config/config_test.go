package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func hint(word string, valid []string) string {
	for _, v := range valid {
		if len(v) > 2 && len(word) > 2 && v[:3] == word[:3] {
			return "; did you mean " + v + "?"
		}
	}
	return "; there is " + strings.Join(valid, ", ")
}

// The printed files are those in testdata, and reading one gives what was printed.
func TestPrintedProfiles(t *testing.T) {
	for _, name := range Profiles() {
		want := Profile(name)
		file := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(golden) != want.String() {
			t.Errorf("%s differs from what is printed (go test ./internal/config -update rewrites it):\n%s", file, want)
		}
		got, err := Parse(file, golden, hint)
		if err != nil {
			t.Error(err)
			continue
		}
		want.Security.Clients = ClientsTrusted // a printed configuration is one of a configured server
		got.file, got.lines, got.hint = "", nil, nil
		for _, list := range []*[]string{&got.Advertise, &got.Namespaces, &got.Nodesets} {
			if len(*list) == 0 {
				*list = nil
			}
		}
		if len(got.Users.Accounts) == 0 {
			got.Users.Accounts = nil
		}
		if len(got.Variables) == 0 {
			got.Variables = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as\n%+v\nwant\n%+v", name, got, want)
		}
		for i, line := range strings.Split(string(golden), "\n") {
			if len(line) > width {
				t.Errorf("%s, line %d has %d characters", file, i+1, len(line))
			}
		}
	}
}

// paths are all keys of the file, those of list items with [].
func paths(t reflect.Type, path string) (list []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		at, typ := join(path, keyOf(f.Name)), f.Type
		list = append(list, at)
		if typ.Kind() == reflect.Slice {
			at, typ = at+"[]", typ.Elem()
		}
		if typ.Kind() == reflect.Struct {
			list = append(list, paths(typ, at)...)
		}
	}
	return list
}

func TestEveryKeyIsExplained(t *testing.T) {
	all := paths(reflect.TypeFor[Config](), "")
	for _, path := range all {
		if docs[path] == "" {
			t.Errorf("%s has no explanation", path)
		}
	}
	if len(docs) != len(all) {
		t.Errorf("%d explanations for %d keys", len(docs), len(all))
	}
}

// The limits that are printed are those that a server has.
func TestDefaultLimits(t *testing.T) {
	server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{memspace.New("urn:x")}})
	if err != nil {
		t.Fatal(err)
	}
	got, want := reflect.ValueOf(defaultLimits()), reflect.ValueOf(server.Limits())
	for i := range want.NumField() {
		name, a, b := want.Type().Field(i).Name, got.Field(i).Int(), want.Field(i).Int()
		switch name {
		case "MaxHandshakes", "MaxChunkCount":
			if a != 0 {
				t.Errorf("%s is computed by the server, but printed as %d", name, a)
			}
		case "MaxReferencesPerNode", "IdleTimeout":
			if a != -1 {
				t.Errorf("%s is printed as %d, without limit wanted", name, a)
			}
		default:
			if a != b {
				t.Errorf("%s is printed as %d, the server has %d", name, a, b)
			}
		}
	}
}

// Every limit of the file reaches the field of its name, as a value and as none.
func TestEveryLimit(t *testing.T) {
	fields := reflect.TypeFor[uaserver.Limits]()
	for i := range fields.NumField() {
		key := keyOf(fields.Field(i).Name)
		text, want := "900", int64(900)
		switch {
		case fields.Field(i).Type == reflect.TypeFor[time.Duration]():
			text, want = "61s", int64(61*time.Second)
		case key == "max-buffer-size":
			text, want = "9000", 9000
		}
		c, err := Parse("x", []byte("limits:\n  "+key+": "+text+"\n"), hint)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := reflect.ValueOf(c.Limits).Field(i).Int(); got != want {
			t.Errorf("%s: %s gives %d", key, text, got)
		}
		c, err = Parse("x", []byte("limits: {"+key+": none}"), hint)
		switch key {
		case "min-session-timeout", "min-token-lifetime", "max-buffer-size", "max-nesting",
			"min-publishing-interval", "min-sampling-interval", "min-subscription-lifetime":
			if err == nil {
				t.Errorf("%s: none is accepted", key)
			}
		default:
			if err != nil || reflect.ValueOf(c.Limits).Field(i).Int() != -1 {
				t.Errorf("%s: none gives %v, %v", key, c, err)
			}
		}
	}
}

// What is wrong in a file is told with its line: testdata/errors.txt has files between lines of dashes,
// each followed by the error.
func TestErrors(t *testing.T) {
	const file = "testdata/errors.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, part := range strings.Split(strings.TrimSuffix(string(text), "---\n"), "---\n") {
		yaml, want, _ := strings.Cut(part, "=> ")
		_, err := Parse("plant.yaml", []byte(yaml), hint)
		got := "no error"
		if err != nil {
			got = err.Error()
		}
		if !*update && got+"\n" != want {
			t.Errorf("file %d:\n%sgot  %s\nwant %s", i+1, yaml, got, want)
		}
		if err == nil {
			t.Errorf("file %d is accepted:\n%s", i+1, yaml)
		}
		out.WriteString(yaml + "=> " + got + "\n---\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "security:\nlimits:\nusers: {}\n"} {
		c, err := Parse("x", []byte(text), hint)
		if err != nil || c.Security.Clients != ClientsTrusted || c.Plant != PlantNone || c.Limits != defaultLimits() {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	// Short ones: what is new about a long input takes the fuzzer a minute to find out.
	for _, text := range []string{
		"plant: demo\nlisten: [':0']\n", "security: {modes: [Sign], clients: any}", "limits:\n  max-sessions: none\n",
		"users: {accounts: [{name: a, password: b}]}", "namespaces: ['urn:a']\n--- 1\n",
		"variables: [{name: a/b, kind: writable, type: Float, min: -1e3, value: 5, unit: x}]", "variables: [{name: a, min: .nan}]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("x", []byte(text), hint)
		if err != nil {
			return
		}
		if _, err := Parse("y", []byte(c.String()), hint); err != nil {
			t.Fatalf("what was read and printed is refused: %v\n%s", err, c)
		}
	})
}

func TestSimulated(t *testing.T) {
	second := ua.DateTime(10_000_000)
	start := 60 * second * 1_000_000
	make := func(kind, typ string, low, high float64) *Variable {
		v := newVariable()
		v.Name, v.Kind, v.Type, v.Min, v.Max, v.Interval = "V", kind, typ, low, high, time.Second
		return &v
	}
	for _, c := range []struct {
		v    *Variable
		want []float64 // at start, and after each second
	}{
		{make("ramp", "Double", 0, 100), []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 0}},
		{make("ramp", "Int16", -5, 5), []float64{-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, -5}},
		{make("counter", "Byte", 3, 5), []float64{3, 4, 5, 3, 4, 5, 3}},
	} {
		for i, want := range c.want {
			got, since := c.v.at(start + ua.DateTime(i)*second + second/2)
			if got != want || since != start+ua.DateTime(i)*second {
				t.Errorf("%s %s after %d s: %v since %v, want %v", c.v.Kind, c.v.Type, i, got, since, want)
			}
		}
	}
	sine := make("sine", "Double", -1, 3)
	sine.Period = 4 * time.Second
	for i, want := range []float64{1, 3, 1, -1} {
		if got, _ := sine.at(start + ua.DateTime(i)*second); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("sine after %d s: %v, want %v", i, got, want)
		}
	}
	random := make("random", "Double", 10, 20)
	low, high, last := 20.0, 10.0, 0.0
	for i := range 1000 {
		x, _ := random.at(start + ua.DateTime(i)*second)
		if again, _ := random.at(start + ua.DateTime(i)*second + second/2); again != x || x == last {
			t.Fatalf("random after %d s: %v, later in the interval %v, before %v", i, x, again, last)
		}
		low, high, last = min(low, x), max(high, x), x
	}
	if low < 10 || low > 10.5 || high > 20 || high < 19.5 {
		t.Errorf("random from %v to %v, 10 to 20 wanted", low, high)
	}
}
