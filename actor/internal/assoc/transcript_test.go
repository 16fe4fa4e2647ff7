package assoc

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// TestTranscripts runs the files in testdata: lines with "> " are commands, the others what comes of them. A file named conn-... is
// about one Conn, remote-... about one Remote; both go on from command to command.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d transcripts, %v", len(names), err)
	}
	for _, file := range names {
		t.Run(filepath.Base(file), func(t *testing.T) {
			was, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			do := (*stage).address
			if strings.HasPrefix(filepath.Base(file), "conn-") {
				do = (*stage).conn
			}
			got := perform(t, do, string(was))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(was) {
				t.Errorf("the transcript is another one:\n%s", diff(string(was), got))
			}
		})
	}
}

// perform does the commands of a transcript and is the transcript as it comes out.
func perform(t *testing.T, do func(*stage, []string), text string) string {
	t.Helper()
	s := &stage{t: t, set: defaultSettings()}
	var got strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch cmd, is := strings.CutPrefix(line, "> "); {
		case is:
			s.out.Reset()
			s.do(cmd, do)
			got.WriteString(line + "\n" + s.out.String())
		case line == "" || line[0] == '#':
			got.WriteString(line + "\n")
		}
	}
	return got.String()
}

// playConn and play compare a transcript that stands in a test, and that no flag rewrites.
func playConn(t *testing.T, text string) {
	t.Helper()
	text = strings.TrimPrefix(text, "\n")
	if got := perform(t, (*stage).conn, text); got != text {
		t.Error(diff(text, got))
	}
}

func play(t *testing.T, text string) {
	t.Helper()
	text = strings.TrimPrefix(text, "\n")
	if got := perform(t, (*stage).address, text); got != text {
		t.Error(diff(text, got))
	}
}

// diff shows the first line that differs, with what is before it.
func diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range g {
		if i >= len(w) || w[i] != g[i] {
			before := strings.Join(g[max(0, i-6):i], "\n")
			expected := "(nothing)"
			if i < len(w) {
				expected = w[i]
			}
			return fmt.Sprintf("%s\nline %d: want %q, got %q", before, i+1, expected, g[i])
		}
	}
	return "lines are missing at the end"
}

// stage is where a transcript plays.
type stage struct {
	t   *testing.T
	set Settings
	now time.Duration
	out strings.Builder
	c   *Conn
	r   *Remote[string, string]
}

func (s *stage) do(line string, do func(*stage, []string)) {
	f := strings.Fields(line)
	switch f[0] {
	case "set":
		s.setting(f[1], f[2])
	case "wait": // time passes without a tick
		s.now += s.duration(f[1])
	case "until": // time passes, and Tick is called whenever Next asks for it
		end := s.now + s.duration(f[1])
		for i := 0; s.next() <= end; i++ {
			if i == 10000 {
				s.t.Fatalf("%s: ticks without end", line)
			}
			s.now = max(s.now, s.next())
			n := s.out.Len()
			s.tick()
			if text := s.out.String(); len(text) > n {
				s.out.Reset()
				fmt.Fprintf(&s.out, "%sat %v\n%s", text[:n], s.now, text[n:])
			}
		}
		s.now = end
	case "tick":
		s.tick()
	case "quiet": // as until, but what comes of it is left out
		was := s.out.String()
		s.do("until "+f[1], do)
		s.out.Reset()
		s.out.WriteString(was)
	case "next":
		s.sayNext()
	default:
		do(s, f)
	}
}

func (s *stage) next() time.Duration {
	if s.c != nil {
		return s.c.Next()
	}
	return s.r.Next()
}

func (s *stage) sayNext() {
	if n := s.next(); n == Never {
		s.out.WriteString("next never\n")
	} else {
		fmt.Fprintf(&s.out, "next in %v\n", n-s.now)
	}
}

func (s *stage) tick() {
	if s.c != nil {
		s.conns(s.c.Tick(s.now, nil))
	} else {
		s.acts(s.r.Tick(s.now, nil))
	}
}

func (s *stage) setting(name, value string) {
	switch name {
	case "passive":
		s.set.UsePassiveConnections = value == "on"
	case "buffer":
		s.set.SystemMessageBufferSize = s.number(value)
	case "pending":
		s.set.PendingSendLimit = s.number(value)
	case "resend-limit":
		s.set.ResendLimit = s.number(value)
	case "hold":
		s.set.HoldLimit = s.number(value)
	case "stash":
		s.set.StashLimit = s.number(value)
	case "give-up":
		s.set.GiveUpSystemMessageAfter = s.duration(value)
	default:
		s.t.Fatalf("no setting %q", name)
	}
}

func (s *stage) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *stage) duration(text string) time.Duration {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		return time.Duration(s.number(days)) * day
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

var commands = map[string]Command{"none": NoCommand, "associate": Associate, "disassociate": DisassociateUnknown, "heartbeat": Heartbeat,
	"shutting-down": DisassociateShuttingDown, "quarantined": DisassociateQuarantined, "command9": 9}

var causes = map[string]Cause{"local": CauseLocal, "said": CauseDisassociated, "fin": CauseFin, "reset": CauseReset, "failed": CauseFailed,
	"silent": CauseSilent, "dial-failed": CauseDialFailed, "timeout": CauseHandshakeTimeout, "refused": CauseRefused, "invalid": CauseInvalidAddress}

var reasons = map[string]Reason{"unknown": Unknown, "shutdown": Shutdown, "quarantined": Quarantined}

// conn plays the commands about a connection.
func (s *stage) conn(f []string) {
	switch f[0] {
	case "dial": // dial [refused UID]
		refuse, refusing := UID(0), len(f) > 1
		if refusing {
			refuse = UID(s.number(f[1]))
		}
		s.c = NewDialer(&s.set, "akka.tcp://B@b:1", refuse, refusing)
		s.conns(s.c.Opened(s.now, nil))
	case "dialed": // without a connection yet
		s.c = NewDialer(&s.set, "akka.tcp://B@b:1", 0, false)
	case "accept":
		s.c = NewListener(&s.set)
		s.conns(s.c.Opened(s.now, nil))
	case "recv":
		if f[1] == "payload" {
			b := []byte(f[2])
			s.conns(s.c.Payload(s.now, b, nil))
			clear(b) // the memory is the caller's again
			return
		}
		c, ok := commands[f[1]]
		if !ok {
			s.t.Fatalf("no PDU %q", f[1])
		}
		var o Origin
		var uid UID
		if c == Associate { // recv associate protocol System host port UID, "-" for nothing
			for i := range f {
				f[i] = strings.TrimPrefix(f[i], "-")
			}
			o = Origin{Protocol: f[2], System: f[3], Hostname: f[4], Port: uint32(s.number(f[5]))}
			uid = UID(s.number(f[6]))
		}
		s.conns(s.c.Control(s.now, c, o, uid, nil))
	case "garbage":
		s.conns(s.c.Undecodable(nil))
	case "closed":
		s.conns(s.c.Closed(causes[f[1]], nil))
	case "unwritable":
		s.c.Unwritable(s.now)
	case "attach":
		s.conns(s.c.Attach(nil))
	case "disassociate":
		s.conns(s.c.Disassociate(reasons[f[1]], nil))
	default:
		s.t.Fatalf("no command %q", f[0])
	}
}

func (s *stage) conns(acts []ConnAction) {
	for _, a := range acts {
		switch a.Do {
		case ConnSend:
			fmt.Fprintf(&s.out, "send %v\n", a.Command)
		case ConnDeliver:
			fmt.Fprintf(&s.out, "deliver %s\n", a.Payload)
		case ConnAssociated:
			fmt.Fprintf(&s.out, "associated %s %d\n", a.Address, a.UID)
		case ConnPause:
			s.out.WriteString("pause\n")
		case ConnResume:
			s.out.WriteString("resume\n")
		case ConnEnded:
			fmt.Fprintf(&s.out, "ended %v: %v\n", a.Reason, a.Cause)
		default:
			s.t.Fatalf("unknown action %+v", a)
		}
	}
}

// address plays the commands about a remote address.
func (s *stage) address(f []string) {
	id := func(i int) ConnID { return ConnID(s.number(strings.TrimPrefix(f[i], "#"))) }
	if s.r == nil {
		s.r = NewRemote[string, string](&s.set, s.now)
	}
	switch f[0] {
	case "send":
		for _, m := range f[1:] {
			s.acts(s.r.Send(s.now, m, nil))
		}
	case "system":
		for _, m := range f[1:] {
			s.acts(s.r.SendSystem(s.now, m, nil))
		}
	case "associated": // #conn UID
		s.acts(s.r.Associated(s.now, id(1), UID(s.number(f[2])), nil))
	case "inbound": // UID
		n, acts := s.r.Inbound(s.now, UID(s.number(f[1])), nil)
		fmt.Fprintf(&s.out, "is #%d\n", n)
		s.acts(acts)
	case "ended": // #conn reason cause
		cause, ok := causes[f[3]]
		if !ok {
			s.t.Fatalf("no cause %q", f[3])
		}
		s.acts(s.r.Ended(s.now, id(1), reasons[f[2]], cause, nil))
	case "ack": // #conn cumulative nacks...
		a := Ack{Cumulative: SeqNo(s.number(f[2]))}
		for _, n := range f[3:] {
			a.Nacks = append(a.Nacks, SeqNo(s.number(n)))
		}
		s.acts(s.r.Ack(s.now, id(1), a, nil))
	case "recv": // #conn seq message
		s.acts(s.r.Received(s.now, id(1), SeqNo(s.number(f[2])), f[3], nil))
	case "take-ack":
		a, ok := s.r.TakeAck(id(1), nil)
		fmt.Fprintf(&s.out, "ack %d nacks %v: %v\n", a.Cumulative, a.Nacks, ok)
	case "quarantine":
		s.acts(s.r.Quarantine(s.now, UID(s.number(f[1])), nil))
	case "unreachable":
		s.acts(s.r.Unreachable(s.now, nil))
	case "shutdown":
		s.acts(s.r.Shutdown(s.now, nil))
	case "state":
		fmt.Fprintf(&s.out, "%v, writer #%d, %d unacknowledged, %d waiting, done %v, forgettable %v\n",
			s.r.State(), s.r.Writer(), s.r.Unacknowledged(), s.r.Waiting(), s.r.Done(s.now), s.r.Forgettable(s.now))
	default:
		s.t.Fatalf("no command %q", f[0])
	}
}

func (s *stage) acts(acts []Action[string, string]) {
	for _, a := range acts {
		s.out.WriteString(describe(a) + "\n")
	}
}

// describe is an action as a line.
func describe(a Action[string, string]) string {
	switch a.Do {
	case Dial:
		if a.Refuse {
			return fmt.Sprintf("dial #%d, refuse %d", a.Conn, a.UID)
		}
		return fmt.Sprintf("dial #%d", a.Conn)
	case Attach:
		return fmt.Sprintf("attach #%d", a.Conn)
	case Disassociate:
		return fmt.Sprintf("disassociate #%d %v", a.Conn, a.Reason)
	case Write:
		if a.Seq == Unsequenced {
			return fmt.Sprintf("write #%d %s", a.Conn, a.Out)
		}
		return fmt.Sprintf("write #%d %s (%d)", a.Conn, a.Out, a.Seq)
	case WriteAck:
		return fmt.Sprintf("ack #%d %d nacks %v", a.Conn, a.Ack.Cumulative, a.Ack.Nacks)
	case Deliver:
		return "deliver " + a.In
	case DeadLetter:
		return fmt.Sprintf("dead letter %s: %v", a.Out, a.Why)
	}
	switch a.Event {
	case EventAssociated:
		return fmt.Sprintf("event %v #%d %v, UID %d", a.Event, a.Conn, a.Role, a.UID)
	case EventDisassociated:
		return fmt.Sprintf("event %v #%d %v, %v: %v", a.Event, a.Conn, a.Role, a.Reason, a.Cause)
	case EventAssociationError:
		return fmt.Sprintf("event %v %v: %v", a.Event, a.Role, a.Cause)
	case EventQuarantined:
		return fmt.Sprintf("event %v UID %d: %v", a.Event, a.UID, a.Why)
	case EventAddressTerminated:
		return fmt.Sprintf("event %v: %v", a.Event, a.Why)
	case EventGated:
		return fmt.Sprintf("event %v: %v", a.Event, a.Cause)
	}
	return fmt.Sprintf("event %v", a.Event)
}
