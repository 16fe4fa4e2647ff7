// Command pcapproxy forwards TCP connections and records them in a pcap file until it is interrupted:
//
//	go run ./cmd/pcapproxy -listen 127.0.0.1:4841 -target 127.0.0.1:4840 -out talk.pcap
//	tshark -r talk.pcap -d tcp.port==4841,opcua
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/actua/actua/interop/pcapproxy"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	target := flag.String("target", "127.0.0.1:4840", "address to forward to")
	out := flag.String("out", "talk.pcap", "file to record to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *target, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pcapproxy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listen, target, out string) error {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	proxy, err := pcapproxy.Start(listen, target, file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	fmt.Fprintf(os.Stderr, "recording %s -> %s in %s\n", proxy.Address(), target, out)
	<-ctx.Done()
	return errors.Join(proxy.Close(), file.Close())
}
