package ua

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

var writeRecorded = flag.Bool("write-recorded", false, "rewrite testdata/recorded.jsonl.gz from the whole recordings")

// recordedMessage is one message of a conversation without security: the id of its type and its body.
type recordedMessage struct {
	where string
	body  []byte
}

type recordedLine struct {
	Conn   int      `json:"conn"`
	Dir    string   `json:"dir"`
	Kind   string   `json:"kind"`
	Chunks []string `json:"chunks"` // of a file that has a message a line
	Hex    string   `json:"hex"`    // of a file that has a chunk a line
}

// readRecorded reads a recording of either form and returns its service messages. Connections that
// use a security policy are left out: their replay is in package uasc.
func readRecorded(t testing.TB, path string) []recordedMessage {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	var out []recordedMessage
	parts := map[string][]byte{} // unfinished messages by connection and direction
	secured := map[int]bool{}
	for n := 1; lines.Scan(); n++ {
		var l recordedLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
		if l.Hex != "" {
			l.Chunks = []string{l.Hex}
		}
		for _, h := range l.Chunks {
			chunk, err := hex.DecodeString(h)
			if err != nil {
				t.Fatalf("%s:%d: %v", path, n, err)
			}
			key := fmt.Sprint(l.Conn, l.Dir)
			var body []byte
			switch kind := string(chunk[:3]); kind {
			case "OPN":
				uri := binary.LittleEndian.Uint32(chunk[12:])
				secured[l.Conn] = !strings.HasSuffix(string(chunk[16:16+uri]), "#None")
				body = chunk[16+uri:]
				for range 2 { // sender certificate, receiver thumbprint
					size := int32(binary.LittleEndian.Uint32(body))
					body = body[4+max(size, 0):]
				}
				body = body[8:]
			case "MSG", "CLO":
				body = chunk[24:]
			default:
				continue
			}
			if secured[l.Conn] || chunk[3] == 'A' {
				continue
			}
			parts[key] = append(parts[key], body...)
			if chunk[3] == 'F' {
				out = append(out, recordedMessage{fmt.Sprintf("%s:%d", filepath.Base(path), n), parts[key]})
				delete(parts, key)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// typeName is the Go name of a structure.
func typeName(s Structure) string { return strings.TrimPrefix(fmt.Sprintf("%T", s), "*ua.") }

// longerForms lists by name what a real peer wrote in a longer form than needed, so that our bytes
// differ while the meaning is the same.
var longerForms = map[string]string{
	"node-client_open62541-server.jsonl.gz:64": "ReadResponse of open62541: a DataValue without a value says that it has one, a null Variant",
}

// rawBodies returns the types of namespace 0 whose body was kept raw although its type is known: a
// round trip alone would not notice that they were not understood.
func rawBodies(v reflect.Value) (out []string) {
	switch x := v.Interface().(type) {
	case ExtensionObject:
		if x.Value == nil {
			if x.Encoding == BodyBinary && x.TypeID.Namespace() == 0 && newStructure(x.TypeID.Numeric()) != nil {
				out = append(out, typeName(newStructure(x.TypeID.Numeric())))
			}
			return out
		}
		return rawBodies(reflect.ValueOf(x.Value))
	case Variant:
		if x.Type() < TypeExtensionObject {
			return nil
		}
		return rawBodies(reflect.ValueOf(x.Any()))
	case NodeID, ExpandedNodeID:
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out = rawBodies(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, rawBodies(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, rawBodies(v.Field(i))...)
		}
	}
	return out
}

// checkRecorded decodes a message, encodes it again and compares; then the decoded forms of both.
func checkRecorded(m recordedMessage) (name string, err error) {
	r := uabin.NewReader(m.body)
	var id NodeID
	id.DecodeBinary(r)
	s := newStructure(id.Numeric())
	if s == nil {
		return "", fmt.Errorf("%s: no structure has the encoding %d", m.where, id.Numeric())
	}
	name = typeName(s)
	s.DecodeBinary(r)
	if r.Err() != nil {
		return name, fmt.Errorf("%s: %s: %v", m.where, name, r.Err())
	}
	if r.Remaining() != 0 {
		return name, fmt.Errorf("%s: %s: %d bytes left over", m.where, name, r.Remaining())
	}
	if raw := rawBodies(reflect.ValueOf(s)); raw != nil {
		return name, fmt.Errorf("%s: %s: bodies that were not understood: %v", m.where, name, raw)
	}
	again := s.AppendBinary(id.AppendBinary(nil))
	if !bytes.Equal(again, m.body) {
		at := 0
		for at < len(again) && at < len(m.body) && again[at] == m.body[at] {
			at++
		}
		from := max(at-24, 0)
		return name, fmt.Errorf("%s: %s: byte %d differs, %d bytes became %d\n  was ..%x\n  now ..%x", m.where, name, at,
			len(m.body), len(again), m.body[from:min(at+24, len(m.body))], again[from:min(at+24, len(again))])
	}
	return name, nil
}

// sharedRecordings is the folder of the whole recordings, or "".
func sharedRecordings(t testing.TB) string {
	dir := os.Getenv("ACTUA_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	dir = filepath.Join(dir, "peers", "opcua", "recorded")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the whole recordings are not here (%v); set ACTUA_SHARED to their folder", err)
	}
	return dir
}

// TestRecordedMessages takes real messages of .NET, node-opcua and open62541: each decodes, and
// encodes to the same bytes.
func TestRecordedMessages(t *testing.T) {
	messages := readRecorded(t, filepath.Join("testdata", "recorded.jsonl.gz"))
	if len(messages) < 100 {
		t.Fatalf("only %d messages in testdata", len(messages))
	}
	runRecorded(t, messages, false)
}

// TestRecordedMessagesWhole does the same with all that was recorded.
func TestRecordedMessagesWhole(t *testing.T) {
	dir := sharedRecordings(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".jsonl.gz"), func(t *testing.T) { runRecorded(t, readRecorded(t, f), true) })
	}
	if *writeRecorded {
		writeRepresentative(t, files)
	}
}

func runRecorded(t *testing.T, messages []recordedMessage, whole bool) {
	count, bad := map[string]int{}, 0
	for _, m := range messages {
		name, err := checkRecorded(m)
		count[name]++
		if reason := longerForms[m.where]; reason != "" && whole {
			if err == nil {
				t.Errorf("%s does not differ any more", m.where)
			}
			t.Logf("%s: %s", m.where, reason)
			continue
		}
		if err == nil {
			continue
		}
		if bad++; bad <= 20 {
			t.Error(err)
		}
	}
	var names []string
	for n, c := range count {
		names = append(names, fmt.Sprintf("%s %d", n, c))
	}
	sort.Strings(names)
	t.Logf("%d messages, %d differ: %s", len(messages), bad, strings.Join(names, ", "))
}

// writeRepresentative keeps the first and the largest message of each type, direction and peer, if
// it is small.
func writeRepresentative(t *testing.T, files []string) {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	for _, f := range files {
		if strings.Contains(f, "full") {
			continue
		}
		perType := map[string]int{}
		in, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var l struct {
				recordedLine
				Type int `json:"type"`
			}
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			key := fmt.Sprint(l.Kind, l.Dir, l.Type)
			if perType[key]++; perType[key] <= 3 && lines.Bytes() != nil && len(lines.Bytes()) < 20_000 {
				z.Write(append(lines.Bytes(), '\n'))
			}
		}
		in.Close()
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", "recorded.jsonl.gz"), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedDamage cuts each message at every length, and turns over every byte: the decoder
// answers with an error or another value, never with a panic.
func TestRecordedDamage(t *testing.T) {
	seen := map[string]int{}
	for _, m := range readRecorded(t, filepath.Join("testdata", "recorded.jsonl.gz")) {
		r := uabin.NewReader(m.body)
		var id NodeID
		id.DecodeBinary(r)
		head := r.Offset()
		s := newStructure(id.Numeric())
		if seen[typeName(s)]++; seen[typeName(s)] > 2 {
			continue
		}
		for n := head; n < len(m.body); n++ {
			r.Reset(m.body[head:n], uabin.Limits{})
			if s.DecodeBinary(r); r.OK() {
				t.Errorf("%s: %s cut to %d of %d bytes decodes", m.where, typeName(s), n, len(m.body))
			}
		}
		body := bytes.Clone(m.body[head:])
		for i := range body {
			body[i] ^= 0xFF
			r.Reset(body, uabin.Limits{})
			if s.DecodeBinary(r); r.OK() {
				s.AppendBinary(nil)
			}
			body[i] ^= 0xFF
		}
	}
}
