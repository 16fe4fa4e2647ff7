package uaserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uabin"
)

// ErrServerClosed is what Serve and its like return after Close or Shutdown.
var ErrServerClosed = errors.New("uaserver: the server is closed")

// farewell is how long Close waits for clients to take the message that the server stops.
const farewell = time.Second

// Server is an OPC UA server. New makes it.
type Server struct {
	cfg        *settings
	log        *slog.Logger
	namespaces []string
	owners     []int // index of the node manager, by namespace; -1: none
	types      *ua.TypeTable
	decode     uabin.Limits
	room       *room
	gate       *tcp.Gate
	link       tcp.ServerConfig
	loopsOnce  sync.Once
	loops      *tcp.Loops
	started    ua.DateTime

	zero       time.Time // of the clock of subscriptions
	subs       *subs.Manager
	sampler    sampler
	notifiers  notifiers
	self       *SessionInfo // who reads when no session does
	wake       chan struct{}
	onLoop     bool // publishing is the first event loop's; set before there are connections
	publishing sync.WaitGroup
	monitorMu  sync.Mutex // guards the tags of monitored items

	ctx        context.Context // done when the server is closed
	end        context.CancelFunc
	sessions   sessions
	lockouts   lockouts
	handshakes chan struct{}
	stats      counters
	snapshots  snapshots    // of what diagnostics show
	turnedAway atomic.Int32 // connections that are being told that there is no place
	stopping   atomic.Bool
	stopAt     atomic.Int64 // DateTime at which a Shutdown becomes a Close; 0: not known

	mu        sync.Mutex
	closed    bool
	timed     bool // publishing and keepTime run
	listeners map[net.Listener]struct{}
	listening []string // URLs of listeners, when the Config names none
	peers     map[*peer]struct{}
	joining   int            // connections that are being admitted
	serving   sync.WaitGroup // connections
}

// New checks a configuration and makes a server of it, which does nothing before it serves a listener.
func New(cfg Config) (*Server, error) {
	set, err := cfg.check()
	if err != nil {
		return nil, fmt.Errorf("uaserver: %w", err)
	}
	s := &Server{
		cfg:        set,
		log:        slog.New(newLogLimit(set.Logger.Handler(), set.Now)),
		types:      new(ua.TypeTable),
		started:    ua.NewDateTime(set.Now()),
		sessions:   sessions{byToken: make(map[ua.NodeID]*session)},
		handshakes: make(chan struct{}, min(set.Limits.MaxHandshakes, 1<<16)),
		listeners:  make(map[net.Listener]struct{}),
		peers:      make(map[*peer]struct{}),
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	l := &set.Limits
	s.lockouts = lockouts{limit: l.MaxLoginFailures, period: l.LockoutTime, table: make(map[string]*failures)}
	s.decode = uabin.Limits{MaxString: l.MaxStringLength, MaxByteString: l.MaxByteString, MaxArray: l.MaxArrayLength, MaxDepth: l.MaxNesting}
	s.room = newRoom(l.MaxReceiveMemory)
	s.gate = tcp.NewGate(processors() / 2)
	s.link = s.linkConfig()
	s.newSubscriptions()
	if err := s.attach(); err != nil {
		return nil, fmt.Errorf("uaserver: %w", err)
	}
	return s, nil
}

// attach gives each namespace its index and tells the managers.
func (s *Server) attach() error {
	s.namespaces = []string{NamespaceURI0, s.cfg.ApplicationURI}
	s.owners = []int{-1, -1}
	indexes := make([][]uint16, len(s.cfg.Nodes))
	for m, nm := range s.cfg.Nodes {
		for _, uri := range nm.NamespaceURIs() {
			i := slices.Index(s.namespaces, uri)
			switch {
			case uri == "":
				return errors.New("a node manager has a namespace without a URI")
			case i < 0:
				i = len(s.namespaces)
				s.namespaces, s.owners = append(s.namespaces, uri), append(s.owners, -1)
			case s.owners[i] >= 0:
				return fmt.Errorf("two node managers have the namespace %q", uri)
			}
			if i > 65535 {
				return errors.New("more than 65,535 namespaces")
			}
			s.owners[i] = m
			indexes[m] = append(indexes[m], uint16(i))
		}
	}
	s.types.SetNamespaces(s.namespaces)
	for m, nm := range s.cfg.Nodes {
		if err := nm.Attach(s, indexes[m]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) now() time.Time { return s.cfg.Now() }

// Namespaces is the NamespaceArray (Part 5, 6.3.1): the URIs by index.
func (s *Server) Namespaces() []string { return slices.Clone(s.namespaces) }

// Types is the table of structures of other namespaces than 0 that the server decodes in requests.
func (s *Server) Types() *ua.TypeTable { return s.types }

// Limits are the server's limits with all defaults filled in.
func (s *Server) Limits() Limits { return s.cfg.Limits }

// Logger is the server's logger, for node managers. It drops lines when there are too many.
func (s *Server) Logger() *slog.Logger { return s.log }

// Shutdown ends the server in order: new connections and sessions are refused, ServerStatus says
// Shutdown, and once the last session has left or ctx is done everything is closed. Clients that are
// still there are told BadShutdown.
func (s *Server) Shutdown(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok {
		s.stopAt.Store(int64(ua.NewDateTime(at)))
	}
	s.stopping.Store(true)
	s.closeListeners()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for s.sessions.count() > 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			s.sweep(s.now())
		}
	}
	return s.Close()
}

// Close ends all connections and sessions at once and waits for the connections to be gone. Callbacks
// that still run see their context end; Close does not wait for them.
func (s *Server) Close() error {
	s.stopping.Store(true)
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	peers := make([]*peer, 0, len(s.peers))
	for p := range s.peers {
		peers = append(peers, p)
	}
	s.mu.Unlock()
	if first {
		s.closeListeners()
		for _, x := range s.sessions.close() {
			s.endSession(x, true)
		}
		for _, p := range peers {
			go p.link.Close(ua.BadShutdown, "the server is being stopped")
		}
		s.end()
	}
	gone := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(farewell): // who does not read what it is told is cut off
		for _, p := range peers {
			p.link.Cut()
		}
		<-gone
	}
	s.publishing.Wait()
	s.loopsOnce.Do(func() {}) // none are made from now on
	s.loops.Close()
	return nil
}

func (s *Server) closeListeners() {
	s.mu.Lock()
	list := s.listeners
	s.listeners = make(map[net.Listener]struct{})
	s.mu.Unlock()
	for l := range list {
		_ = l.Close() // nothing is lost with a listener
	}
}

func hostName() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}
