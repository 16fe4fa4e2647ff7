package uasc

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/actua/actua/ua/internal/uacp"
)

// FuzzServerReceive gives chunks to a server without security, whose decoder a stranger reaches: cut out
// of the input by a length in front of each, with the right channel, token and sequence number, so
// that the input gets far.
func FuzzServerReceive(f *testing.F) {
	chunk := func(kind byte, request byte, body ...byte) []byte {
		b := append([]byte{byte(2 + len(body)), kind, request}, body...)
		return b
	}
	f.Add(chunk('F', 1, 1, 2, 3))
	f.Add(append(chunk('C', 1, 1, 2, 3), chunk('F', 1, 4)...))
	f.Add(append(chunk('C', 1, 1, 2, 3), chunk('A', 1, 0, 0, 0x80, 0x80, 255, 255, 255, 255)...))
	f.Add(append(chunk('C', 1), chunk('F', 2)...))
	f.Fuzz(func(t *testing.T, in []byte) {
		budget := NewBudget(1 << 20)
		p := opened(t, setup{policy: "None", budget: budget, limits: uacp.Limits{MaxMessageSize: 2000, MaxChunkCount: 20}})
		defer func() {
			p.server.Release()
			if budget.Used() != 0 {
				t.Errorf("%d bytes left over", budget.Used())
			}
		}()
		for len(in) > 2 {
			n := min(int(in[0]), len(in)-1)
			if n < 2 {
				break
			}
			b := make([]byte, Room, Room+n)
			uacp.PutHeader(b, uacp.TypeMessage, in[1], Room+n-2)
			binary.LittleEndian.PutUint32(b[8:], p.server.channelID)
			binary.LittleEndian.PutUint32(b[12:], 1)
			binary.LittleEndian.PutUint32(b[16:], p.server.in.sequence.last+1)
			b[20] = in[2]
			b = append(b, in[3:1+n]...)
			in = in[1+n:]
			m, complete, err := p.server.Open(b, p.now)
			if err != nil {
				return
			}
			if complete && len(m.Body) > 2000 {
				t.Error("a message above the limit")
			}
		}
	})
}

// FuzzServerRaw gives whole chunks, headers and all, to a secured server and to one without security.
func FuzzServerRaw(f *testing.F) {
	secured := opened(f, setup{policy: "Basic256Sha256"})
	plain := opened(f, setup{policy: "None"})
	f.Add(secured.seal(f, secured.client, 1, filled(30)))
	f.Add(plain.seal(f, plain.client, 1, filled(30)))
	f.Add([]byte("MSGF\x18\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range []*pair{secured, plain} {
			p.server.Open(append([]byte(nil), b...), p.now)
		}
	})
}

// FuzzAsymmetricHeader gives OpenSecureChannel chunks to the parser and to servers of both kinds.
func FuzzAsymmetricHeader(f *testing.F) {
	var servers []*Conversation
	for _, policy := range []string{"None", "Basic256Sha256"} {
		p := unopened(f, setup{policy: policy})
		f.Add(p.request(f, time.Hour))
		f.Add(p.grant(f, p.request(f, time.Hour)))
		servers = append(servers, unopened(f, setup{policy: policy}).server)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := ParseAsymmetricHeader(b); err == nil && h.Size > len(b) {
			t.Errorf("a header of %d bytes in %d", h.Size, len(b))
		}
		for _, s := range servers {
			s.in.sequence.started = false
			s.ReceiveOpen(b, start)
		}
	})
}

// FuzzClientAnswer gives answers to a client that waits for one.
func FuzzClientAnswer(f *testing.F) {
	p := unopened(f, setup{policy: "None"})
	f.Add(p.grant(f, p.request(f, time.Hour)))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := unopened(t, setup{policy: "None"})
		p.request(t, time.Hour)
		if p.client.CompleteOpen(b, start) == nil && p.client.ChannelID() == 0 {
			t.Error("open without a channel id")
		}
	})
}
