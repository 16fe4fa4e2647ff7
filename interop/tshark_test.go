package interop

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/interop/pcapproxy"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// Services by the numeric id of their binary encoding, as Wireshark shows them (Part 6, table of NodeIds). A request
// is followed by its response three numbers later.
const (
	findServers     = 422
	getEndpoints    = 428
	openChannel     = 446
	closeChannel    = 452
	createSession   = 461
	activateSession = 467
	closeSession    = 473
	browse          = 527
	browseNext      = 533
	translatePaths  = 554
	registerNodes   = 560
	unregisterNodes = 566
	queryFirst      = 615
	read            = 631
	write           = 673
	call            = 712

	serviceFault = 397
)

// TestTsharkOurClient lets Wireshark judge what our client and our server say to each other.
func TestTsharkOurClient(t *testing.T) {
	requireTool(t, "tshark")
	s := startActua(t)
	r := record(t, s.url, func(t *testing.T, url string) { talk(t, url) })
	r.judge(t, map[int]int{
		getEndpoints: 1, openChannel: 1, closeChannel: 1, createSession: 1, activateSession: 1, closeSession: 1,
		browse: 3, browseNext: 3, translatePaths: 1, registerNodes: 1, unregisterNodes: 1, read: 25, write: 2, call: 1,
	})
	if r.frames["fault"] < 1 {
		t.Error("no ServiceFault was recorded")
	}
	if r.frames["intermediate"] < 6 {
		t.Errorf("%d intermediate chunks; the large messages should have more", r.frames["intermediate"])
	}
}

// TestTsharkNodeClient does the same with node-opcua's client and our server.
func TestTsharkNodeClient(t *testing.T) {
	requireTool(t, "tshark")
	requireNode(t)
	s := startActua(t)
	r := record(t, s.url, func(t *testing.T, url string) {
		runNodeClient(t, url, []securityCase{{"None", "None", "Anonymous"}})
	})
	r.judge(t, map[int]int{
		findServers: 1, getEndpoints: 1, openChannel: 4, closeChannel: 2, createSession: 3, activateSession: 3, closeSession: 3,
		browse: 10, browseNext: 5, translatePaths: 1, registerNodes: 1, unregisterNodes: 1, read: 50, write: 30, call: 6, queryFirst: 1,
	})
	if r.frames["fault"] < 4 {
		t.Errorf("%d ServiceFaults were recorded", r.frames["fault"])
	}
	if r.frames["intermediate"] < 6 {
		t.Errorf("%d intermediate chunks; the large messages should have more", r.frames["intermediate"])
	}
}

// TestTsharkObjects is the control of the others: Wireshark does find a message that ends too early.
func TestTsharkObjects(t *testing.T) {
	requireTool(t, "tshark")
	sink, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	go func() {
		if c, err := sink.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	r := record(t, "opc.tcp://"+sink.Addr().String(), func(t *testing.T, url string) {
		c, err := net.Dial("tcp4", strings.TrimPrefix(url, "opc.tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// A Hello whose address is said to have 100 bytes, and has 3.
		hello := binary.LittleEndian.AppendUint32([]byte("HELF"), 8+5*4+4+3)
		for _, field := range []uint32{0, 65535, 65535, 0, 0, 100} {
			hello = binary.LittleEndian.AppendUint32(hello, field)
		}
		if _, err := c.Write(append(hello, "opc"...)); err != nil {
			t.Error(err)
		}
	})
	if lines := r.objections(t); len(lines) == 0 {
		t.Error("Wireshark has nothing against a Hello that ends too early")
	}
}

// talk is a None conversation of our client with every service, with continuation points, faults and large messages.
func talk(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := uaclient.Dial(ctx, url, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	server := ua.ID(2253)
	for _, page := range []uint32{1000, 2} {
		_, err = c.BrowseAll(ctx, []ua.NodeID{server, ua.ID(84), ua.ID(85)}, uaclient.BrowseOptions{PageSize: page})
		must(err)
	}
	resp, err := c.Browse(ctx, &ua.BrowseRequest{RequestedMaxReferencesPerNode: 1, NodesToBrowse: []ua.BrowseDescription{
		{NodeID: server, ReferenceTypeID: ua.ID(33), IncludeSubtypes: true, ResultMask: 63}}})
	must(err)
	if err == nil {
		_, err = c.BrowseNext(ctx, &ua.BrowseNextRequest{
			ReleaseContinuationPoints: true, ContinuationPoints: [][]byte{resp.Results[0].ContinuationPoint}})
		must(err)
	}
	_, err = c.ResolvePath(ctx, "/Objects/Server/ServerStatus/State")
	must(err)
	registered, err := c.RegisterNodes(ctx, server, ua.ID(2258))
	must(err)
	must(c.UnregisterNodes(ctx, registered...))

	allTypes, err := c.ResolvePath(ctx, findAllTypes(ctx, t, c))
	must(err)
	var byteString ua.NodeID
	for _, node := range variablesBelow(ctx, t, c, allTypes) {
		v, err := c.ReadValue(ctx, node)
		must(err)
		if v.Value.Type() == ua.TypeByteString && !v.Value.IsArray() {
			byteString = node
		}
	}
	old, err := c.ReadValue(ctx, byteString)
	must(err)
	must(c.WriteValue(ctx, byteString, ua.ByteString([]byte(strings.Repeat("actua ", 50_000)))))
	_, err = c.ReadValue(ctx, byteString)
	must(err)
	must(c.WriteValue(ctx, byteString, old.Value))

	// What goes wrong has forms of its own on the wire.
	if _, err := c.Read(ctx, &ua.ReadRequest{}); !errors.Is(err, ua.BadNothingToDo) {
		t.Errorf("an empty Read: %v", err)
	}
	if _, err := c.ReadValue(ctx, ua.NewStringNodeID(1, "does not exist")); !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Errorf("an unknown node: %v", err)
	}
	if _, err := c.CallMethod(ctx, server, ua.NewStringNodeID(1, "does not exist"), ua.Int32(1)); !ua.StatusOf(err).IsBad() {
		t.Errorf("an unknown method: %v", err)
	}
	must(c.Close(ctx))
}

// findAllTypes returns the path of the folder AllTypes, wherever the demo profile has it.
func findAllTypes(ctx context.Context, t *testing.T, c *uaclient.Client) string {
	t.Helper()
	type place struct {
		node ua.NodeID
		path string
	}
	for level := []place{{ua.ID(85), "/Objects"}}; len(level) > 0; {
		var next []place
		for _, p := range level {
			for ref, err := range c.References(ctx, p.node, uaclient.BrowseOptions{NodeClasses: ua.NodeClassObject}) {
				if err != nil {
					t.Fatal(err)
				}
				path := fmt.Sprintf("%s/%d:%s", p.path, ref.BrowseName.NamespaceIndex, ref.BrowseName.Name)
				if ref.BrowseName.Name == "AllTypes" {
					return path
				}
				if ref.NodeID.NodeID != ua.ID(2253) {
					next = append(next, place{ref.NodeID.NodeID, path})
				}
			}
		}
		level = next
	}
	t.Fatal("no folder AllTypes below Objects")
	return ""
}

// variablesBelow lists the variables in a folder and in its folders.
func variablesBelow(ctx context.Context, t *testing.T, c *uaclient.Client, folder ua.NodeID) (nodes []ua.NodeID) {
	t.Helper()
	for ref, err := range c.References(ctx, folder, uaclient.BrowseOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch ref.NodeClass {
		case ua.NodeClassVariable:
			nodes = append(nodes, ref.NodeID.NodeID)
		case ua.NodeClassObject:
			nodes = append(nodes, variablesBelow(ctx, t, c, ref.NodeID.NodeID)...)
		}
	}
	return nodes
}

// recording is what Wireshark makes of a conversation.
type recording struct {
	file     string
	port     string
	services map[int]int    // messages by numeric id
	frames   map[string]int // chunks of some kinds
}

// record runs a conversation through the proxy.
func record(t *testing.T, url string, converse func(t *testing.T, url string)) *recording {
	t.Helper()
	r := &recording{file: filepath.Join(t.TempDir(), "talk.pcap"), services: map[int]int{}, frames: map[string]int{}}
	file, err := os.Create(r.file)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := pcapproxy.Start("127.0.0.1:0", strings.TrimPrefix(url, "opc.tcp://"), file)
	if err != nil {
		t.Fatal(err)
	}
	r.port = strconv.Itoa(int(proxy.Address().Port()))
	converse(t, "opc.tcp://"+proxy.Address().String())
	if err := errors.Join(proxy.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// tshark reads the recording with every checksum verified, and returns a line a packet.
func (r *recording) tshark(t *testing.T, args ...string) []string {
	t.Helper()
	args = append([]string{"-r", r.file, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-d", "tcp.port==" + r.port + ",opcua"}, args...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "tshark", args...)
	stderr := &lockedBuffer{}
	command.Stderr = stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" })
}

// objections lists the packets in which Wireshark finds anything wrong.
func (r *recording) objections(t *testing.T) []string {
	t.Helper()
	wrong := strings.Join([]string{
		"_ws.malformed",                   // a dissector ran off the end of a message
		"_ws.expert.severity >= 0x600000", // warnings and errors of any layer
		"_ws.unreassembled",               // a message that never became whole
		"data",                            // bytes that no dissector took
		"tcp.analysis.flags",              // lost, repeated or reordered segments: the proxy's fault
		"tcp.checksum.status != 1",        // the proxy's fault, too
		"ip.checksum.status != 1",         // as above
	}, " || ")
	return r.tshark(t, "-Y", wrong, "-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info", "-e", "_ws.expert.message")
}

// judge checks that Wireshark finds nothing wrong and recognises at least so many requests of each service, each with
// an answer.
func (r *recording) judge(t *testing.T, atLeast map[int]int) {
	t.Helper()
	if lines := r.objections(t); len(lines) > 0 {
		t.Errorf("Wireshark objects to %d packets, the first: %s", len(lines), lines[0])
	}
	for _, line := range r.tshark(t, "-Y", "opcua", "-T", "fields", "-E", "occurrence=a",
		"-e", "opcua.servicenodeid.numeric", "-e", "opcua.transport.chunk", "-e", "opcua.transport.type") {
		fields := strings.Split(line, "\t")
		for id := range strings.SplitSeq(fields[0], ",") {
			if n, err := strconv.Atoi(id); err == nil {
				r.services[n]++
			}
		}
		for kind := range strings.SplitSeq(fields[1], ",") {
			if kind == "C" {
				r.frames["intermediate"]++
			}
		}
		for kind := range strings.SplitSeq(fields[2], ",") {
			r.frames[kind]++
		}
	}
	r.frames["fault"] = r.services[serviceFault]
	answers := 0
	for request, n := range atLeast {
		got := r.services[request]
		if got < n {
			t.Errorf("%d requests of service %d, wanted at least %d", got, request, n)
		}
		if response := request + 3; request != closeChannel && request != queryFirst && r.services[response] == 0 {
			t.Errorf("no answer of service %d", response)
		}
		if request != closeChannel { // which is not answered
			answers += got - r.services[request+3]
		}
	}
	if answers != r.services[serviceFault] {
		t.Errorf("%d requests have no answer of their own service, but there are %d faults", answers, r.services[serviceFault])
	}
	if r.frames["HEL"] == 0 || r.frames["HEL"] != r.frames["ACK"] || r.frames["ERR"] != 0 {
		t.Errorf("transport messages: %v", r.frames)
	}
	t.Logf("services %v, frames %v", r.services, r.frames)
}
