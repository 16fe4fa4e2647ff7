package uasc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/uabin"
)

// recordedChunk is a line of a recording: a chunk as it crossed the wire between two .NET programs.
type recordedChunk struct {
	Conn           int
	Dir, Kind, Hex string
}

func readRecording(t *testing.T, file string) map[int][]recordedChunk {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]recordedChunk{}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		var c recordedChunk
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out[c.Conn] = append(out[c.Conn], c)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func readIdentity(t *testing.T, certificate, key string) *Identity {
	t.Helper()
	var der [2][]byte
	for i, name := range []string{certificate, key} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		der[i] = block.Bytes
	}
	k, err := x509.ParsePKCS8PrivateKey(der[1])
	if err != nil {
		t.Fatal(err)
	}
	return &Identity{Chain: [][]byte{der[0]}, Key: k.(*rsa.PrivateKey)}
}

// replay is one recorded conversation, opened by our code in the place of both programs.
type replay struct {
	client, server *Identity
	c, s           *Conversation // what the client, and the server, receives
	opening        *Opening
	nonce          []byte // the session's last
	summary        map[string]int
}

func newReplay(client, server *Identity) *replay {
	return &replay{client: client, server: server, summary: map[string]int{}}
}

func (r *replay) hello(t *testing.T, chunk []byte) {
	var h uacp.Hello
	if err := h.Decode(chunk[uacp.HeaderSize:]); err != nil {
		t.Fatal(err)
	}
	_, n := uacp.Accept(&h, uacp.Limits{MaxMessageSize: 64 << 20})
	r.s, _ = New(Config{Side: Server, Limits: n, Identity: r.server})
	r.s.weakKeys = true // the recorded keys have 1024 bits
}

func (r *replay) open(t *testing.T, chunk []byte) {
	var err error
	if r.opening, err = r.s.ReceiveOpen(chunk, start); err != nil {
		t.Fatalf("the client's OpenSecureChannel: %v", err)
	}
	o := r.opening
	// The client's half, in the state after its request.
	r.c = &Conversation{
		side: Client, limits: r.s.limits, identity: r.client,
		policy: o.Policy, mode: o.Mode, peerChain: r.server.Chain, weakKeys: true,
		pending: &pendingOpen{requestID: o.RequestID, nonce: o.nonce, lifetime: o.Lifetime},
	}
	r.c.in.sequence.legacy, r.c.out.sequence.legacy = true, true
	if !o.Policy.IsNone() {
		r.c.peerKey = &r.server.Key.PublicKey
	}
}

// opened lets the client take the recorded answer, and gives the server the same token with the keys
// of the two directions exchanged.
func (r *replay) opened(t *testing.T, chunk []byte) {
	if err := r.c.CompleteOpen(chunk, start); err != nil {
		t.Fatalf("the server's answer: %v", err)
	}
	token := *r.c.out.token
	var response ua.OpenSecureChannelResponse
	h, _ := ParseAsymmetricHeader(chunk)
	plain, err := r.opening.Policy.AsymDecrypt(r.client.Key, nil, chunk[h.Size:])
	if err != nil {
		t.Fatal(err)
	}
	if err := decode(plain[sequenceHeader:], &response); err != nil {
		t.Fatal(err)
	}
	p := r.opening.Policy
	token.send = p.DeriveKeys(r.opening.nonce, response.ServerNonce)
	token.receive = p.DeriveKeys(response.ServerNonce, r.opening.nonce)
	r.s.policy, r.s.mode, r.s.channelID = p, r.opening.Mode, r.c.channelID
	r.s.install(&token, start)
}

// message opens a chunk at its receiver, seals the body again with the sender's half, and decodes it.
func (r *replay) message(t *testing.T, chunk []byte, fromClient bool) {
	from, to := r.s, r.c
	if fromClient {
		from, to = to, from
	}
	sent := bytes.Clone(chunk)
	h, _ := uacp.ParseHeader(chunk)
	m, complete, err := to.Open(chunk, start)
	if err != nil {
		t.Fatalf("%v chunk, from client %v: %v", h.Type, fromClient, err)
	}
	if !complete {
		r.summary["unfinished chunks"]++
		return
	}
	r.decode(t, m.Body)
	if h.Chunk == uacp.Final && len(m.Body) < len(sent) {
		from.out.sequence.take(to.in.sequence.last - 1)
		b, at := from.Begin(nil)
		b, err = from.Seal(append(b, m.Body...), at, h.Type, m.RequestID, start)
		if err != nil || !bytes.Equal(b, sent) {
			t.Fatalf("the %v of %d bytes is sealed to other bytes again (%v)", h.Type, len(sent), err)
		}
	}
}

// decode reads a body with package ua, to its end, and opens the user's secret in it.
func (r *replay) decode(t *testing.T, body []byte) {
	in := uabin.NewReader(body)
	var id ua.NodeID
	id.DecodeBinary(in)
	info := ua.StructureOfEncoding(id.Numeric())
	if info == nil {
		t.Fatalf("no structure has the encoding %v", id)
	}
	v := info.New()
	v.DecodeBinary(in)
	if !in.OK() || in.Remaining() != 0 {
		t.Fatalf("%s: %v, %d bytes left over", info.Name, in.Err(), in.Remaining())
	}
	r.summary["messages"]++
	switch m := v.(type) {
	case *ua.CreateSessionResponse:
		r.nonce = m.ServerNonce
	case *ua.ActivateSessionResponse:
		if m.ServerNonce != nil {
			r.nonce = m.ServerNonce
		}
	case *ua.ActivateSessionRequest:
		if token, ok := m.UserIdentityToken.Value.(*ua.UserNameIdentityToken); ok {
			r.secret(t, token)
		}
	}
}

func (r *replay) secret(t *testing.T, token *ua.UserNameIdentityToken) {
	if r.nonce == nil {
		return // it was in an answer that was left out
	}
	for _, p := range secpol.Policies()[1:] {
		if p.AsymmetricEncryptionURI != token.EncryptionAlgorithm {
			continue
		}
		secret, err := p.DecryptSecret(r.server.Key, token.Password, r.nonce)
		if err != nil {
			t.Errorf("the password of %s under %s: %v", token.UserName, p.Name, err)
		}
		r.summary[fmt.Sprintf("%s has password %q", token.UserName, secret)]++
		return
	}
	r.summary["secret of another kind: "+token.EncryptionAlgorithm]++
}

// TestReplayRecorded opens recorded conversations of every RSA policy and mode with their keys: both
// OpenSecureChannel chunks, every later chunk both ways, every body, and the user's secrets.
func TestReplayRecorded(t *testing.T) {
	dir := "testdata/recorded/"
	replayAll(t, dir+"conversations.jsonl.gz",
		readIdentity(t, dir+"client.crt.pem", dir+"client.key.pem"),
		readIdentity(t, dir+"server.crt.pem", dir+"server.key.pem"))
}

// TestReplayShared does so with all of the recordings, which are not part of this repository.
func TestReplayShared(t *testing.T) {
	shared := os.Getenv("ACTUA_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	dir := filepath.Join(shared, "peers/opcua/secured")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings (ACTUA_SHARED): %v", err)
	}
	replayAll(t, filepath.Join(dir, "all-policies.jsonl.gz"),
		readIdentity(t, filepath.Join(dir, "keys/client-RSA.crt.pem"), filepath.Join(dir, "keys/client-RSA.key.pem")),
		readIdentity(t, filepath.Join(dir, "keys/server-RSA.crt.pem"), filepath.Join(dir, "keys/server-RSA.key.pem")))
}

func replayAll(t *testing.T, file string, client, server *Identity) {
	conversations := readRecording(t, file)
	skipped, done := map[string]int{}, map[string]int{}
	var ids []int
	for id := range conversations {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	for _, id := range ids {
		policy := policyOf(t, conversations[id])
		if _, err := secpol.ByURI(policy); err != nil {
			skipped[strings.TrimPrefix(policy, secpol.URIPrefix)]++
			continue
		}
		t.Run(fmt.Sprintf("%d", id), func(t *testing.T) {
			r := newReplay(client, server)
			r.run(t, conversations[id])
			name := fmt.Sprintf("%s/%v", r.opening.Policy.Name, r.opening.Mode)
			done[name]++
			t.Log(name, r.summary)
		})
	}
	t.Logf("opened %v", done)
	if len(skipped) > 0 {
		t.Logf("policies that are not supported yet: %v", skipped)
	}
	if len(done) != 11 {
		t.Errorf("%d policies and modes, want 11", len(done))
	}
}

func policyOf(t *testing.T, chunks []recordedChunk) string {
	for _, c := range chunks {
		if c.Kind == "OPNF" {
			b, _ := hex.DecodeString(c.Hex)
			h, err := ParseAsymmetricHeader(b)
			if err != nil {
				t.Fatal(err)
			}
			return h.PolicyURI
		}
	}
	t.Fatal("no OpenSecureChannel")
	return ""
}

func (r *replay) run(t *testing.T, chunks []recordedChunk) {
	for _, c := range chunks {
		chunk, err := hex.DecodeString(c.Hex)
		if err != nil {
			t.Fatal(err)
		}
		fromClient := c.Dir == "c>s"
		switch c.Kind[:3] {
		case "lef": // one long answer was left out of the recording
			r.c.in.sequence.last++
			r.nonce = nil
		case "HEL":
			r.hello(t, chunk)
		case "ACK":
		case "OPN":
			if fromClient {
				r.open(t, chunk)
			} else {
				r.opened(t, chunk)
			}
		default:
			r.message(t, chunk, fromClient)
		}
	}
}
