// Command secure runs a server that demands encryption and a user name, and a client of it. Each has its
// own folder of certificates, and each trusts the other's certificate.
//
//	go run ./examples/secure
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uapki"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func main() {
	dir, err := os.MkdirTemp("", "actua-secure")
	check(err)
	defer os.RemoveAll(dir)
	serverStore, serverOwn := party(filepath.Join(dir, "server"))
	clientStore, clientOwn := party(filepath.Join(dir, "client"))
	trust(clientStore, serverOwn)
	trust(serverStore, clientOwn)

	server, err := uaserver.New(uaserver.Config{
		Identity: serverOwn, Store: serverStore, Policies: []string{"Aes256_Sha256_RsaPss"},
		Users: map[string]string{"operator": "secret"},
		Nodes: []uaserver.NodeManager{memspace.New("urn:example:secure")},
	})
	check(err)
	l, err := net.Listen("tcp", "localhost:0")
	check(err)
	go server.Serve(l)
	defer server.Close()

	ctx := context.Background()
	client, err := uaclient.Dial(ctx, "opc.tcp://"+l.Addr().String(), &uaclient.Config{
		PKI: clientStore, Identity: clientOwn, User: uaclient.UserName{Name: "operator", Password: "secret"},
	})
	check(err)
	defer client.Close(ctx)
	state, err := client.ReadValue(ctx, ua.ID(uaid.Server_ServerStatus_State))
	check(err)
	fmt.Println(client.Endpoint().SecurityMode, "state", ua.ServerState(state.Value.Int()))
}

// party opens a folder of certificates and makes the own one when it is not there yet.
func party(dir string) (*uapki.Store, *uapki.Identity) {
	store, err := uapki.Open(dir)
	check(err)
	own, _, err := store.LoadOrCreate(uapki.CertificateOptions{CommonName: "example " + filepath.Base(dir), HostNames: []string{"localhost", "127.0.0.1", "::1"}})
	check(err)
	return store, own
}

func trust(store *uapki.Store, other *uapki.Identity) {
	leaf, err := other.Leaf()
	check(err)
	check(store.Trust(leaf))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
