package subs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// script plays a transcript. Lines that begin with "> " are commands; what clients got and the states that
// subscriptions have come to stand below them, indented. A handle stands for its item. Commands:
//
//	create CLIENT [interval=MS] [alive=N] [life=N] [max=N] [prio=N] [disabled]   the client comes into being with it
//	item CLIENT SUB HANDLE [queue=N] [sampling] [newest]
//	push HANDLE VALUE...
//	publish CLIENT [N] [ack=SUB:SEQ]
//	at DURATION                            the time from the beginning
//	enable|disable|delete|modify|republish|resend|items|transfer CLIENT SUB [more as for create] [SEQ]
//	close CLIENT [keep]
type script struct {
	r       *rig
	clients map[string]*client
	order   []string
	items   map[int]*Item
	subs    []*Subscription
	states  []string
	out     strings.Builder
}

func TestStateTranscripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/state-*.txt")
	if len(files) < 27 {
		t.Fatalf("%d transcripts for the 27 rows of the table", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{r: newRig(t, Config{Limits: Limits{MinLifetime: time.Millisecond, MaxSubscriptionsPerSession: 3}}), clients: map[string]*client{}, items: map[int]*Item{}}
			for line := range strings.Lines(string(text)) {
				switch {
				case strings.HasPrefix(line, "> "):
					s.out.WriteString(line)
					s.do(strings.Fields(line[2:]))
					s.report()
				case !strings.HasPrefix(line, "  "):
					s.out.WriteString(line)
				}
			}
			if got := s.out.String(); *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s has changed (-update rewrites it):\n%s", file, got)
			}
			for _, c := range s.clients {
				s.r.m.CloseSession(s.r.now(), c.s, true, ua.BadSessionClosed)
			}
			for _, sub := range s.subs {
				if s.r.m.Find(sub.id) != nil {
					s.r.m.CloseSession(s.r.now(), s.r.m.orphans, true, ua.BadSessionClosed)
				}
			}
			if n := s.r.leased(); n != 0 {
				t.Errorf("%d messages are still out", n)
			}
		})
	}
}

func (s *script) say(format string, args ...any) { fmt.Fprintf(&s.out, "  "+format+"\n", args...) }

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.r.t.Fatal(err)
	}
	return n
}

// option finds NAME=N among the words.
func (s *script) option(words []string, name string, otherwise int) int {
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, name+"="); ok {
			return s.number(v)
		}
	}
	return otherwise
}

func (s *script) params(words []string) Params {
	return Params{
		PublishingInterval:         float64(s.option(words, "interval", 100)),
		MaxKeepAliveCount:          uint32(s.option(words, "alive", 3)),
		LifetimeCount:              uint32(s.option(words, "life", 9)),
		MaxNotificationsPerPublish: uint32(s.option(words, "max", 0)),
		Priority:                   uint8(s.option(words, "prio", 0)),
	}
}

func (s *script) client(name string) *client {
	if s.clients[name] == nil {
		s.clients[name] = s.r.client()
		s.order = append(s.order, name)
	}
	return s.clients[name]
}

// report writes down what has happened.
func (s *script) report() {
	for _, name := range s.order {
		for _, text := range s.clients[name].take() {
			s.say("%s: %s", name, text)
		}
	}
	for n, sub := range s.subs {
		if state := sub.State(s.r.now()); state != s.states[n] {
			s.states[n] = state
			s.say("[sub %d %s]", sub.id, state)
		}
	}
}

func (s *script) do(words []string) {
	r := s.r
	switch words[0] {
	case "at":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			r.t.Fatal(err)
		}
		r.until(d)
		return
	case "push":
		for _, v := range words[2:] {
			r.push(s.items[s.number(words[1])], float64(s.number(v)))
		}
		return
	}
	c := s.client(words[1])
	args := words[2:]
	switch words[0] {
	case "create":
		sub, status := r.m.Create(r.now(), c.s, s.params(args), !slices.Contains(args, "disabled"))
		if status != ua.Good {
			s.say("%v", status.String())
			return
		}
		s.subs, s.states = append(s.subs, sub), append(s.states, "")
		return
	case "publish":
		n := 1
		for _, w := range args {
			if v, ok := strings.CutPrefix(w, "ack="); ok {
				id, seq, _ := strings.Cut(v, ":")
				c.acks = append(c.acks, ua.SubscriptionAcknowledgement{SubscriptionID: uint32(s.number(id)), SequenceNumber: uint32(s.number(seq))})
			} else {
				n = s.number(w)
			}
		}
		c.publish(n)
		return
	case "close":
		r.m.CloseSession(r.now(), c.s, !slices.Contains(args, "keep"), ua.BadSessionClosed)
		return
	}
	s.call(words[0], c, uint32(s.number(args[0])), args[1:])
}

// call is a service about one subscription.
func (s *script) call(service string, c *client, id uint32, args []string) {
	r := s.r
	sub := r.m.Find(id)
	if sub == nil {
		sub = s.subs[0] // the service finds that it is not the client's, or gone
	}
	status := ua.Good
	switch service {
	case "item":
		handle := s.number(args[0])
		s.items[handle] = c.item(sub, uint32(handle), func(cfg *ItemConfig) {
			cfg.QueueSize = uint32(s.option(args, "queue", 1))
			cfg.DiscardOldest = !slices.Contains(args, "newest")
			if slices.Contains(args, "sampling") {
				cfg.Mode = ua.MonitoringModeSampling
			}
		})
		return
	case "enable", "disable":
		status = sub.SetPublishing(r.now(), c.s, service == "enable")
	case "modify":
		var p Revised
		if p, status = sub.Modify(r.now(), c.s, s.params(args)); status == ua.Good {
			s.say("interval %v alive %d life %d", p.PublishingInterval, p.MaxKeepAliveCount, p.LifetimeCount)
		}
	case "delete":
		status = r.m.Delete(r.now(), c.s, id)
	case "resend":
		status = r.m.ResendData(r.now(), c.s, id)
	case "items":
		var server, handles []uint32
		server, handles, status = r.m.GetMonitoredItems(r.now(), c.s, id)
		s.say("%v %v", server, handles)
	case "republish":
		var out Ref
		if status = sub.Republish(r.now(), c.s, uint32(s.number(args[0])), &out); status == ua.Good {
			s.say("%s", messageText(out.Message()))
		}
		out.Release()
	case "transfer":
		var t *Transfer
		if t, status = r.m.BeginTransfer(r.now(), c.s, id); status == ua.Good {
			if slices.Contains(args, "refused") {
				t.Rollback(r.now())
				status = ua.BadUserAccessDenied
			} else {
				var available []uint32
				available, status = t.Commit(r.now(), slices.Contains(args, "initial"), true, nil)
				s.say("available %v", available)
			}
		}
	default:
		r.t.Fatalf("unknown command %q", service)
	}
	s.say("%s", status.String())
}
