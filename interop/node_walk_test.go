package interop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
)

// nodesetFlags names all files of the folder with official nodesets.
func nodesetFlags(t *testing.T) (flags []string) {
	t.Helper()
	shared := os.Getenv("ACTUA_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(shared, "schema", "nodesets", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("there is no folder shared/schema/nodesets beside the checkout")
	}
	for _, f := range files {
		flags = append(flags, "--nodeset", f)
	}
	return flags
}

// diagnosticsOff is what the values below ServerDiagnostics say while diagnostics are off, as they are by default
// (Part 5, 6.3.3); who is connected how is told only to users that have logged in.
var diagnosticsOff = func() map[string]string {
	m := map[string]string{"i=3705": "BadNotReadable", "i=3707": "BadNotReadable", "i=3708": "BadUserAccessDenied"}
	for id := 2275; id <= 2290; id++ {
		m[fmt.Sprintf("i=%d", id)] = "BadNotReadable"
	}
	return m
}()

// TestNodeWalk has node-opcua and our client walk a server with ten nodesets, each from Root along all hierarchical and
// then along all references, forward, and read all attributes of all nodes. Both have to find the same, and each forward
// reference has to be found at its target as well (report V12).
func TestNodeWalk(t *testing.T) {
	requireNode(t)
	flags := nodesetFlags(t)
	s := startActua(t, append(flags, "--profile", "empty")...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	theirs := walkWithNode(ctx, t, s.url)
	ours := walkWithActua(ctx, t, s.url)
	if least := 500 * len(flags) / 2; len(ours.attributes) < least {
		t.Errorf("only %d nodes were found, at least %d wanted", len(ours.attributes), least)
	}
	for _, w := range []struct {
		name string
		walk *walked
	}{{"node-opcua", theirs}, {"our client", ours}} {
		for _, missing := range w.walk.missing {
			t.Errorf("%s: the target does not know of the reference %s", w.name, missing)
		}
		for node, attributes := range w.walk.attributes {
			for attribute, a := range attributes {
				if a.status != "Good" && a.status != "BadAttributeIdInvalid" && a.status != "BadWaitingForInitialData" &&
					!(ua.AttributeID(attribute) == ua.AttributeValue && a.status == diagnosticsOff[node]) {
					t.Errorf("%s: %v of %s has the unexpected status %s", w.name, ua.AttributeID(attribute), node, a.status)
				}
			}
		}
	}
	differences := difference(theirs, ours)
	for i, d := range differences {
		if i == 20 {
			t.Errorf("and %d more differences", len(differences)-i)
			break
		}
		t.Error(d)
	}
	t.Logf("%d nodes, %d hierarchical and %d references at all, the same in both",
		len(ours.attributes), len(ours.references["hierarchical"]), len(ours.references["all"]))
}

// walked is what a client found. References and nodes are in text form with namespace URIs.
type walked struct {
	references map[string]map[string]bool // by walk: each in words
	missing    []string                   // references that the target does not know of
	attributes map[string]map[int]attributeRead
}

type attributeRead struct{ status, kind, value string }

func newWalked() *walked {
	return &walked{
		references: map[string]map[string]bool{"hierarchical": {}, "all": {}}, attributes: map[string]map[int]attributeRead{},
	}
}

// reference notes a reference; that a walk finds one twice is an error of the server.
func (w *walked) reference(walk, source, kind, target, browseName, displayName string, class int, typeDefinition string) {
	text := fmt.Sprintf("%s -> %s by %s: %q, shown as %q, %v", source, target, kind, browseName, displayName, ua.NodeClass(class))
	if typeDefinition != "" {
		text += " of type " + typeDefinition
	}
	if w.references[walk][text] {
		w.missing = append(w.missing, text+" (it is there twice)")
	}
	w.references[walk][text] = true
}

func (w *walked) attribute(node string, attribute int, a attributeRead) {
	if w.attributes[node] == nil {
		w.attributes[node] = map[int]attributeRead{}
	}
	w.attributes[node][attribute] = a
}

// difference says in words what one client found and the other did not.
func difference(theirs, ours *walked) (list []string) {
	for walk := range ours.references {
		only := func(who string, a, b map[string]bool) {
			for _, text := range slices.Sorted(maps.Keys(a)) {
				if !b[text] {
					list = append(list, fmt.Sprintf("walk along %s references: only %s finds %s", walk, who, text))
				}
			}
		}
		only("node-opcua", theirs.references[walk], ours.references[walk])
		only("our client", ours.references[walk], theirs.references[walk])
	}
	for _, node := range slices.Sorted(maps.Keys(ours.attributes)) {
		if theirs.attributes[node] == nil {
			continue // told of above
		}
		for attribute, ours := range ours.attributes[node] {
			theirs := theirs.attributes[node][attribute]
			if moving[node] && attribute == int(ua.AttributeValue) {
				ours.value, theirs.value = "", ""
			}
			if ours != theirs {
				list = append(list, fmt.Sprintf("%v of %s: node-opcua reads %s %s %s, our client %s %s %s", ua.AttributeID(attribute), node,
					theirs.status, theirs.kind, theirs.value, ours.status, ours.kind, ours.value))
			}
		}
	}
	return list
}

// TestWalkDifference shows that the comparison of TestNodeWalk objects.
func TestWalkDifference(t *testing.T) {
	made := func() *walked {
		w := newWalked()
		w.reference("all", "i=84", "i=35", "i=85", "0:Objects", "Objects", 1, "i=61")
		w.attribute("i=85", int(ua.AttributeNodeClass), attributeRead{"Good", "Int32", "0601000000"})
		w.attribute("i=2258", int(ua.AttributeValue), attributeRead{"Good", "DateTime", "0d01"})
		return w
	}
	for name, c := range map[string]struct {
		change func(*walked)
		want   string
	}{
		"nothing": {func(*walked) {}, ""},
		"a name": {func(w *walked) {
			w.references["all"] = map[string]bool{}
			w.reference("all", "i=84", "i=35", "i=85", "1:Objects", "Objects", 1, "i=61")
		}, `only node-opcua finds i=84 -> i=85 by i=35: "0:Objects"`},
		"a status":       {func(w *walked) { w.attribute("i=85", 2, attributeRead{"BadNotReadable", "Null", "00"}) }, "NodeClass of i=85: node-opcua reads Good Int32"},
		"a moving value": {func(w *walked) { w.attribute("i=2258", 13, attributeRead{"Good", "DateTime", "0d02"}) }, ""},
		"its type":       {func(w *walked) { w.attribute("i=2258", 13, attributeRead{"Good", "String", "0c02"}) }, "Value of i=2258"},
	} {
		ours := made()
		c.change(ours)
		got := strings.Join(difference(made(), ours), "\n")
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, wanted %q", name, got, c.want)
		}
	}
	w := made()
	w.reference("all", "i=84", "i=35", "i=85", "0:Objects", "Objects", 1, "i=61")
	if len(w.missing) != 1 {
		t.Error("a reference that is there twice goes unnoticed")
	}
	if err := w.line([]byte(`["attribute","i=1",1]`)); err == nil {
		t.Error("a short line goes unnoticed")
	}
}

// moving are the variables whose values change by themselves or with the sessions; their types still have to agree.
var moving = map[string]bool{
	ua.ID(uaid.Server_ServerStatus).String():                                                     true,
	ua.ID(uaid.Server_ServerStatus_CurrentTime).String():                                         true,
	ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary).String():                       true,
	ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CumulatedSessionCount).String(): true,
}

// walkWithNode runs node/walk.js.
func walkWithNode(ctx context.Context, t *testing.T, url string) *walked {
	t.Helper()
	command := exec.CommandContext(ctx, "node", append(slices.Clone(pkcs1Flag()),
		"node/walk.js", "--url", url, "--pki", filepath.Join(scratch, "node-client"))...)
	stderr := &lockedBuffer{}
	command.Stderr = stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	w := newWalked()
	done := false
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch {
		case bytes.HasPrefix(lines.Bytes(), []byte("{")):
			done = true
		case bytes.HasPrefix(lines.Bytes(), []byte("[")):
			if err := w.line(lines.Bytes()); err != nil {
				t.Errorf("walk.js printed %q: %v", lines.Text(), err)
			}
		}
	}
	if err := command.Wait(); err != nil || !done {
		t.Fatalf("walk.js ended with %v:\n%s", err, stderr)
	}
	return w
}

// line takes a line of walk.js.
func (w *walked) line(text []byte) error {
	var fields []any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	str := func(i int) string { s, _ := fields[i].(string); return s }
	num := func(i int) int { f, _ := fields[i].(float64); return int(f) }
	switch kind := fields[0]; {
	case kind == "reference" && len(fields) == 9:
		w.reference(str(1), str(2), str(3), str(4), str(5), str(6), num(7), str(8))
	case kind == "missing" && len(fields) == 4:
		w.missing = append(w.missing, str(1)+" -> "+str(3)+" by "+str(2))
	case kind == "attribute" && len(fields) == 6:
		w.attribute(str(1), num(2), attributeRead{str(3), str(4), str(5)})
	default:
		return fmt.Errorf("unknown line")
	}
	return nil
}

// walkWithActua does with our client what walk.js does with node-opcua.
func walkWithActua(ctx context.Context, t *testing.T, url string) *walked {
	t.Helper()
	c, err := uaclient.Dial(ctx, url, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	uris, err := c.NamespaceArray(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text := func(id ua.NodeID) string {
		e := id.Expanded()
		if id.Namespace() != 0 {
			e.NamespaceURI = uris[id.Namespace()]
		}
		return e.String()
	}
	w := newWalked()
	browse := func(nodes []ua.NodeID, options uaclient.BrowseOptions, each func(source ua.NodeID, r *ua.ReferenceDescription)) {
		found, err := c.BrowseAll(ctx, nodes, options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			if found[i].Status != ua.Good {
				t.Errorf("browse of %v: %v", found[i].Node, found[i].Status)
			}
			for k := range found[i].References {
				r := &found[i].References[k]
				if !r.NodeID.IsLocal() {
					t.Fatalf("%v is on another server", r.NodeID)
				}
				each(found[i].Node, r)
			}
		}
	}
	var nodes []ua.NodeID
	forward := map[string]bool{}
	for _, walk := range []string{"hierarchical", "all"} {
		level := []ua.NodeID{ua.ID(uaid.RootFolder)}
		seen := map[ua.NodeID]bool{level[0]: true}
		nodes = nil
		for len(level) > 0 {
			nodes = append(nodes, level...)
			var next []ua.NodeID
			browse(level, uaclient.BrowseOptions{AllReferences: walk == "all"}, func(source ua.NodeID, r *ua.ReferenceDescription) {
				typeDefinition := ""
				if !r.TypeDefinition.IsNull() {
					typeDefinition = text(r.TypeDefinition.NodeID)
				}
				target := r.NodeID.NodeID
				name := fmt.Sprintf("%d:%s", r.BrowseName.NamespaceIndex, r.BrowseName.Name)
				w.reference(walk, text(source), text(r.ReferenceTypeID), text(target), name, r.DisplayName.Text, int(r.NodeClass), typeDefinition)
				if walk == "all" {
					forward[text(source)+" -> "+text(target)+" by "+text(r.ReferenceTypeID)] = true
				}
				if !seen[target] {
					seen[target] = true
					next = append(next, target)
				}
			})
			level = next
		}
	}
	browse(nodes, uaclient.BrowseOptions{AllReferences: true, Direction: ua.BrowseDirectionInverse}, func(target ua.NodeID, r *ua.ReferenceDescription) {
		delete(forward, text(r.NodeID.NodeID)+" -> "+text(target)+" by "+text(r.ReferenceTypeID))
	})
	w.missing = append(w.missing, slices.Sorted(maps.Keys(forward))...)
	readAll(ctx, t, c, nodes, func(node ua.NodeID, attribute ua.AttributeID, a attributeRead) {
		w.attribute(text(node), int(attribute), a)
	})
	return w
}

// readAll reads all attributes of all nodes.
func readAll(ctx context.Context, t *testing.T, c *uaclient.Client, nodes []ua.NodeID, each func(ua.NodeID, ua.AttributeID, attributeRead)) {
	t.Helper()
	var items []ua.ReadValueID
	for _, node := range nodes {
		for attribute := ua.AttributeNodeID; attribute.IsValid(); attribute++ {
			items = append(items, ua.ReadValueID{NodeID: node, AttributeID: uint32(attribute)})
		}
	}
	values, err := c.ReadAttributes(ctx, items)
	if err != nil {
		t.Fatal(err)
	}
	const longestHex = 64 // as in walk.js
	for i := range values {
		v := &values[i].Value
		a := attributeRead{status: values[i].Status.String(), kind: v.Type().String()}
		if v.IsArray() {
			a.kind += "[" + strings.Repeat(",", max(len(v.Dimensions()), 1)-1) + "]"
		}
		b := v.AppendBinary(nil)
		if a.value = hex.EncodeToString(b); len(b) > longestHex {
			a.value = fmt.Sprintf("%d bytes %x", len(b), sha256.Sum256(b))
		}
		each(items[i].NodeID, ua.AttributeID(items[i].AttributeID), a)
	}
}
