package uaclient_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// V10: a server whose variable takes no status and no time answers so and keeps the value; the client
// sends them when asked to, and by itself neither.
func TestWriteStatusAndTimeOnlyWhenAsked(t *testing.T) {
	r := startServer(t, nil)
	c := r.dial(t, r.config(t))
	for name, v := range map[string]ua.DataValue{
		"status":      {Value: ua.Double(9), Status: ua.UncertainInitialValue},
		"source time": {Value: ua.Double(9), SourceTimestamp: ua.Now()},
		"server time": {Value: ua.Double(9), ServerTimestamp: ua.Now()},
	} {
		status, err := c.WriteValues(t.Context(), []ua.WriteValue{{NodeID: r.speed.ID(), AttributeID: uint32(ua.AttributeValue), Value: v}})
		if err != nil || status[0] != ua.BadWriteNotSupported || r.speed.Get().Float() != 1.5 {
			t.Errorf("%s: %v, %v, the value is %v", name, status, err, r.speed.Get())
		}
	}
	if err := c.WriteValue(t.Context(), r.speed.ID(), ua.Double(2)); err != nil || r.speed.Get().Float() != 2 {
		t.Errorf("the value alone: %v, the value is %v", err, r.speed.Get())
	}
}

// V12: a server with the models DI, IA and Machinery in a few lines, and a client that browses all of it
// and reads all attributes of all nodes without an unexpected status.
func TestServerWithNodesets(t *testing.T) {
	folder := os.Getenv("ACTUA_SCHEMA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "schema")
	}
	var files []string
	for _, name := range []string{"Machinery", "IA", "Di"} {
		files = append(files, filepath.Join(folder, "nodesets", "Opc.Ua."+name+".NodeSet2.xml"))
	}
	if _, err := os.Stat(files[0]); err != nil {
		t.Skipf("%v; set ACTUA_SCHEMA to the folder of the schema files", err)
	}
	space := memspace.New("urn:test")
	if _, err := space.ImportFiles(memspace.ImportOptions{}, files...); err != nil {
		t.Fatal(err)
	}
	r := startServer(t, func(c *uaserver.Config) { c.Nodes, c.Diagnostics = []uaserver.NodeManager{space}, true })
	c, ctx := r.dial(t, r.config(t)), t.Context()
	seen := map[ua.NodeID]bool{}
	var items []ua.ReadValueID
	for level := []ua.NodeID{ua.ID(uaid.RootFolder)}; len(level) > 0; {
		found, err := c.BrowseAll(ctx, level, uaclient.BrowseOptions{AllReferences: true})
		if err != nil {
			t.Fatal(err)
		}
		level = nil
		for _, f := range found {
			if f.Status != ua.Good {
				t.Errorf("browse of %v: %v", f.Node, f.Status)
			}
			for _, ref := range f.References {
				id := ref.NodeID.NodeID
				if ref.NodeClass == 0 || ref.BrowseName.Name == "" || ref.DisplayName.Text == "" {
					t.Errorf("%v describes %v as %+v", f.Node, id, ref)
				}
				if !seen[id] {
					seen[id] = true
					level = append(level, id)
					for a := ua.AttributeNodeID; a.IsValid(); a++ {
						items = append(items, ua.ReadValueID{NodeID: id, AttributeID: uint32(a)})
					}
				}
			}
		}
	}
	values, err := c.ReadAttributes(ctx, items)
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		switch values[i].Status {
		case ua.Good, ua.BadAttributeIdInvalid, ua.BadWaitingForInitialData:
		case ua.BadUserAccessDenied: // who is connected how is for those who have logged in
			if items[i].NodeID != ua.ID(uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray) {
				t.Errorf("%v of %v: %v", ua.AttributeID(items[i].AttributeID), items[i].NodeID, values[i].Status)
			}
		default:
			t.Errorf("%v of %v: %v", ua.AttributeID(items[i].AttributeID), items[i].NodeID, values[i].Status)
		}
	}
	if len(seen) < 6000 {
		t.Errorf("only %d nodes were found", len(seen))
	}
}

// mapPort is a port of another number that leads to a server, as containers and routers have it.
func mapPort(t *testing.T, listen, target string) string {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Skip(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { l.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer in.Close()
				out, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer out.Close()
				conns.Go(func() { _, _ = io.Copy(out, in); out.Close() })
				_, _ = io.Copy(in, out)
			})
		}
	})
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// V14 and V15: a server that listens on all addresses is reached by each of them, by name, and through a
// mapped port, with security and a full session; what it says of itself has the address that was used.
func TestAddressesOfOneServer(t *testing.T) {
	r := startServer(t, func(c *uaserver.Config) { c.URLs = []string{"opc.tcp://container-7:4840/plant"} })
	l, err := r.Listen("opc.tcp://:0")
	if err != nil {
		t.Fatal(err)
	}
	go r.Serve(l)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, used := range []string{
		"127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port, name + ":" + port,
		"127.0.0.1:" + mapPort(t, "127.0.0.1:0", "127.0.0.1:"+port), "localhost:" + mapPort(t, "localhost:0", "127.0.0.1:"+port),
	} {
		t.Run(used, func(t *testing.T) {
			if nc, err := net.Dial("tcp", used); err != nil {
				t.Skip(err) // a machine without IPv6, or one that does not know its own name
			} else {
				nc.Close()
			}
			config := r.config(t)
			config.SkipHostName = !strings.Contains(used, "127.0.0.1") && !strings.Contains(used, "localhost")
			config.User = uaclient.UserName{Name: "operator", Password: "geheim"}
			c, err := uaclient.Dial(t.Context(), "opc.tcp://"+used, config)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(t.Context())
			if e := c.Endpoint(); e.EndpointURL != "opc.tcp://"+used+"/plant" || e.SecurityMode != ua.MessageSecurityModeSignAndEncrypt {
				t.Errorf("endpoint %s, %v", e.EndpointURL, e.SecurityMode)
			}
			if v, err := c.ReadValue(t.Context(), r.speed.ID()); err != nil || v.Value.Float() != 1.5 {
				t.Errorf("%v, %v", v, err)
			}
		})
	}
}
