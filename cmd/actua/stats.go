package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actua/actua/ua/uaserver"
)

// statsPage is what --stats serves: figures of the Go runtime as JSON, and of what is published once there
// is a server. "?gc=1" collects garbage first.
type statsPage struct {
	server atomic.Pointer[uaserver.Server]
}

// ServeHTTP implements http.Handler.
func (p *statsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are answered", http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Query().Get("gc") == "1" {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.Header().Set("Content-Type", "application/json")
	figures := struct {
		Mallocs, TotalAlloc, HeapAlloc, PauseTotalNs uint64
		NumGC                                        uint32
		Publish                                      *uaserver.PublishStats `json:",omitempty"`
	}{m.Mallocs, m.TotalAlloc, m.HeapAlloc, m.PauseTotalNs, m.NumGC, nil}
	if s := p.server.Load(); s != nil {
		publish := s.PublishStats()
		figures.Publish = &publish
	}
	_ = json.NewEncoder(w).Encode(figures) // who asked may have gone
}

// listenStats opens the address of the statistics page; nil without one.
func listenStats(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, ourPart(err, "another program listens on %s already: choose another address for --stats", address)
	}
	return nil, ourPart(err, "the statistics page cannot listen on %s: %v", address, err)
}

// serveStats serves the statistics page until the function that it returns is called.
func serveStats(l net.Listener, page *statsPage) (stop func()) {
	if l == nil {
		return func() {}
	}
	s := &http.Server{Handler: page, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // ends with Close
	}()
	return func() {
		_ = s.Close() // nothing is lost with the page
		<-done
	}
}
