package uasc

import (
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// TestRenewalMatrix walks through all orders in which the chunks of a renewal can meet the messages
// under the old and the new token (reports S11 and S12), without security and with.
func TestRenewalMatrix(t *testing.T) {
	const life = 100 * time.Second
	steps := map[string]func(t *testing.T, p *pair){
		"server answers under the old token until the client uses the new one": func(t *testing.T, p *pair) {
			old := p.server.out.token
			p.renew(t, life)
			p.pass(t, p.server, p.client, filled(10))
			if p.server.out.token != old {
				t.Error("the server has changed too early")
			}
			p.pass(t, p.client, p.server, filled(10))
			p.pass(t, p.server, p.client, filled(10))
			if p.server.out.token == old {
				t.Error("the server has not changed")
			}
		},
		"request on its way before the grant": func(t *testing.T, p *pair) {
			request := p.request(t, life)
			early := p.seal(t, p.client, 100, filled(10))
			answer := p.grant(t, request)
			p.open(t, p.server, early)
			p.complete(t, answer)
			p.pass(t, p.client, p.server, filled(10))
		},
		"answer in flight when the client has changed": func(t *testing.T, p *pair) {
			p.open(t, p.server, p.seal(t, p.client, 100, filled(10)))
			answer := p.grant(t, p.request(t, life))
			late := p.seal(t, p.server, 100, filled(200000))
			p.complete(t, answer)
			next := p.seal(t, p.client, 101, filled(10))
			p.open(t, p.client, late)
			p.open(t, p.server, next)
		},
		"message of several chunks across the renewal": func(t *testing.T, p *pair) {
			answer := p.grant(t, p.request(t, life))
			chunks := split(t, p.seal(t, p.server, 100, filled(200000)))
			p.complete(t, answer)
			for _, chunk := range chunks {
				if _, _, err := p.client.Open(chunk, p.now); err != nil {
					t.Fatal(err)
				}
			}
		},
		"server uses the new token, and answers what was asked under the old one": func(t *testing.T, p *pair) {
			old := p.server.out.token
			p.open(t, p.server, p.seal(t, p.client, 100, filled(10)))
			p.renew(t, life)
			p.pass(t, p.client, p.server, filled(10))
			p.pass(t, p.server, p.client, filled(10))
			// A server that keeps the token of each request for its answer.
			current := p.server.out.token
			p.server.out.token, p.server.out.latest = old, old
			p.now = p.now.Add(10 * life)
			p.open(t, p.client, p.seal(t, p.server, 100, filled(10)))
			// But nothing else under it.
			sealed := p.seal(t, p.server, 2000, filled(10))
			_, _, err := p.client.Open(sealed, p.now)
			wantStatus(t, err, ua.BadSecureChannelTokenUnknown)
			p.server.out.token, p.server.out.latest = current, current
		},
		"client goes back to the old token": func(t *testing.T, p *pair) {
			old := p.client.out.token
			p.renew(t, life)
			p.pass(t, p.client, p.server, filled(10))
			p.client.out.token = old
			_, _, err := p.server.Open(p.seal(t, p.client, 100, filled(10)), p.now)
			wantStatus(t, err, ua.BadSecureChannelTokenUnknown)
		},
		"server changes when the old token expires": func(t *testing.T, p *pair) {
			p.now = p.now.Add(life * 3 / 4)
			p.renew(t, life)
			p.pass(t, p.server, p.client, filled(10))
			p.now = p.now.Add(life / 4)
			p.pass(t, p.server, p.client, filled(10))
			if p.server.out.token != p.server.out.latest {
				t.Error("the server has not changed")
			}
			// The client had sent something under the token before the last one it used.
			p.pass(t, p.client, p.server, filled(10))
		},
		"old token until 125 %": func(t *testing.T, p *pair) {
			stale := func(c *Conversation) *token { return c.in.tokens[0] }
			p.now = p.now.Add(life * 3 / 4)
			p.grant(t, p.request(t, life)) // the answer is lost: the client goes on with the old one
			p.now = start.Add(life * 5 / 4)
			p.pass(t, p.client, p.server, filled(10))
			if stale(p.server).retired {
				t.Error("retired though it is used")
			}
			p.now = p.now.Add(1)
			_, _, err := p.server.Open(p.seal(t, p.client, 100, filled(10)), p.now)
			wantStatus(t, err, ua.BadSecureChannelTokenUnknown)
		},
		"client takes nothing under a dead token": func(t *testing.T, p *pair) {
			p.now = start.Add(life*5/4 + 1)
			_, _, err := p.client.Open(p.seal(t, p.server, 100, filled(10)), p.now)
			wantStatus(t, err, ua.BadSecureChannelTokenUnknown)
		},
		"renewed twice without a message": func(t *testing.T, p *pair) {
			p.renew(t, life)
			second := p.client.out.token
			answer := p.grant(t, p.request(t, life))
			// Sealed before the answer arrived, under a token that the server has not seen used.
			p.open(t, p.server, p.seal(t, p.client, 100, filled(10)))
			if p.server.activated.Load().id != second.id {
				t.Error("another token is in use")
			}
			p.complete(t, answer)
			p.pass(t, p.client, p.server, filled(10))
			p.pass(t, p.server, p.client, filled(10))
		},
		"renewed many times": func(t *testing.T, p *pair) {
			for range 20 {
				p.now = p.now.Add(life * 3 / 4)
				p.renew(t, life)
			}
			if n := len(p.server.in.tokens); n > maxTokens {
				t.Errorf("%d tokens", n)
			}
			p.pass(t, p.client, p.server, filled(10))
			p.pass(t, p.server, p.client, filled(10))
		},
	}
	for name, step := range steps {
		for _, policy := range []string{"None", "Basic256Sha256"} {
			t.Run(policy+"/"+name, func(t *testing.T) {
				p := opened(t, setup{policy: policy, lifetime: life})
				p.lastID = 1000
				p.pass(t, p.client, p.server, filled(10))
				p.pass(t, p.server, p.client, filled(10))
				p.lastID = 50
				step(t, p)
			})
		}
	}
}

// TestSequenceOverRenewals finds that numbers go on over ten renewals both ways (report S14): each
// Open and each renewal checks.
func TestSequenceOverRenewals(t *testing.T) {
	p := opened(t, setup{policy: "Basic256Sha256"})
	for i := range uint32(10) {
		for _, c := range []*Conversation{p.client, p.server} {
			if want := 1 + 2*i; c.out.sequence.last != want {
				t.Errorf("%v: number %d after %d renewals, want %d", c.side, c.out.sequence.last, i, want)
			}
		}
		p.pass(t, p.client, p.server, filled(10))
		p.pass(t, p.server, p.client, filled(10))
		p.renew(t, time.Hour)
	}
}

// TestRestartedSequence is a server that begins to count anew at a renewal (report S14).
func TestRestartedSequence(t *testing.T) {
	p := opened(t, setup{policy: "None"})
	p.pass(t, p.server, p.client, filled(10))
	request := p.request(t, time.Hour)
	p.server.out.sequence.last = 0
	wantStatus(t, p.client.CompleteOpen(p.grant(t, request), p.now), ua.BadSequenceNumberInvalid)
}

// TestOwnClock has servers whose clock is hours off (report S19).
func TestOwnClock(t *testing.T) {
	for _, off := range []time.Duration{-5 * time.Hour, 5 * time.Hour} {
		p := unopened(t, setup{policy: "None"})
		request := p.request(t, 4*time.Second)
		p.now = start.Add(off)
		answer := p.grant(t, request)
		p.now = start
		p.complete(t, answer)
		if got := p.client.Renewal(); !got.Equal(start.Add(3 * time.Second)) {
			t.Errorf("renewal at %v", got)
		}
		if got := p.client.Dies(); !got.Equal(start.Add(5 * time.Second)) {
			t.Errorf("end at %v", got)
		}
	}
}

func TestLifetimeIsRevised(t *testing.T) {
	g := Grant{MinLifetime: time.Minute, MaxLifetime: time.Hour}
	for asked, want := range map[time.Duration]time.Duration{0: time.Hour, time.Second: time.Minute, time.Minute * 2: 2 * time.Minute, 24 * time.Hour: time.Hour} {
		if got := revise(asked, g); got != want {
			t.Errorf("%v becomes %v", asked, got)
		}
	}
}

// TestReplay sends chunks again, leaves one out and swaps two (report S15), secured and not.
func TestReplay(t *testing.T) {
	for _, policy := range []string{"None", "Basic256Sha256"} {
		for name, order := range map[string][]int{"again": {0, 0}, "later": {0, 1, 0}, "skipped": {0, 2}, "swapped": {1, 0}} {
			for _, toServer := range []bool{true, false} {
				p := opened(t, setup{policy: policy})
				from, to := p.server, p.client
				if toServer {
					from, to = to, from
				}
				var chunks [][]byte
				for i := range 3 {
					chunks = append(chunks, p.seal(t, from, uint32(10+i), filled(20)))
				}
				var err error
				for _, i := range order {
					if _, _, err = to.Open(append([]byte(nil), chunks[i]...), p.now); err != nil {
						break
					}
				}
				if ua.StatusOf(err) != ua.BadSequenceNumberInvalid {
					t.Errorf("%s, %s, to server %v: %v", policy, name, toServer, err)
				}
			}
		}
	}
}
