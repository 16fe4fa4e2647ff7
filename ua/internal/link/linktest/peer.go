package linktest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// Patience is how long a Peer waits for what it expects.
const Patience = 5 * time.Second

// Peer is one end of a connection that a test plays itself: it sends what the test says, be it wrong,
// and fails the test when the other end does not send what is expected.
type Peer struct {
	T    testing.TB
	NC   net.Conn
	Conv *uasc.Conversation // of a channel that was opened; may be changed for another
	Now  func() time.Time

	next uint32 // request id
}

// NewPeer plays one end of nc.
func NewPeer(t testing.TB, nc net.Conn) *Peer { return &Peer{T: t, NC: nc, Now: time.Now} }

// Raw sends bytes.
func (p *Peer) Raw(b []byte) {
	p.T.Helper()
	p.NC.SetWriteDeadline(time.Now().Add(Patience))
	if _, err := p.NC.Write(b); err != nil {
		p.T.Fatalf("sending %d bytes: %v", len(b), err)
	}
}

// Chunk receives one chunk.
func (p *Peer) Chunk() (uacp.Header, []byte) {
	p.T.Helper()
	h, chunk, err := p.TryChunk()
	if err != nil {
		p.T.Fatalf("receiving a chunk: %v", err)
	}
	return h, chunk
}

// TryChunk receives one chunk, or tells why there is none.
func (p *Peer) TryChunk() (h uacp.Header, chunk []byte, err error) {
	p.NC.SetReadDeadline(time.Now().Add(Patience))
	chunk = make([]byte, uacp.HeaderSize)
	if _, err = io.ReadFull(p.NC, chunk); err != nil {
		return h, nil, err
	}
	if h, err = uacp.ParseHeader(chunk); err != nil {
		return h, nil, err
	}
	chunk = append(chunk, make([]byte, h.Size-uacp.HeaderSize)...)
	_, err = io.ReadFull(p.NC, chunk[uacp.HeaderSize:])
	return h, chunk, err
}

// ExpectError receives an ERR message, with the status if it is not 0, and then the end.
func (p *Peer) ExpectError(status ua.StatusCode) *uacp.Error {
	p.T.Helper()
	h, chunk := p.Chunk()
	if h.Type != uacp.TypeError {
		p.T.Fatalf("a %v message, want ERR", h.Type)
	}
	e, err := uacp.DecodeError(chunk[uacp.HeaderSize:])
	if err != nil {
		p.T.Fatal(err)
	}
	if status != 0 && e.Status != status {
		p.T.Fatalf("%v, want %v", e, status)
	}
	p.ExpectEnd()
	return e
}

// ExpectEnd expects that the other end closes.
func (p *Peer) ExpectEnd() {
	p.T.Helper()
	p.NC.SetReadDeadline(time.Now().Add(Patience))
	var b [1]byte
	if n, err := p.NC.Read(b[:]); n != 0 || err == nil {
		p.T.Fatal("the connection goes on")
	} else if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		p.T.Fatal("the connection is not closed")
	}
}

// Hello plays the client's Hello and receives the Acknowledge.
func (p *Peer) Hello(h uacp.Hello) uacp.Acknowledge {
	p.T.Helper()
	p.Raw(h.Append(nil))
	t, chunk := p.Chunk()
	if t.Type != uacp.TypeAcknowledge {
		e, _ := uacp.DecodeError(chunk[uacp.HeaderSize:])
		p.T.Fatalf("a %v message, want ACK: %v", t.Type, e)
	}
	var a uacp.Acknowledge
	if err := a.Decode(chunk[uacp.HeaderSize:]); err != nil {
		p.T.Fatal(err)
	}
	return a
}

// Connect plays the whole handshake of a client: Hello with the limits, and OpenSecureChannel.
func (p *Peer) Connect(url string, l uacp.Limits, cfg uasc.Config, lifetime time.Duration) {
	p.T.Helper()
	a := p.Hello(l.Hello(url))
	n, err := uacp.Confirm(l, &a)
	if err == nil {
		cfg.Side, cfg.Limits = uasc.Client, n
		p.Conv, err = uasc.New(cfg)
	}
	if err != nil {
		p.T.Fatal(err)
	}
	p.Renew(lifetime)
}

// Renew plays the client's OpenSecureChannel, for the first or the next token.
func (p *Peer) Renew(lifetime time.Duration) {
	p.T.Helper()
	b, err := p.Conv.RequestOpen(nil, p.ID(), lifetime, p.Now())
	if err != nil {
		p.T.Fatal(err)
	}
	p.Raw(b)
	h, chunk := p.Chunk()
	if h.Type == uacp.TypeError {
		e, _ := uacp.DecodeError(chunk[uacp.HeaderSize:])
		p.T.Fatalf("ERR in answer to OpenSecureChannel: %v", e)
	}
	if err := p.Conv.CompleteOpen(chunk, p.Now()); err != nil {
		p.T.Fatal(err)
	}
}

// ID is a new request id of a client.
func (p *Peer) ID() uint32 {
	p.next++
	return p.next
}

// AcceptHello plays the server's part of the Hello.
func (p *Peer) AcceptHello(l uacp.Limits) (uacp.Hello, uacp.Negotiated) {
	p.T.Helper()
	_, chunk := p.Chunk()
	var h uacp.Hello
	if err := h.Decode(chunk[uacp.HeaderSize:]); err != nil {
		p.T.Fatal(err)
	}
	a, n := uacp.Accept(&h, l)
	p.Raw(a.Append(nil))
	return h, n
}

// Accept plays the whole handshake of a server.
func (p *Peer) Accept(l uacp.Limits, id *uasc.Identity, g uasc.Grant) *uasc.Opening {
	p.T.Helper()
	_, n := p.AcceptHello(l)
	var err error
	if p.Conv, err = uasc.New(uasc.Config{Side: uasc.Server, Limits: n, Identity: id}); err != nil {
		p.T.Fatal(err)
	}
	return p.AcceptOpen(g)
}

// AcceptOpen plays the server's part of OpenSecureChannel, for the first or the next token.
func (p *Peer) AcceptOpen(g uasc.Grant) *uasc.Opening {
	p.T.Helper()
	_, chunk := p.Chunk()
	o, err := p.Conv.ReceiveOpen(chunk, p.Now())
	if err != nil {
		p.T.Fatal(err)
	}
	if g.ChannelID == 0 {
		g.ChannelID = 7
	}
	if g.MaxLifetime == 0 {
		g.MaxLifetime = time.Hour
	}
	b, err := p.Conv.AnswerOpen(nil, o, g, p.Now())
	if err != nil {
		p.T.Fatal(err)
	}
	p.Raw(b)
	return o
}

// Seal makes the chunks of a message.
func (p *Peer) Seal(requestID uint32, m ua.Structure) []byte {
	p.T.Helper()
	b, start := p.Conv.Begin(nil)
	b = m.AppendBinary(m.BinaryID().NodeID.AppendBinary(b))
	b, err := p.Conv.Seal(b, start, uacp.TypeMessage, requestID, p.Now())
	if err != nil {
		p.T.Fatal(err)
	}
	return b
}

// Send sends a message.
func (p *Peer) Send(requestID uint32, m ua.Structure) {
	p.T.Helper()
	p.Raw(p.Seal(requestID, m))
}

// Receive receives a message; its body is a copy.
func (p *Peer) Receive() uasc.Message {
	p.T.Helper()
	for {
		h, chunk := p.Chunk()
		if h.Type == uacp.TypeError {
			e, _ := uacp.DecodeError(chunk[uacp.HeaderSize:])
			p.T.Fatalf("ERR: %v", e)
		}
		m, complete, err := p.Conv.Open(chunk, p.Now())
		if err != nil {
			p.T.Fatal(err)
		}
		if complete {
			m.Body = bytes.Clone(m.Body)
			return m
		}
	}
}

// Expect receives a message of m's type into m and returns its request id.
func (p *Peer) Expect(m ua.Structure) uint32 {
	p.T.Helper()
	got := p.Receive()
	if got.Err != nil {
		p.T.Fatal(got.Err)
	}
	r := uabin.NewReader(got.Body)
	var id ua.NodeID
	id.DecodeBinary(r)
	if id != m.BinaryID().NodeID {
		p.T.Fatalf("a message of type %v, want %T", id, m)
	}
	m.DecodeBinary(r)
	if !r.OK() {
		p.T.Fatal(r.Err())
	}
	return got.RequestID
}

// Split cuts bytes that hold several chunks into them.
func Split(b []byte) (chunks [][]byte) {
	for len(b) >= uacp.HeaderSize {
		n := int(binary.LittleEndian.Uint32(b[4:]))
		if n < uacp.HeaderSize || n > len(b) {
			break
		}
		chunks = append(chunks, b[:n:n])
		b = b[n:]
	}
	return chunks
}
