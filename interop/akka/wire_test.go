package akka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Frames made and read by hand, without the code under test.

// varintField, bytesField and fixedField are fields of a protobuf message.
func varintField(n int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n)<<3), v)
}

func bytesField(n int, v []byte) []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n)<<3|2), uint64(len(v)))
	return append(b, v...)
}

func textField(n int, s string) []byte { return bytesField(n, []byte(s)) }

func fixedField(n int, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(nil, uint64(n)<<3|1), v)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// fields reads a protobuf message: the last number and the last bytes of each field, and whether it is there at all.
type fields struct {
	numbers map[int]uint64
	bytes   map[int][]byte
	lists   map[int][][]byte
}

func parse(b []byte) (fields, error) {
	f := fields{map[int]uint64{}, map[int][]byte{}, map[int][][]byte{}}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return f, errors.New("bad tag")
		}
		b = b[n:]
		field := int(tag >> 3)
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return f, errors.New("bad varint")
			}
			f.numbers[field], b = v, b[n:]
		case 1:
			if len(b) < 8 {
				return f, errors.New("short fixed64")
			}
			f.numbers[field], b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			v, n := binary.Uvarint(b)
			if n <= 0 || v > uint64(len(b)-n) {
				return f, errors.New("bad length")
			}
			f.bytes[field] = b[n : n+int(v)]
			f.lists[field] = append(f.lists[field], f.bytes[field])
			b = b[n+int(v):]
		default:
			return f, fmt.Errorf("wire type %d", tag&7)
		}
	}
	return f, nil
}

func (f fields) has(n int) bool {
	_, number := f.numbers[n]
	_, bytes := f.bytes[n]
	return number || bytes
}

// sub reads an inner message.
func (f fields) sub(t *testing.T, n int) fields {
	t.Helper()
	in, err := parse(f.bytes[n])
	if err != nil {
		t.Fatalf("field %d is %x: %v", n, f.bytes[n], err)
	}
	return in
}

func frame(body []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// Commands of control messages.
const (
	cmdAssociate    = 1
	cmdDisassociate = 2
	cmdHeartbeat    = 3
	cmdShuttingDown = 4
	cmdQuarantined  = 5
)

// control is the body of a control message without information.
func control(cmd uint64) []byte { return bytesField(2, varintField(1, cmd)) }

// payload wraps a container, container an envelope.
func payload(container []byte) []byte { return bytesField(1, container) }

func container(envelope []byte) []byte { return bytesField(2, envelope) }

const noSeq = 0xFFFFFFFFFFFFFFFF

// body is a serialized message.
type body struct {
	id       int
	manifest string
	data     []byte
}

func (b body) encode() []byte {
	m := join(bytesField(1, b.data), varintField(2, uint64(b.id)))
	if b.manifest != "" {
		m = append(m, textField(3, b.manifest)...)
	}
	return m
}

func text(s string) body { return body{17, "S", []byte(s)} }

// envelope addresses a message; an empty sender is left out.
func envelope(to string, m body, sender string, seq uint64) []byte {
	e := join(bytesField(1, textField(1, to)), bytesField(2, m.encode()))
	if sender != "" {
		e = append(e, bytesField(4, textField(1, sender))...)
	}
	return append(e, fixedField(5, seq)...)
}

// raw is a peer made by hand: an address at which it listens, and a connection to the node under test.
type raw struct {
	t        *testing.T
	to       *node
	system   string
	protocol string // of the transport
	port     int
	uid      uint64
	listener net.Listener
	conn     *wire
}

// wire is one connection of a raw peer.
type wire struct {
	t *testing.T
	net.Conn
}

var rawUID atomic.Uint64

// newRaw is a fresh peer that listens, and has not dialed.
func newRaw(t *testing.T, to *node) *raw {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &raw{t: t, to: to, system: systemName("Raw"), protocol: "tcp", port: l.Addr().(*net.TCPAddr).Port, uid: 1000 + rawUID.Add(1), listener: l}
}

// dialRaw is a fresh peer that has shaken hands.
func dialRaw(t *testing.T, to *node) *raw {
	t.Helper()
	r := newRaw(t, to)
	r.conn = r.associate()
	return r
}

func (r *raw) address() string {
	return fmt.Sprintf("akka.%s://%s@127.0.0.1:%d", r.protocol, r.system, r.port)
}

func (r *raw) path(p string) string { return r.address() + p }

// associatePDU is the first thing to say.
func (r *raw) associatePDU() []byte {
	origin := join(textField(1, r.system), textField(2, "127.0.0.1"), varintField(3, uint64(r.port)), textField(4, r.protocol))
	return bytesField(2, join(varintField(1, cmdAssociate), bytesField(2, join(bytesField(1, origin), fixedField(2, r.uid)))))
}

func (r *raw) dial() *wire {
	r.t.Helper()
	_, hostPort, _ := strings.Cut(r.to.address, "@")
	c, err := net.DialTimeout("tcp4", hostPort, patience)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return &wire{r.t, c}
}

func (r *raw) associate() *wire {
	r.t.Helper()
	c := r.dial()
	c.send(r.associatePDU())
	r.welcome(c)
	return c
}

// welcome wants the node's own ASSOCIATE and judges it.
func (r *raw) welcome(c *wire) {
	r.t.Helper()
	pdu := c.next(patience)
	if pdu == nil || pdu.command != cmdAssociate {
		r.t.Fatalf("not answered with ASSOCIATE but with %v", pdu)
	}
	info := pdu.fields.sub(r.t, 2)
	origin := info.sub(r.t, 1)
	got := fmt.Sprintf("akka.%s://%s@%s:%d", origin.bytes[4], origin.bytes[1], origin.bytes[2], origin.numbers[3])
	if got != r.to.address || info.numbers[2] != uint64(r.to.uid) {
		r.t.Errorf("the handshake says %s with uid %d, want %s with %d", got, info.numbers[2], r.to.address, r.to.uid)
	}
}

// send writes one frame.
func (c *wire) send(body []byte) {
	c.t.Helper()
	if _, err := c.Write(frame(body)); err != nil {
		c.t.Logf("writing: %v", err)
	}
}

// pdu is a frame that came.
type pdu struct {
	raw     []byte
	command uint64
	fields  fields // of the control message or of the container
}

func (p *pdu) String() string {
	if p == nil {
		return "the end"
	}
	if p.command == 0 {
		return fmt.Sprintf("payload %x", p.raw)
	}
	return "command " + strconv.Itoa(int(p.command))
}

// next reads one frame. Nil is the orderly end of the connection; a reset, which Akka.NET takes for a planned shutdown, fails the test.
func (c *wire) next(limit time.Duration) *pdu {
	c.t.Helper()
	p, err := c.read(limit)
	if err != nil {
		c.t.Fatalf("reading a frame: %v", err)
	}
	return p
}

func (c *wire) read(limit time.Duration) (*pdu, error) {
	_ = c.SetReadDeadline(time.Now().Add(limit))
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head)
	if size > 1<<24 {
		return nil, fmt.Errorf("a frame of %d bytes", size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	f, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("a frame %x: %w", b, err)
	}
	p := &pdu{raw: b}
	inner := f.bytes[1]
	if f.has(2) {
		inner = f.bytes[2]
	}
	if p.fields, err = parse(inner); err != nil {
		return nil, fmt.Errorf("a frame %x: %w", b, err)
	}
	if f.has(2) {
		p.command = p.fields.numbers[1]
	}
	return p, nil
}

// letter is an envelope that came.
type letter struct {
	to, sender string
	hasSender  bool
	seq        uint64 // 0 also where the field is missing
	body       body
	raw        fields
}

func (l *letter) String() string {
	return fmt.Sprintf("to %s from %s seq %d: serializer %d %s %q", l.to, l.sender, int64(l.seq), l.body.id, l.body.manifest, l.body.data)
}

// letterOf reads the envelope of a payload, if it has one.
func letterOf(t *testing.T, p *pdu) *letter {
	t.Helper()
	if p == nil || p.command != 0 || !p.fields.has(2) {
		return nil
	}
	e := p.fields.sub(t, 2)
	m := e.sub(t, 2)
	l := &letter{seq: e.numbers[5], raw: e, hasSender: e.has(4), body: body{int(m.numbers[2]), string(m.bytes[3]), m.bytes[1]}}
	l.to = string(e.sub(t, 1).bytes[1])
	if l.hasSender {
		l.sender = string(e.sub(t, 4).bytes[1])
	}
	return l
}

// letter waits for a message that fits; heartbeats, acknowledgements and other messages are skipped.
func (c *wire) letter(limit time.Duration, fits func(*letter) bool) *letter {
	c.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		p, err := c.read(time.Until(deadline))
		if err != nil {
			c.t.Fatalf("waiting for a message: %v", err)
		}
		if p == nil || p.command == cmdDisassociate || p.command == cmdShuttingDown || p.command == cmdQuarantined {
			c.t.Fatalf("waiting for a message: %v", p)
		}
		if l := letterOf(c.t, p); l != nil && fits(l) {
			return l
		}
	}
}

// ask sends a text to the echo and wants it back on the same connection.
func (r *raw) ask(c *wire) {
	r.t.Helper()
	want, asker := "alive "+nextID(), r.path("/temp/"+nextID())
	c.send(payload(container(envelope(r.to.path("/user/echo"), text(want), asker, noSeq))))
	l := c.letter(patience, func(l *letter) bool { return l.to == asker })
	if string(l.body.data) != want || withoutUID(l.sender) != r.to.path("/user/echo") || l.seq != noSeq {
		r.t.Errorf("asked for %q, got %s", want, l)
	}
}

// ends wants the connection to end in order: with DISASSOCIATE first where said, which otherwise may come or not.
func (c *wire) ends(disassociate bool) {
	c.t.Helper()
	said := false
	for deadline := time.Now().Add(patience / 2); ; {
		p := c.next(time.Until(deadline))
		if p == nil {
			break
		}
		said = said || p.command == cmdDisassociate
		if p.command == cmdShuttingDown || p.command == cmdQuarantined {
			c.t.Errorf("the connection ends with %v", p)
		}
	}
	if disassociate && !said {
		c.t.Error("the connection ended without DISASSOCIATE")
	}
}
