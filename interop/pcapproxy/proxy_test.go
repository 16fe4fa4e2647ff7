package pcapproxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// packet is a record of a pcap file, taken apart without the code under test.
type packet struct {
	source, destination uint16
	sequence, ack       uint32
	flags               byte
	payload             []byte
}

func parse(t *testing.T, file []byte) (packets []packet) {
	t.Helper()
	if len(file) < 24 || !bytes.Equal(file[:4], []byte{0xd4, 0xc3, 0xb2, 0xa1}) || file[20] != 1 {
		t.Fatalf("no pcap header: % x", file[:min(24, len(file))])
	}
	for b := file[24:]; len(b) > 0; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		if m := int(binary.LittleEndian.Uint32(b[12:])); n != m || n < 54 || len(b) < 16+n {
			t.Fatalf("record of %d and %d bytes in %d", n, m, len(b))
		}
		frame := b[16 : 16+n]
		b = b[16+n:]
		ip := frame[14:]
		if binary.BigEndian.Uint16(frame[12:]) != 0x0800 || ip[0] != 0x45 || int(binary.BigEndian.Uint16(ip[2:])) != len(ip) {
			t.Fatalf("not IPv4: % x", frame[:34])
		}
		if ones(ip[:20]) != 0xffff {
			t.Errorf("IPv4 checksum of packet %d", len(packets))
		}
		tcp := ip[20:]
		pseudo := append(append([]byte{}, ip[12:20]...), 0, 6, byte(len(tcp)>>8), byte(len(tcp)))
		if ones(append(pseudo, tcp...)) != 0xffff {
			t.Errorf("TCP checksum of packet %d", len(packets))
		}
		packets = append(packets, packet{
			binary.BigEndian.Uint16(tcp), binary.BigEndian.Uint16(tcp[2:]),
			binary.BigEndian.Uint32(tcp[4:]), binary.BigEndian.Uint32(tcp[8:]), tcp[13], tcp[20:],
		})
	}
	return packets
}

// ones is the ones' complement sum, 0xffff over data that holds its own checksum.
func ones(b []byte) uint64 {
	var sum uint64
	for i, v := range b {
		sum += uint64(v) << (8 * (1 - i%2))
	}
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return sum
}

func TestRecordsBothDirections(t *testing.T) {
	echo, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()

	var file bytes.Buffer
	proxy, err := Start("127.0.0.1:0", echo.Addr().String(), &file)
	if err != nil {
		t.Fatal(err)
	}
	sent := make([]byte, 300_001)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(sent)
	client, err := net.Dial("tcp4", proxy.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = client.Write(sent)
		_ = client.(*net.TCPConn).CloseWrite()
	}()
	received, err := io.ReadAll(client)
	if err := errors.Join(err, client.Close(), proxy.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sent, received) {
		t.Fatalf("%d bytes sent, %d came back", len(sent), len(received))
	}

	server := proxy.Address().Port()
	var streams [2][]byte // from the client, from the server
	var next [2]uint32
	var finished [2]bool
	for i, p := range parse(t, file.Bytes()) {
		from := 0
		if p.source == server {
			from = 1
		} else if p.destination != server {
			t.Fatalf("packet %d goes from %d to %d", i, p.source, p.destination)
		}
		if p.flags&flagSYN != 0 {
			next[from] = p.sequence
		}
		if p.sequence != next[from] {
			t.Fatalf("packet %d has sequence number %d, wanted %d", i, p.sequence, next[from])
		}
		if p.flags&flagACK != 0 && p.ack != next[1-from] {
			t.Fatalf("packet %d acknowledges %d, wanted %d", i, p.ack, next[1-from])
		}
		if len(p.payload) > maxSegment {
			t.Errorf("packet %d has %d bytes", i, len(p.payload))
		}
		next[from] += uint32(len(p.payload))
		if p.flags&(flagSYN|flagFIN) != 0 {
			next[from]++
		}
		finished[from] = finished[from] || p.flags&flagFIN != 0
		streams[from] = append(streams[from], p.payload...)
	}
	for from, name := range []string{"client", "server"} {
		if !bytes.Equal(streams[from], sent) || !finished[from] {
			t.Errorf("from the %s: %d bytes, end %v", name, len(streams[from]), finished[from])
		}
	}
}

func TestCloseCutsWhatDoesNotEnd(t *testing.T) {
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var file bytes.Buffer
	proxy, err := Start("127.0.0.1:0", silent.Addr().String(), &file)
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp4", proxy.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	accepted, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	start := time.Now()
	if err := proxy.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > drain+5*time.Second {
		t.Errorf("Close took %v", took)
	}
	if n := len(parse(t, file.Bytes())); n < 5 {
		t.Errorf("%d packets", n)
	}
}
