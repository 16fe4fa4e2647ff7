package uaserver_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
)

// The example examples/extending, which needs a client that subscribes: its monitored item reports
// all pulses, and the interceptor sees them.
func TestExtendingExample(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	address := "opc.tcp://" + l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "extending")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if text, err := exec.Command("go", "build", "-o", program, "../../examples/extending").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, text)
	}
	server := exec.CommandContext(ctx, program, address)
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var c *tcp.ClientConn
	for try := 0; ; try++ { // until the server listens
		if c, err = tcp.Dial(ctx, address, nil); err == nil || try == 50 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	call := func(q, p ua.Structure) {
		t.Helper()
		if err := c.Call(ctx, q, p); err != nil {
			t.Fatal(err)
		}
	}
	var created ua.CreateSessionResponse
	call(&ua.CreateSessionRequest{EndpointURL: address}, &created)
	header := ua.RequestHeader{AuthenticationToken: created.AuthenticationToken}
	call(&ua.ActivateSessionRequest{RequestHeader: header}, &ua.ActivateSessionResponse{})
	var sub ua.CreateSubscriptionResponse
	call(&ua.CreateSubscriptionRequest{RequestHeader: header, RequestedPublishingInterval: 100, PublishingEnabled: true}, &sub)
	var items ua.CreateMonitoredItemsResponse
	call(&ua.CreateMonitoredItemsRequest{RequestHeader: header, SubscriptionID: sub.SubscriptionID, ItemsToCreate: []ua.MonitoredItemCreateRequest{{
		ItemToMonitor:  ua.ReadValueID{NodeID: ua.NewStringNodeID(2, "Pulses"), AttributeID: uint32(ua.AttributeValue)},
		MonitoringMode: ua.MonitoringModeReporting,
	}}}, &items)
	if s := items.Results[0].StatusCode; s != ua.Good {
		t.Fatal(s)
	}
	start, pulses := time.Now(), int64(0)
	for pulses < 30 {
		var p ua.PublishResponse
		call(&ua.PublishRequest{RequestHeader: header}, &p)
		for _, d := range p.NotificationMessage.NotificationData {
			for _, n := range d.Value.(*ua.DataChangeNotification).MonitoredItems {
				pulses += n.Value.Value.Int()
			}
		}
	}
	if most := int64(time.Since(start)/(10*time.Millisecond)) + 50; pulses > most {
		t.Errorf("%d pulses, %d at most", pulses, most)
	}
	call(&ua.CloseSessionRequest{RequestHeader: header, DeleteSubscriptions: true}, &ua.CloseSessionResponse{})
	if runtime.GOOS == "windows" {
		server.Process.Kill()
		return
	}
	server.Process.Signal(os.Interrupt)
	if err := server.Wait(); err != nil {
		t.Errorf("server: %v", err)
	}
	if !bytes.Contains(log.Bytes(), []byte("values sent: true")) {
		t.Errorf("the interceptor saw nothing: %s", log.Bytes())
	}
}
