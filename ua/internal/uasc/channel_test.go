package uasc

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/uabin"
)

// bodyOf reads the request or answer inside an OpenSecureChannel chunk of policy None.
func bodyOf(t *testing.T, chunk []byte, m ua.Structure) {
	t.Helper()
	h, err := ParseAsymmetricHeader(chunk)
	if err != nil {
		t.Fatal(err)
	}
	if err := decode(chunk[h.Size+sequenceHeader:], m); err != nil {
		t.Fatal(err)
	}
}

// TestNoncesWithoutSecurity has the rules of reports S01 and S02.
func TestNoncesWithoutSecurity(t *testing.T) {
	p := unopened(t, setup{policy: "None"})
	chunk := p.request(t, time.Hour)
	var request ua.OpenSecureChannelRequest
	bodyOf(t, chunk, &request)
	if len(request.ClientNonce) == 0 {
		t.Error("S01: the client's nonce is empty")
	}
	answer := p.grant(t, chunk)
	var response ua.OpenSecureChannelResponse
	bodyOf(t, answer, &response)
	if response.ServerNonce != nil {
		t.Errorf("S02: the server's nonce is %x", response.ServerNonce)
	}
	// The same answer with 32 zeros, as other servers send it, and an empty nonce from the client.
	at := len(answer) - 4
	answer = uabin.AppendBytes(answer[:at:at], make([]byte, 32))
	binary.LittleEndian.PutUint32(answer[4:], uint32(len(answer)))
	p.complete(t, answer)
	q := unopened(t, setup{policy: "None"})
	chunk = q.request(t, time.Hour)
	chunk = append(uabin.AppendBytes(chunk[:len(chunk)-9:len(chunk)-9], nil), chunk[len(chunk)-4:]...)
	binary.LittleEndian.PutUint32(chunk[4:], uint32(len(chunk)))
	if _, err := q.server.ReceiveOpen(chunk, q.now); err != nil {
		t.Error(err)
	}
}

// TestThumbprints parses both headers: the thumbprint is that of the receiver's leaf, whatever stands
// behind it (reports S05, S06 and S07).
func TestThumbprints(t *testing.T) {
	for _, issuers := range [][2]int{{0, 0}, {2, 0}, {0, 2}, {2, 2}} {
		client, server := identity(t, "rsa2048", issuers[0]), identity(t, "rsa2048b", issuers[1])
		p := unopened(t, setup{policy: "Aes128_Sha256_RsaOaep", client: client, server: server})
		request := p.request(t, time.Hour)
		answer := p.grant(t, request)
		p.complete(t, answer)
		for i, chunk := range [][]byte{request, answer} {
			from, to := client, server
			if i == 1 {
				from, to = to, from
			}
			h, err := ParseAsymmetricHeader(chunk)
			want := sha1.Sum(to.Chain[0])
			if err != nil || !bytes.Equal(h.Thumbprint, want[:]) || !bytes.Equal(h.Certificate, bytes.Join(from.Chain, nil)) {
				t.Errorf("chains of %v, chunk %d: thumbprint %x, %v", issuers, i, h.Thumbprint, err)
			}
		}
		if n := len(p.server.PeerChain()); n != 1+issuers[0] {
			t.Errorf("the server has %d certificates of the client", n)
		}
	}
}

// forge changes a client before its request, and expects the server to refuse it.
func forge(t *testing.T, s setup, status ua.StatusCode, change func(p *pair)) {
	t.Helper()
	p := unopened(t, s)
	change(p)
	_, err := p.server.ReceiveOpen(p.request(t, time.Hour), p.now)
	wantStatus(t, err, status)
}

func TestOpenIsRefused(t *testing.T) {
	secured := setup{policy: "Basic256Sha256"}
	stranger := identity(t, "rsa3072", 0)
	weak := identity(t, "rsa3072", 0)
	t.Run("unknown policy", func(t *testing.T) {
		forge(t, setup{policy: "None"}, ua.BadSecurityPolicyRejected, func(p *pair) {
			unknown := *secpol.None
			unknown.URI = "http://opcfoundation.org/UA/SecurityPolicy#New"
			p.client.policy = &unknown
		})
	})
	t.Run("server without certificate", func(t *testing.T) {
		forge(t, secured, ua.BadSecurityPolicyRejected, func(p *pair) { p.server.identity = nil })
	})
	t.Run("thumbprint of another server", func(t *testing.T) {
		forge(t, secured, ua.BadCertificateInvalid, func(p *pair) { p.client.peerChain = stranger.Chain })
	})
	t.Run("key of another server", func(t *testing.T) {
		forge(t, secured, ua.BadSecurityChecksFailed, func(p *pair) { p.client.peerKey = &identity(t, "rsa2048", 0).Key.PublicKey })
	})
	t.Run("signed with another key", func(t *testing.T) {
		forge(t, secured, ua.BadSecurityChecksFailed, func(p *pair) {
			p.client.identity = &Identity{Chain: p.client.identity.Chain, Key: testKey(t, "rsa2048b")}
		})
	})
	t.Run("key too long for the policy", func(t *testing.T) {
		forge(t, setup{policy: "Basic256"}, ua.BadCertificatePolicyCheckFailed, func(p *pair) { p.client.identity = weak })
	})
	t.Run("no certificate", func(t *testing.T) {
		forge(t, secured, ua.BadCertificateInvalid, func(p *pair) {
			p.client.identity = &Identity{Chain: [][]byte{[]byte("no DER")}, Key: p.client.identity.Key}
		})
	})
	for name, mode := range map[string]ua.MessageSecurityMode{"invalid": 0, "unknown": 9, "None with a policy": ua.MessageSecurityModeNone} {
		t.Run("mode "+name, func(t *testing.T) {
			forge(t, secured, ua.BadSecurityModeRejected, func(p *pair) { p.client.mode = mode })
		})
	}
	t.Run("mode Sign without a policy", func(t *testing.T) {
		forge(t, setup{policy: "None"}, ua.BadSecurityModeRejected, func(p *pair) { p.client.mode = ua.MessageSecurityModeSign })
	})
	t.Run("short nonce", func(t *testing.T) {
		forge(t, secured, ua.BadNonceInvalid, func(p *pair) {
			short := *p.client.policy
			short.NonceLength = 8
			p.client.policy = &short
		})
	})
	t.Run("more RSA blocks than a request needs", func(t *testing.T) {
		forge(t, secured, ua.BadTcpMessageTooLarge, func(p *pair) {
			long := *p.client.policy
			long.NonceLength = 8 * 256
			p.client.policy = &long
		})
	})
	t.Run("renewal of nothing", func(t *testing.T) {
		forge(t, secured, ua.BadTcpSecureChannelUnknown, func(p *pair) { p.client.channelID = 5 })
	})
}

// TestRenewalIsRefused has renewals that differ from what was opened.
func TestRenewalIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status ua.StatusCode
		change func(p *pair)
	}{
		"other policy": {ua.BadSecurityChecksFailed, func(p *pair) { p.client.policy, _ = secpol.ByName("Aes256_Sha256_RsaPss") }},
		"other certificate": {ua.BadSecurityChecksFailed, func(p *pair) {
			p.client.identity = identity(t, "rsa3072", 0)
		}},
		"other mode":    {ua.BadSecurityModeRejected, func(p *pair) { p.client.mode = ua.MessageSecurityModeSign }},
		"other channel": {ua.BadTcpSecureChannelUnknown, func(p *pair) { p.client.channelID++ }},
		"replayed": {ua.BadSequenceNumberInvalid, func(p *pair) {
			p.client.out.sequence.last--
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, setup{policy: "Basic256Sha256"})
			p.pass(t, p.client, p.server, filled(3))
			c.change(p)
			_, err := p.server.ReceiveOpen(p.request(t, time.Hour), p.now)
			wantStatus(t, err, c.status)
		})
	}
	t.Run("issued again", func(t *testing.T) {
		p := opened(t, setup{policy: "None"})
		request := p.request(t, time.Hour)
		h, _ := ParseAsymmetricHeader(request)
		var m ua.OpenSecureChannelRequest
		bodyOf(t, request, &m)
		m.RequestType = ua.SecurityTokenRequestTypeIssue
		request = m.AppendBinary(m.BinaryID().NodeID.AppendBinary(request[:h.Size+sequenceHeader]))
		_, err := p.server.ReceiveOpen(request, p.now)
		wantStatus(t, err, ua.BadSecurityChecksFailed)
	})
}

// TestAnswerIsRefused has answers that a client must not believe.
func TestAnswerIsRefused(t *testing.T) {
	stranger := identity(t, "rsa3072", 0)
	for name, c := range map[string]struct {
		status ua.StatusCode
		change func(p *pair, o *Opening)
	}{
		"no thumbprint (S05)":     {ua.BadCertificateInvalid, func(p *pair, o *Opening) { o.Chain = [][]byte{{0}} }},
		"thumbprint of the chain": {ua.BadCertificateInvalid, func(p *pair, o *Opening) { o.Chain = [][]byte{append([]byte{1}, o.Chain[0]...)} }},
		"another certificate":     {ua.BadSecurityChecksFailed, func(p *pair, o *Opening) { p.server.identity = stranger }},
		"another policy":          {ua.BadSecurityPolicyRejected, func(p *pair, o *Opening) { o.Policy, _ = secpol.ByName("Aes256_Sha256_RsaPss") }},
		"another request":         {ua.BadUnknownResponse, func(p *pair, o *Opening) { o.RequestID++ }},
	} {
		t.Run(name, func(t *testing.T) {
			p := unopened(t, setup{policy: "Basic256Sha256"})
			o, err := p.server.ReceiveOpen(p.request(t, time.Hour), p.now)
			if err != nil {
				t.Fatal(err)
			}
			c.change(p, o)
			answer, err := p.server.AnswerOpen(nil, o, Grant{ChannelID: 1, MaxLifetime: time.Hour}, p.now)
			if err != nil {
				t.Fatal(err)
			}
			wantStatus(t, p.client.CompleteOpen(answer, p.now), c.status)
		})
	}
	t.Run("unasked", func(t *testing.T) {
		p := opened(t, setup{policy: "None"})
		q := opened(t, setup{policy: "None"})
		wantStatus(t, p.client.CompleteOpen(q.grant(t, q.request(t, 0)), p.now), ua.BadTcpMessageTypeInvalid)
	})
	t.Run("fault", func(t *testing.T) {
		p := unopened(t, setup{policy: "None"})
		request := p.request(t, time.Hour)
		o, err := p.server.ReceiveOpen(request, p.now)
		if err != nil {
			t.Fatal(err)
		}
		p.server.policy, p.server.channelID = o.Policy, 3
		fault := ua.ServiceFault{ResponseHeader: ua.ResponseHeader{ServiceResult: ua.BadSecurityPolicyRejected}}
		answer, err := p.server.sealOpen(nil, o.RequestID, func(b []byte) []byte {
			return fault.AppendBinary(fault.BinaryID().NodeID.AppendBinary(b))
		})
		if err != nil {
			t.Fatal(err)
		}
		err = p.client.CompleteOpen(answer, p.now)
		wantStatus(t, err, ua.BadSecurityPolicyRejected)
		if !err.(*uacp.Error).Remote {
			t.Error(err)
		}
	})
}

// TestClientConfiguration has what a client can get wrong before it says a word (report S28).
func TestClientConfiguration(t *testing.T) {
	id := identity(t, "rsa2048", 0)
	policy, _ := secpol.ByName("Basic256Sha256")
	for name, c := range map[string]struct {
		cfg    Config
		status ua.StatusCode
	}{
		"no server certificate": {Config{Policy: policy, Mode: ua.MessageSecurityModeSign, Identity: id}, ua.BadCertificateInvalid},
		"bad certificate":       {Config{Policy: policy, Mode: ua.MessageSecurityModeSign, Identity: id, ServerChain: [][]byte{{1, 2}}}, ua.BadCertificateInvalid},
		"no certificate":        {Config{Policy: policy, Mode: ua.MessageSecurityModeSign, ServerChain: id.Chain}, ua.BadSecurityPolicyRejected},
		"no mode":               {Config{Policy: policy, Identity: id, ServerChain: id.Chain}, ua.BadSecurityModeRejected},
	} {
		c.cfg.Side = Client
		if _, err := New(c.cfg); ua.StatusOf(err) != c.status {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTamperedChunks flips every bit of a byte in every place of a secured chunk, both ways.
func TestTamperedChunks(t *testing.T) {
	everyMode(t, func(t *testing.T, policy string, mode ua.MessageSecurityMode) {
		if policy == "None" {
			t.Skip("nothing is signed")
		}
		p := opened(t, setup{policy: policy, mode: mode})
		sealed := p.seal(t, p.client, 3, filled(40))
		for i := range sealed {
			bad := bytes.Clone(sealed)
			bad[i] ^= 0x55
			if _, _, err := p.server.Open(bad, p.now); err == nil {
				t.Fatalf("byte %d changed and opened", i)
			}
		}
		for n := range sealed {
			cut := bytes.Clone(sealed[:n])
			if n >= uacp.HeaderSize {
				binary.LittleEndian.PutUint32(cut[4:], uint32(n))
			}
			if _, _, err := p.server.Open(cut, p.now); err == nil {
				t.Fatalf("cut to %d bytes and opened", n)
			}
		}
		if m := p.open(t, p.server, sealed); m.RequestID != 3 {
			t.Error("the true chunk does not open any more")
		}
	})
}

// TestTamperedOpen does the same with OpenSecureChannel chunks.
func TestTamperedOpen(t *testing.T) {
	for _, policy := range []string{"None", "Basic128Rsa15", "Basic256Sha256"} {
		p := unopened(t, setup{policy: policy})
		request := p.request(t, time.Hour)
		for i := 0; i < len(request); i += 13 {
			bad := bytes.Clone(request)
			bad[i] ^= 0x55
			p.server.in.sequence = sequence{legacy: true}
			if _, err := p.server.ReceiveOpen(bad, p.now); err == nil && policy != "None" {
				t.Errorf("%s: byte %d changed and opened", policy, i)
			}
			p.server.ReceiveOpen(request[:i], p.now)
		}
	}
}
