package uasc

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// script plays a transcript. Lines that begin with "> " are commands; what they lead to stands below
// them, indented. The wire of each direction is a queue of chunks. Commands:
//
//	setup POLICY MODE [buffer=N] [message=N] [chunks=N]   both sides, after Hello; life is 100 s
//	at DURATION                 sets the clock, from the beginning of the test
//	renew | grant | complete    the client asks for a token, the server answers, the client takes it
//	open                        the three of them
//	SIDE sends ID SIZE          a message of SIZE bytes
//	SIDE aborts ID STATUS
//	SIDE reads [N]              takes the next N chunks, 1 if not said, from the wire
//	SIDE number N               sets the last sequence number of both ends of what SIDE sends
//	drop|repeat|swap SIDE       does so with the first chunk that SIDE has sent
type script struct {
	t    *testing.T
	p    *pair
	wire map[Side][][]byte
	out  *strings.Builder
}

func TestTranscripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{t: t, out: new(strings.Builder)}
			for line := range strings.Lines(string(text)) {
				switch {
				case strings.HasPrefix(line, "> "):
					s.out.WriteString(line)
					s.do(strings.Fields(line[2:]))
				case !strings.HasPrefix(line, "  "):
					s.out.WriteString(line)
				}
			}
			got := s.out.String()
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s has changed (-update rewrites it):\n%s", file, got)
			}
		})
	}
}

func (s *script) say(format string, args ...any) { fmt.Fprintf(s.out, "  "+format+"\n", args...) }

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *script) do(words []string) {
	switch words[0] {
	case "setup":
		s.setup(words[1:])
	case "at":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.p.now = start.Add(d)
	case "open":
		s.do([]string{"renew"})
		s.do([]string{"grant"})
		s.do([]string{"complete"})
	case "renew":
		s.put(Client, s.p.request(s.t, 100*time.Second))
	case "grant":
		o, err := s.p.server.ReceiveOpen(s.take(Client), s.p.now)
		if err != nil {
			s.say("server: %v", err)
			return
		}
		b, err := s.p.server.AnswerOpen(nil, o, Grant{ChannelID: 5, MaxLifetime: time.Hour}, s.p.now)
		if err != nil {
			s.t.Fatal(err)
		}
		s.put(Server, b)
	case "complete":
		if err := s.p.client.CompleteOpen(s.take(Server), s.p.now); err != nil {
			s.say("client: %v", err)
			return
		}
		s.say("client: token %d, to be renewed at %v, dead at %v", s.p.client.out.token.id, s.p.client.Renewal().Sub(start), s.p.client.Dies().Sub(start))
	case "drop", "repeat", "swap":
		side := sideOf(words[1])
		w := s.wire[side]
		switch words[0] {
		case "drop":
			s.wire[side] = w[1:]
		case "repeat":
			s.wire[side] = append([][]byte{bytes.Clone(w[0])}, w...)
		case "swap":
			w[0], w[1] = w[1], w[0]
		}
	default:
		s.side(sideOf(words[0]), words[1:])
	}
}

func sideOf(word string) Side {
	if word == "client" {
		return Client
	}
	return Server
}

func (s *script) setup(words []string) {
	c := setup{policy: words[0]}
	for mode := ua.MessageSecurityModeNone; mode <= ua.MessageSecurityModeSignAndEncrypt; mode++ {
		if mode.String() == words[1] {
			c.mode = mode
		}
	}
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		n := uint32(s.number(value))
		switch name {
		case "buffer":
			c.limits.ReceiveBufferSize, c.limits.SendBufferSize = n, n
		case "message":
			c.limits.MaxMessageSize = n
		case "chunks":
			c.limits.MaxChunkCount = n
		}
	}
	s.p, s.wire = unopened(s.t, c), map[Side][][]byte{}
}

// put puts what a side sends on the wire, and says what can be seen of it.
func (s *script) put(from Side, b []byte) {
	c := s.conversation(from)
	for _, chunk := range split(s.t, b) {
		h, _ := uacp.ParseHeader(chunk)
		if h.Type == uacp.TypeOpen {
			s.say("%v: OPN", from)
		} else {
			s.say("%v: %v%c of %d bytes under token %d", from, h.Type, h.Chunk, h.Size, c.out.token.id)
		}
		s.wire[from] = append(s.wire[from], chunk)
	}
	s.say("%v: last sequence number %d", from, c.out.sequence.last)
}

// take takes the next chunk that a side has sent.
func (s *script) take(from Side) []byte {
	w := s.wire[from]
	if len(w) == 0 {
		s.t.Fatalf("nothing from the %v on the wire", from)
	}
	s.wire[from] = w[1:]
	return w[0]
}

func (s *script) conversation(side Side) *Conversation {
	if side == Client {
		return s.p.client
	}
	return s.p.server
}

func (s *script) side(side Side, words []string) {
	c, other := s.conversation(side), Server
	if side == Server {
		other = Client
	}
	switch words[0] {
	case "sends":
		b, at := c.Begin(nil)
		b, err := c.Seal(append(b, filled(s.number(words[2]))...), at, uacp.TypeMessage, uint32(s.number(words[1])), s.p.now)
		if err != nil {
			s.say("%v: %v", side, err)
			return
		}
		s.put(side, b)
	case "aborts":
		status, err := ua.ParseStatusCode(words[2])
		if err != nil {
			s.t.Fatal(err)
		}
		b, err := c.SealAbort(nil, uint32(s.number(words[1])), &uacp.Error{Status: status, Reason: "the script says so"}, s.p.now)
		if err != nil {
			s.t.Fatal(err)
		}
		s.put(side, b)
	case "number":
		n := uint32(s.number(words[1]))
		c.out.sequence.last, s.conversation(other).in.sequence.last = n, n
	case "reads":
		n := 1
		if len(words) > 1 {
			n = s.number(words[1])
		}
		for range n {
			s.read(side, c, s.take(other))
		}
	default:
		s.t.Fatalf("command %q", words)
	}
}

func (s *script) read(side Side, c *Conversation, chunk []byte) {
	m, complete, err := c.Open(chunk, s.p.now)
	switch {
	case err != nil:
		s.say("%v: the channel ends: %v", side, err)
	case !complete:
		s.say("%v: more is to come", side)
	case m.Err != nil:
		s.say("%v: request %d fails: %v", side, m.RequestID, m.Err)
	case !bytes.Equal(m.Body, filled(len(m.Body))):
		s.t.Errorf("request %d is damaged", m.RequestID)
	default:
		s.say("%v: message %d of %d bytes", side, m.RequestID, len(m.Body))
	}
}
