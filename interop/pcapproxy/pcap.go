package pcapproxy

import (
	"encoding/binary"
	"io"
	"net/netip"
	"time"
)

// Sizes of the headers in front of every payload: Ethernet, IPv4 and TCP, both without options.
const (
	ethernetHeader = 14
	ipv4Header     = 20
	tcpHeader      = 20
	allHeaders     = ethernetHeader + ipv4Header + tcpHeader

	// maxSegment is the payload of a full frame on an Ethernet with the usual MTU of 1500 bytes.
	maxSegment = 1500 - ipv4Header - tcpHeader

	// ackEvery is after how many full segments the receiver acknowledges; its window holds 44.
	ackEvery = 16

	snapLength = 65535
)

// TCP flags, RFC 9293 section 3.1.
const (
	flagFIN = 0x01
	flagSYN = 0x02
	flagPSH = 0x08
	flagACK = 0x10
)

// writeFileHeader starts a classic pcap file with microseconds and link type Ethernet.
func writeFileHeader(w io.Writer) error {
	b := make([]byte, 0, 24)
	b = binary.LittleEndian.AppendUint32(b, 0xa1b2c3d4)
	b = binary.LittleEndian.AppendUint16(b, 2) // version 2.4
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = binary.LittleEndian.AppendUint64(b, 0) // UTC, accuracy not stated
	b = binary.LittleEndian.AppendUint32(b, snapLength)
	b = binary.LittleEndian.AppendUint32(b, 1) // LINKTYPE_ETHERNET
	_, err := w.Write(b)
	return err
}

// side is one end of a TCP connection as the file shows it.
type side struct {
	mac     [6]byte
	address netip.AddrPort
	next    uint32 // sequence number of the next byte it sends
	packets uint16 // IPv4 identification
}

// segment appends a pcap record with one TCP segment from one side to the other, and advances the sender's sequence number.
func segment(b []byte, at time.Time, from, to *side, flags byte, payload []byte) []byte {
	length := allHeaders + len(payload)
	b = binary.LittleEndian.AppendUint32(b, uint32(at.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(at.Nanosecond()/1000))
	b = binary.LittleEndian.AppendUint32(b, uint32(length))
	b = binary.LittleEndian.AppendUint32(b, uint32(length))

	b = append(b, to.mac[:]...)
	b = append(b, from.mac[:]...)
	b = binary.BigEndian.AppendUint16(b, 0x0800)

	source, destination := from.address.Addr().As4(), to.address.Addr().As4()
	ip := len(b)
	b = append(b, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(ipv4Header+tcpHeader+len(payload)))
	b = binary.BigEndian.AppendUint16(b, from.packets)
	b = append(b, 0x40, 0, 64, 6, 0, 0) // do not fragment, TTL 64, TCP, checksum to come
	b = append(b, source[:]...)
	b = append(b, destination[:]...)
	binary.BigEndian.PutUint16(b[ip+10:], ^fold(sum(0, b[ip:])))
	from.packets++

	acknowledged := uint32(0)
	if flags&flagACK != 0 {
		acknowledged = to.next
	}
	tcp := len(b)
	b = binary.BigEndian.AppendUint16(b, from.address.Port())
	b = binary.BigEndian.AppendUint16(b, to.address.Port())
	b = binary.BigEndian.AppendUint32(b, from.next)
	b = binary.BigEndian.AppendUint32(b, acknowledged)
	b = append(b, tcpHeader/4<<4, flags, 0xff, 0xff, 0, 0, 0, 0) // window 65535, checksum to come
	b = append(b, payload...)
	pseudo := sum(sum(0, source[:]), destination[:]) + 6 + uint32(tcpHeader+len(payload))
	binary.BigEndian.PutUint16(b[tcp+16:], ^fold(sum(pseudo, b[tcp:])))

	from.next += uint32(len(payload))
	if flags&(flagSYN|flagFIN) != 0 {
		from.next++ // both take a place in the sequence
	}
	return b
}

// sum adds 16-bit words for the Internet checksum (RFC 1071).
func sum(start uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		start += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		start += uint32(b[0]) << 8
	}
	return start
}

func fold(sum uint32) uint16 {
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}
