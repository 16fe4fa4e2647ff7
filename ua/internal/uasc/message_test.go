package uasc

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
)

// TestEveryLength passes bodies of all lengths about the sizes at which chunks and blocks end, both
// ways, with the smallest buffers (report C17).
func TestEveryLength(t *testing.T) {
	everyMode(t, func(t *testing.T, policy string, mode ua.MessageSecurityMode) {
		p := opened(t, setup{policy: policy, mode: mode, limits: uacp.Limits{ReceiveBufferSize: 8192, SendBufferSize: 8192}})
		most := p.client.layout().maxBody(8192)
		var lengths []int
		for n := range 40 {
			lengths = append(lengths, n)
		}
		for _, chunks := range []int{1, 2, 3} {
			for d := -17; d <= 17; d++ {
				lengths = append(lengths, chunks*most+d)
			}
		}
		for _, n := range append(lengths, 100*most, 100*most+1) {
			body := filled(n)
			p.pass(t, p.client, p.server, body)
			p.pass(t, p.server, p.client, body)
			for _, chunk := range split(t, p.seal(t, p.server, 1, body)) {
				if len(chunk) > 8192 {
					t.Fatalf("a chunk of %d bytes", len(chunk))
				}
				if _, _, err := p.client.Open(chunk, p.now); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestKeySizes mixes the sizes of the keys (report S10): the second byte of the padding length depends
// on the receiver's.
func TestKeySizes(t *testing.T) {
	ids := map[string]*Identity{}
	for _, key := range []string{"rsa2048", "rsa3072", "rsa4096"} {
		ids[key] = identity(t, key, 0)
	}
	for _, policy := range secpol.Policies()[1:] {
		for client, c := range ids {
			for server, s := range ids {
				if policy.CheckKey(&c.Key.PublicKey) != nil || policy.CheckKey(&s.Key.PublicKey) != nil {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s-%s", policy.Name, client, server), func(t *testing.T) {
					p := opened(t, setup{policy: policy.Name, client: c, server: s})
					for _, n := range []int{1000, 1000000} {
						p.pass(t, p.client, p.server, filled(n))
						p.pass(t, p.server, p.client, filled(n))
					}
					p.renew(t, 0)
					p.pass(t, p.client, p.server, filled(10))
				})
			}
		}
	}
}

// TestSeveralInOneBuffer seals messages one behind the other, as the answers to one read are.
func TestSeveralInOneBuffer(t *testing.T) {
	p := opened(t, setup{policy: "Basic256Sha256"})
	var b []byte
	sizes := []int{5, 200000, 0, 70000}
	for i, n := range sizes {
		var at int
		b, at = p.server.Begin(b)
		var err error
		if b, err = p.server.Seal(append(b, filled(n)...), at, uacp.TypeMessage, uint32(i), p.now); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for _, chunk := range split(t, b) {
		m, complete, err := p.client.Open(chunk, p.now)
		if err != nil {
			t.Fatal(err)
		}
		if complete {
			if !bytes.Equal(m.Body, filled(len(m.Body))) || int(m.RequestID) != len(got) {
				t.Fatalf("message %d is damaged", m.RequestID)
			}
			got = append(got, len(m.Body))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(sizes) {
		t.Errorf("sizes %v, want %v", got, sizes)
	}
}

// TestTooLargeToSend finds that nothing is used up by a message that the peer does not allow, and
// that 0 is no limit (report C21).
func TestTooLargeToSend(t *testing.T) {
	p := opened(t, setup{policy: "Basic256Sha256"})
	p.server.limits.SendMessage, p.server.limits.SendChunks = 100000, 0
	p.client.limits.SendMessage, p.client.limits.SendChunks = 0, 2
	for _, c := range []struct {
		from   *Conversation
		status ua.StatusCode
	}{{p.server, ua.BadResponseTooLarge}, {p.client, ua.BadRequestTooLarge}} {
		b, at := c.from.Begin([]byte("before"))
		before := c.from.out.sequence
		_, err := c.from.Seal(append(b, filled(150000)...), at, uacp.TypeMessage, 1, p.now)
		wantStatus(t, err, c.status)
		if c.from.out.sequence != before {
			t.Error("a sequence number was used up")
		}
	}
	p.pass(t, p.server, p.client, filled(100000))
	p.pass(t, p.client, p.server, filled(100000))
	p.server.limits.SendMessage, p.client.limits.SendChunks = 0, 0
	p.client.maxBody.Store(0)
	p.server.maxBody.Store(0)
	p.pass(t, p.server, p.client, filled(20<<20))
	p.pass(t, p.client, p.server, filled(20<<20))
}

// TestTooLargeToReceive finds that a server gives up, and that a client drops the answer and goes on
// (report C22).
func TestTooLargeToReceive(t *testing.T) {
	for name, limits := range map[string]uacp.Limits{"bytes": {MaxMessageSize: 100000}, "chunks": {MaxChunkCount: 2}} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, setup{policy: "Basic256Sha256", limits: limits})
			for _, c := range []*Conversation{p.client, p.server} {
				c.limits.SendMessage, c.limits.SendChunks = 0, 0
			}
			m := p.open(t, p.client, p.seal(t, p.server, 3, filled(300000)))
			wantStatus(t, m.Err, ua.BadResponseTooLarge)
			if m.RequestID != 3 || m.Body != nil {
				t.Errorf("%+v", m)
			}
			p.pass(t, p.server, p.client, filled(90000))
			var err error
			for _, chunk := range split(t, p.seal(t, p.client, 4, filled(300000))) {
				if _, _, err = p.server.Open(chunk, p.now); err != nil {
					break
				}
			}
			wantStatus(t, err, ua.BadTcpMessageTooLarge)
		})
	}
	p := opened(t, setup{policy: "None", limits: uacp.Limits{MaxMessageSize: 1000}})
	p.server.limits.SendMessage = 0
	m := p.open(t, p.client, p.seal(t, p.server, 3, filled(3000)))
	wantStatus(t, m.Err, ua.BadResponseTooLarge)
}

// TestAbort lets a request fail with the status and the reason of an abort chunk, first in the
// message or not, and the channel live (report C23).
func TestAbort(t *testing.T) {
	p := opened(t, setup{policy: "Basic256Sha256"})
	first := split(t, p.seal(t, p.server, 9, filled(100000)))
	p.client.Open(first[0], p.now)
	// The rest was never sent: its sequence number is free for the abort chunk.
	p.server.out.sequence.last -= uint32(len(first) - 1)
	for range 2 {
		b, err := p.server.SealAbort(nil, 9, &uacp.Error{Status: ua.BadResponseTooLarge, Reason: "why"}, p.now)
		if err != nil {
			t.Fatal(err)
		}
		m := p.open(t, p.client, b)
		wantStatus(t, m.Err, ua.BadResponseTooLarge)
		if e := m.Err.(*uacp.Error); !e.Remote || e.Reason != "why" || m.RequestID != 9 {
			t.Errorf("%+v", m)
		}
		if _, ok := p.client.Unfinished(); ok {
			t.Error("still unfinished")
		}
		p.pass(t, p.server, p.client, filled(100000))
	}
}

// TestInterleaved refuses a chunk of another message among those of one: Part 6, 6.7.3 has the chunks
// of a message one after the other. A renewal may come in between.
func TestInterleaved(t *testing.T) {
	p := opened(t, setup{policy: "None"})
	chunks := split(t, p.seal(t, p.client, 1, filled(100000)))
	if _, complete, err := p.server.Open(chunks[0], p.now); complete || err != nil {
		t.Fatal(complete, err)
	}
	p.client.out.sequence.last--
	p.renew(t, 0)
	other := p.seal(t, p.client, 2, filled(10))
	_, _, err := p.server.Open(other, p.now)
	wantStatus(t, err, ua.BadTcpMessageTypeInvalid)
}

// TestBudget bounds what all conversations together assemble, and keeps half of it for peers that are
// trusted.
func TestBudget(t *testing.T) {
	budget := NewBudget(1 << 20)
	part := func(t *testing.T, trusted bool) (*pair, error) {
		p := opened(t, setup{policy: "None", budget: budget})
		p.server.SetTrusted(trusted, 0)
		var err error
		for _, chunk := range split(t, p.seal(t, p.client, 1, filled(300000)))[:4] {
			if _, _, err = p.server.Open(chunk, p.now); err != nil {
				break
			}
		}
		return p, err
	}
	var pairs []*pair
	var err error
	for range 10 {
		var p *pair
		p, err = part(t, false)
		pairs = append(pairs, p)
		if err != nil {
			break
		}
	}
	wantStatus(t, err, ua.BadTcpNotEnoughResources)
	if used := budget.Used(); used > 1<<19 {
		t.Errorf("%d bytes used by strangers", used)
	}
	p, err := part(t, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(pairs, p) {
		p.server.Release()
	}
	if budget.Used() != 0 {
		t.Errorf("%d bytes left over", budget.Used())
	}
	// A message handed out is given back with the next chunk.
	p = opened(t, setup{policy: "None", budget: budget})
	p.pass(t, p.client, p.server, filled(200000))
	p.pass(t, p.client, p.server, filled(10))
	if budget.Used() != 0 {
		t.Errorf("%d bytes left over", budget.Used())
	}
}

// TestNoAllocation is the budget of the hot path: nothing is allocated to seal and open a message.
func TestNoAllocation(t *testing.T) {
	everyMode(t, func(t *testing.T, policy string, mode ua.MessageSecurityMode) {
		p := opened(t, setup{policy: policy, mode: mode})
		for _, size := range []int{200, 50000, 200000} {
			body := filled(size)
			var b []byte
			work := func() {
				for _, way := range [][2]*Conversation{{p.client, p.server}, {p.server, p.client}} {
					var at int
					var err error
					b, at = way[0].Begin(b[:0])
					if b, err = way[0].Seal(append(b, body...), at, uacp.TypeMessage, 1, p.now); err != nil {
						t.Fatal(err)
					}
					for rest := b; len(rest) > 0; {
						h, _ := uacp.ParseHeader(rest)
						if _, _, err := way[1].Open(rest[:h.Size], p.now); err != nil {
							t.Fatal(err)
						}
						rest = rest[h.Size:]
					}
				}
			}
			work()
			// The pool of buffers may be emptied by a collection in between.
			if n := testing.AllocsPerRun(20, work); n >= 1 && !raceEnabled {
				t.Errorf("%d bytes: %v allocations", size, n)
			}
		}
	})
}

func BenchmarkSealOpen(b *testing.B) {
	for _, policy := range []string{"None", "Basic256Sha256", "Aes128_Sha256_RsaOaep"} {
		for _, size := range []int{200, 60000} {
			b.Run(fmt.Sprintf("%s/%d", policy, size), func(b *testing.B) {
				p := opened(b, setup{policy: policy})
				body := filled(size)
				var buf []byte
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					var at int
					buf, at = p.client.Begin(buf[:0])
					buf, _ = p.client.Seal(append(buf, body...), at, uacp.TypeMessage, 1, p.now)
					if _, _, err := p.server.Open(buf, p.now); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
