package ua

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

var longRecorded = flag.Bool("long", false, "take every message of the recordings through JSON")

// recordedNamespaces are URIs for the indexes that the recordings use, so that node ids and names go
// through JSON with their URI.
var recordedNamespaces = func() []string {
	uris := []string{"http://opcfoundation.org/UA/"}
	for i := 1; i < 64; i++ {
		uris = append(uris, fmt.Sprintf("urn:recorded;%d%%", i))
	}
	return uris
}()

// throughJSON decodes a message, writes it as JSON, reads that and encodes it again: the bytes are the
// same as without JSON.
func throughJSON(m recordedMessage, o *JSONOptions) error {
	r := uabin.NewReader(m.body)
	var id NodeID
	id.DecodeBinary(r)
	s, again := newStructure(id.Numeric()), newStructure(id.Numeric())
	s.DecodeBinary(r)
	if r.Err() != nil {
		return fmt.Errorf("%s: %v", m.where, r.Err())
	}
	want := s.AppendBinary(nil)
	text := o.AppendStructure(nil, s)
	if !json.Valid(text) {
		return fmt.Errorf("%s: %s: no JSON: %.500s", m.where, typeName(s), text)
	}
	if err := o.DecodeStructure(text, again); err != nil {
		return fmt.Errorf("%s: %s: %v in %.500s", m.where, typeName(s), err, text)
	}
	got := again.AppendBinary(nil)
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(at-24, 0)
	return fmt.Errorf("%s: %s: byte %d differs, %d bytes became %d\n  was ..%x\n  now ..%x", m.where, typeName(s), at,
		len(want), len(got), want[from:min(at+24, len(want))], got[from:min(at+24, len(got))])
}

func runRecordedJSON(t *testing.T, messages []recordedMessage) {
	for _, o := range []*JSONOptions{{Encoding: JSONCompact}, {Encoding: JSONVerbose, Namespaces: recordedNamespaces}} {
		bad := 0
		for _, m := range messages {
			if err := throughJSON(m, o); err != nil {
				if bad++; bad <= 5 {
					t.Errorf("encoding %d, %d namespaces: %v", o.Encoding, len(o.Namespaces), err)
				}
			}
		}
		if bad > 0 {
			t.Errorf("%d of %d differ", bad, len(messages))
		}
	}
}

// TestRecordedJSON takes real messages of .NET, node-opcua and open62541 through both forms of JSON.
func TestRecordedJSON(t *testing.T) {
	runRecordedJSON(t, readRecorded(t, filepath.Join("testdata", "recorded.jsonl.gz")))
}

// TestRecordedJSONWhole does the same with all that was recorded: the first 40 messages of each type in
// a file, since whoever browses a whole server asks the same thousands of times. With -long it takes all.
func TestRecordedJSONWhole(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(sharedRecordings(t), "*.jsonl.gz"))
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".jsonl.gz"), func(t *testing.T) {
			var some []recordedMessage
			count := map[NodeID]int{}
			for _, m := range readRecorded(t, f) {
				var id NodeID
				id.DecodeBinary(uabin.NewReader(m.body))
				if count[id]++; count[id] <= 40 || *longRecorded {
					some = append(some, m)
				}
			}
			runRecordedJSON(t, some)
		})
	}
}
