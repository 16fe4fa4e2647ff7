package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// world is where a command runs in a test.
type world struct {
	t   *testing.T
	env map[string]string
	ask func() ([]byte, error)

	names []string // words of transcripts with what they stand for, in pairs
}

func (w *world) run(ctx context.Context, args ...string) (code int, out, err string) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &stdout, err: &stderr, env: func(k string) string { return w.env[k] }, readPassword: w.ask}
	code = a.run(ctx, args)
	return code, stdout.String(), stderr.String()
}

// isolated keeps the user's configuration out of the test.
func isolated(t *testing.T) *world {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	return &world{t: t, env: map[string]string{}}
}

var serverIdentity = sync.OnceValues(func() (*uapki.Identity, error) {
	return uapki.NewIdentity(uapki.CertificateOptions{CommonName: "test server", ApplicationURI: "urn:test:server"})
})

// testServer serves nodes whose values do not change.
func testServer(t *testing.T, build func(*memspace.Space), change func(*uaserver.Config)) (url string) {
	t.Helper()
	id, err := serverIdentity()
	if err != nil {
		t.Fatal(err)
	}
	space := memspace.New("urn:test")
	if build != nil {
		build(space)
	}
	config := uaserver.Config{
		Identity: id, Nodes: []uaserver.NodeManager{space}, AllowAnonymous: true,
		Users: map[string]string{"operator": "geheim"}, VerifyClient: uaserver.AcceptAnyClient,
		Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&config)
	}
	server, err := uaserver.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "opc.tcp://" + l.Addr().String()
}

func plantSpace(space *memspace.Space) {
	at := func(id string) memspace.Option { return memspace.WithNodeID(ua.NewStringNodeID(2, id)) }
	plant := space.AddFolder(space.Objects(), "Plant", at("Plant"))
	line1 := space.AddObject(plant, "Line1", at("Line1"))
	space.AddVariable(line1, "Speed", ua.Double(12.5), at("Speed"), memspace.Writable())
	space.AddVariable(line1, "Name", ua.String("Press \"A\"\x1b[31m"), at("Name"))
	space.AddVariable(line1, "State", ua.Int32(4), at("State"), memspace.WithDataType(ua.ID(uaid.ServerState)))
	space.AddVariable(line1, "Samples", ua.Array([]int32{1, 2, 3}), at("Samples"), memspace.Writable())
	matrix, _ := ua.Matrix([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	space.AddVariable(line1, "Matrix", matrix, at("Matrix"), memspace.Writable())
	space.AddMethod(line1, "Move", memspace.Func2(func(_ memspace.Call, to float64, how string) (float64, error) {
		if to > 100 {
			return 0, memspace.ArgumentError{Index: 0, Status: ua.BadOutOfRange}
		}
		return to * 2, nil
	}, "To", "How", "Doubled"), at("Move"))
}

var scrubs = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`), `"TIME"`},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z`), "YEAR-MM-DDTHH:MM:SS.1234567Z"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`[0-9A-F]{40}`), "THUMBPRINT"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT5"},
	{regexp.MustCompile(` +\d+\.\d ms`), " TIME"},
	{regexp.MustCompile(`"took":[0-9.]+`), `"took":MS`},
	{regexp.MustCompile(`trust [0-9A-F]{8}\b`), "trust THUMB"},
	{regexp.MustCompile(`"request":"[^"]*"`), `"request":"PEM"`},
	{regexp.MustCompile(`[^\s"]*[/\\]actua[/\\]pki[/\\]`), "CONFIG/actua/pki/"},
	{regexp.MustCompile(`replaced[/\\]DATET\S+`), "replaced/TIME"},
	{regexp.MustCompile(`stored in [^)]*\)`), "stored in FOLDER)"},
	{regexp.MustCompile(` +\n`), "\n"},
}

func scrub(s string) string {
	for _, x := range scrubs {
		s = x.from.ReplaceAllString(s, x.to)
	}
	return s
}

// transcript runs the commands of testdata/NAME.txt, one a line that begins with "$ ", and compares
// what they print. Words in single quotes keep their spaces.
func transcript(t *testing.T, w *world, name, url string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, text := range strings.Split(string(want), "\n") {
		switch {
		case strings.HasPrefix(text, "#"):
			got.WriteString(text + "\n")
		case strings.HasPrefix(text, "$ actua"):
			command := strings.ReplaceAll(strings.TrimPrefix(text, "$ actua"), "URL", url)
			code, out, stderr := w.run(context.Background(), words(strings.NewReplacer(w.names...).Replace(command))...)
			for i := 0; i < len(w.names); i += 2 {
				if !filepath.IsAbs(w.names[i+1]) {
					continue // the beginning of a thumbprint, which stands in it too
				}
				out, stderr = strings.ReplaceAll(out, w.names[i+1], w.names[i]), strings.ReplaceAll(stderr, w.names[i+1], w.names[i])
			}
			got.WriteString(text + "\n" + scrub(out+stderr))
			if code != 0 {
				got.WriteString("(exit " + string(rune('0'+code)) + ")\n")
			}
			got.WriteString("\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if a, b := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n"); got.String() != string(want) {
		for i := range max(len(a), len(b)) {
			line := func(l []string) string {
				if i < len(l) {
					return l[i]
				}
				return "(nothing)"
			}
			if line(a) != line(b) {
				t.Fatalf("%s, line %d:\ngot  %s\nwant %s\n(go test ./cmd/actua -update rewrites it)", file, i+1, line(a), line(b))
			}
		}
	}
}

func words(text string) (all []string) {
	for i, part := range strings.Split(text, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

func TestUsageErrors(t *testing.T) { transcript(t, isolated(t), "usage", "opc.tcp://127.0.0.1:1") }

func TestCommandsForPeople(t *testing.T) {
	transcript(t, isolated(t), "people", testServer(t, plantSpace, nil))
}

func TestCommandsAsJSON(t *testing.T) {
	transcript(t, isolated(t), "json", testServer(t, plantSpace, nil))
}

func TestFirstContact(t *testing.T) {
	transcript(t, isolated(t), "trust", testServer(t, plantSpace, nil))
}

// The commands work over None and Basic256Sha256 SignAndEncrypt, anonymous and with a user.
func TestSecurity(t *testing.T) {
	w := isolated(t)
	url := testServer(t, plantSpace, nil)
	if code, _, stderr := w.run(context.Background(), "browse", url, "--trust"); code != 0 {
		t.Fatal(code, stderr)
	}
	w.env["ACTUA_PASSWORD"] = "geheim"
	for _, security := range [][]string{
		{"--security", "none"}, {"--security", "sign"}, {"--security", "encrypt"}, {},
		{"--security", "Aes256_Sha256_RsaPss", "--mode", "sign"}, {"--security", "none", "--user", "operator"},
		{"--security", "encrypt", "--user", "operator"}, {"--user", "operator", "--password", "geheim"},
	} {
		for _, command := range [][]string{
			{"browse", url, "/Objects/Plant"}, {"read", url, "ns=2;s=Speed"}, {"write", url, "nsu=urn:test;s=Speed", "3"},
			{"call", url, "ns=2;s=Line1", "Move", "1", "x"},
		} {
			if code, out, stderr := w.run(context.Background(), append(command, security...)...); code != 0 || stderr != "" || out == "" {
				t.Errorf("%v %v: exit %d, %s", command, security, code, stderr)
			}
		}
	}
	w.env["ACTUA_PASSWORD"] = ""
	if code, _, stderr := w.run(context.Background(), "read", url, "i=2258", "--user", "operator", "--password", "x"); code != exitNoServer || !strings.Contains(stderr, "step activate") {
		t.Error(code, stderr)
	}
	w.ask = func() ([]byte, error) { return []byte("geheim"), nil }
	if code, _, stderr := w.run(context.Background(), "read", url, "i=2258", "--user", "operator"); code != 0 || stderr != "Password of operator: \n" {
		t.Error(code, stderr)
	}
}

// A server that is not there, one that is silent, and Ctrl-C.
func TestNoConnection(t *testing.T) {
	w := isolated(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := l.Addr().String()
	begin := time.Now()
	code, _, stderr := w.run(context.Background(), "read", silent, "i=2258", "--timeout", "100ms")
	if code != exitNoServer || !strings.Contains(stderr, "step hello") || time.Since(begin) > 2*time.Second {
		t.Error(code, stderr, time.Since(begin))
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if code, out, stderr := w.run(ctx, "read", silent, "i=2258"); code != exitInterrupted || out != "" {
		t.Error(code, stderr)
	}
	l.Close()
	if code, _, stderr := w.run(context.Background(), "read", silent, "i=2258"); code != exitNoServer || !strings.Contains(stderr, "step tcp") {
		t.Error(code, stderr)
	}
}

// T07: what read --json prints, write takes, for all built-in types.
func TestJSONRoundTrip(t *testing.T) {
	matrix, err := ua.Matrix([]int16{1, 2, 3, 4}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	guid, err := ua.ParseGUID("09087e75-8e5e-499b-954f-f2a9603db28a")
	if err != nil {
		t.Fatal(err)
	}
	argument := ua.NewExtensionObject(&ua.Argument{Name: "a", DataType: ua.ID(uaid.Double), ValueRank: -1, Description: ua.Text("d")})
	inf := 1.0
	for range 2000 {
		inf *= 2
	}
	values := []ua.Variant{
		ua.Boolean(true), ua.SByte(-5), ua.Byte(5), ua.Int16(-300), ua.UInt16(300), ua.Int32(-70000), ua.UInt32(70000),
		ua.Int64(-1 << 60), ua.UInt64(1 << 63), ua.Float(1.25), ua.Double(-1e300), ua.Double(inf), ua.Double(inf - inf),
		ua.String("a \"b\" ü"), ua.String("[1]"), ua.String("null"), ua.String("{x"), ua.DateTime(133_000_000_000_000_001).Variant(), guid.Variant(),
		ua.ByteString([]byte{0, 255, 7}), ua.XMLElement("<a>1</a>").Variant(), ua.NewStringNodeID(2, "x y").Variant(),
		ua.NewNodeID(3, 7).Expanded().Variant(), ua.BadNodeIdUnknown.Variant(), ua.QualifiedName{NamespaceIndex: 2, Name: "n"}.Variant(),
		ua.LocalizedText{Locale: "de", Text: "Täxt"}.Variant(), argument.Variant(),
		ua.Array([]int32{1, -2}), ua.Array([]string{"a", "", "]"}), ua.Array([]uint64{1 << 63}), ua.Array([]bool{}), matrix,
		ua.Array([]ua.LocalizedText{{Text: "x"}}), ua.Array([]ua.ExtensionObject{argument, argument}),
		ua.Array([]ua.Variant{ua.Int32(1), ua.String("x")}), ua.Array([]ua.DataValue{{Value: ua.Double(2), Status: ua.BadOutOfRange}}),
		ua.Array([][]byte{{1}, {2, 3}}), ua.Array([]ua.DateTime{133_000_000_000_000_001}), ua.Array([]ua.GUID{guid}),
	}
	var nodes []*memspace.Variable
	url := testServer(t, func(space *memspace.Space) {
		for i, v := range values {
			nodes = append(nodes, space.AddVariable(space.Objects(), "V"+string(rune('A'+i)), v, memspace.Writable(),
				memspace.WithNodeID(ua.NewNodeID(2, uint32(i+1)))))
		}
	}, nil)
	w := isolated(t)
	for i, v := range values {
		node := ua.NewNodeID(2, uint32(i+1)).String()
		code, out, stderr := w.run(context.Background(), "read", url, node, "--json", "--security", "none")
		if code != 0 {
			t.Errorf("%v: %s", v, stderr)
			continue
		}
		var read struct{ Value json.RawMessage }
		if err := json.Unmarshal([]byte(out), &read); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		for _, typed := range [][]string{nil, {"--type", typeName(v)}} {
			written := false
			nodes[i].Set(v)
			args := append([]string{"write", url, node, "--security", "none"}, typed...)
			code, _, stderr = w.run(context.Background(), append(args, "--", string(read.Value))...)
			written = code == 0
			_, again, _ := w.run(context.Background(), "read", url, node, "--json", "--security", "none")
			var reread struct{ Value json.RawMessage }
			_ = json.Unmarshal([]byte(again), &reread)
			if !written || string(reread.Value) != string(read.Value) {
				t.Errorf("%v %v: read %s, then %s, exit %d %s", typeName(v), typed, read.Value, reread.Value, code, stderr)
			}
		}
	}
}

// pipe is an output that a test reads line by line while the command runs.
func serveLines(t *testing.T, ctx context.Context, args ...string) (lines <-chan string, done <-chan int) {
	t.Helper()
	r, w := io.Pipe()
	texts, code := make(chan string, 100), make(chan int, 1)
	go func() {
		a := &app{in: strings.NewReader(""), out: w, err: io.Discard, env: os.Getenv}
		code <- a.run(ctx, append([]string{"serve"}, args...))
		w.Close()
	}()
	go func() {
		dec := json.NewDecoder(r)
		for {
			var raw json.RawMessage
			if dec.Decode(&raw) != nil {
				close(texts)
				return
			}
			texts <- string(raw)
		}
	}()
	return texts, code
}

func TestServe(t *testing.T) {
	w := isolated(t)
	for profile, security := range map[string]string{"empty": "none", "demo": "auto"} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		lines, done := serveLines(t, ctx, "--listen", "opc.tcp://127.0.0.1:0", "--listen", "127.0.0.1:0", "--json", "--profile", profile)
		var listening struct {
			Event, URL string
			Endpoints  []struct{ URL, Policy, Mode string }
		}
		if err := json.Unmarshal([]byte(<-lines), &listening); err != nil || listening.Event != "listening" || len(listening.Endpoints) != 14 {
			t.Fatal(listening, err)
		}
		port := listening.URL[strings.LastIndex(listening.URL, ":"):]
		for _, address := range []string{listening.URL, "127.0.0.1" + port, "localhost" + port} {
			if code, _, stderr := w.run(context.Background(), "read", address, "i=2258", "--trust", "--security", security); code != 0 {
				t.Error(address, stderr)
			}
		}
		if code, _, stderr := w.run(context.Background(), "serve", "--profile", "empty", "--listen", "opc.tcp://127.0.0.1"+port); code != exitOurPart || !strings.Contains(stderr, "--listen") {
			t.Error(code, stderr)
		}
		if profile == "demo" {
			if code, _, stderr := w.run(context.Background(), "read", listening.URL, "i=2258", "--user", "operator", "--password", "operator"); code != 0 {
				t.Error(stderr)
			}
		}
		cancel()
		if last := <-lines; last != `{"event":"stopped"}` {
			t.Error(last)
		}
		if code := <-done; code != exitDone {
			t.Error(code)
		}
	}
}

// With its certificate made, a server is there at once.
func TestDidYouMean(t *testing.T) {
	for word, want := range map[string]string{"raed": "read", "endpoint": "endpoints", "brows": "browse", "wirte": "write", "xxxxxxx": ""} {
		hint := didYouMean(word, []string{"serve", "endpoints", "browse", "read", "write", "call"})
		if want == "" && strings.Contains(hint, "mean") || want != "" && hint != "; did you mean "+want+"?" {
			t.Errorf("%s: %q", word, hint)
		}
	}
}
