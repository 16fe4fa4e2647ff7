package akkanode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// mostLine bounds a line of the input.
const mostLine = 64 << 20

var errLongLine = fmt.Errorf("a line is longer than %d bytes", mostLine)

// command is one line of the input.
type command struct {
	Cmd, ID, To, Path, Type, Name, Address *string
	Value                                  json.RawMessage
	TimeoutMs, Count, UID                  *int32
}

// text is a member that has to be there.
func text(member string, v *string) (string, error) {
	if v == nil {
		return "", fmt.Errorf("%q is missing", member)
	}
	return *v, nil
}

func orElse[T any](v *T, other T) T {
	if v == nil {
		return other
	}
	return *v
}

// Run does the commands of the input, one after the other, until "quit", the end of the input, or that of ctx, and then
// ends the node in good order. The error is that of the output, or of the end. After the end of ctx one goroutine is left
// that waits for input.
func (n *Node) Run(ctx context.Context, in io.Reader) error {
	lines := make(chan []byte)
	ended := make(chan struct{})
	defer close(ended)
	go n.read(in, lines, ended)
	for {
		var line []byte
		more := true
		select {
		case <-ctx.Done():
			more = false
		case <-n.bad:
			return errors.Join(n.err, n.Close())
		case line, more = <-lines:
		}
		if !more {
			err := n.Close()
			if ctx.Err() != nil {
				n.emit(Event{Name: "terminated-system"})
			}
			return err
		}
		if n.line(ctx, line) {
			err := n.Close()
			n.emit(Event{Name: "terminated-system"})
			return err
		}
	}
}

// read hands on the lines of the input.
func (n *Node) read(in io.Reader, lines chan<- []byte, ended <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if err == errLongLine {
			n.emit(failed(err))
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-ended:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine is the next line; one that is too long is passed over.
func readLine(r *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostLine; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long:
			return nil, errLongLine
		}
		return line, err
	}
}

// line does the command of one line, and reports whether it was the last one.
func (n *Node) line(ctx context.Context, line []byte) (last bool) {
	var c command
	if err := json.Unmarshal(line, &c); err != nil {
		n.emit(failed(fmt.Errorf("a line is no command: %w", err)))
		return false
	}
	switch orElse(c.Cmd, "") {
	case "quit":
		return true
	case "crash":
		if n.cfg.Crash != nil {
			n.cfg.Crash()
		}
		return false
	}
	e, err := n.do(ctx, &c)
	switch {
	case err == errUnknown:
		n.emit(Event{"unknown-command", []Field{{"line", strings.TrimRight(string(line), "\r\n")}}})
	case err != nil:
		n.emit(failed(err))
	case e.Name != "":
		n.emit(e)
	}
	return false
}

var errUnknown = errors.New("there is no such command")

// do does one command. Its event may be empty.
func (n *Node) do(ctx context.Context, c *command) (Event, error) {
	id := []Field{{"id", orElse(c.ID, "")}}
	switch orElse(c.Cmd, "") {
	case "tell":
		return Event{"told", id}, n.tell(ctx, c, false)
	case "tell-ref":
		return Event{"told", id}, n.tell(ctx, c, true)
	case "ask":
		to, err := text("to", c.To)
		if err != nil {
			return askFailed(id, err), nil
		}
		return n.ask(ctx, id, to, c), nil
	case "identify":
		path, err := text("path", c.Path)
		if err != nil {
			return Event{"identify-failed", append(id, Field{"error", exceptionName(err)})}, nil
		}
		return n.identify(ctx, id, path), nil
	case "watch", "unwatch":
		return Event{}, n.watch(ctx, c)
	case "deploy":
		return Event{}, n.deploy(c)
	case "flood":
		return Event{"flooded", id}, n.flood(ctx, c)
	case "stop", "start":
		name, err := text("name", c.Name)
		if err != nil {
			return Event{}, err
		}
		if *c.Cmd == "start" {
			_, err := n.sys.Spawn(echoProps(), name)
			return Event{"started", id}, err
		}
		ref, err := n.resolve(ctx, "/user/"+name, resolveTime)
		if err == nil {
			n.sys.Stop(ref)
		}
		return Event{}, err
	case "quarantine":
		addr, err := address(c)
		if err == nil && c.UID != nil {
			n.rem.Quarantine(addr, *c.UID)
		}
		return Event{"quarantine-set", id}, err
	}
	return Event{}, errUnknown
}

const resolveTime = 5 * time.Second

func address(c *command) (actor.Address, error) {
	a, err := text("address", c.Address)
	if err != nil {
		return actor.Address{}, err
	}
	return actor.ParseAddress(a)
}

// resolve asks who is at a path.
func (n *Node) resolve(ctx context.Context, path string, limit time.Duration) (*actor.Ref, error) {
	to, err := n.sys.Select(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return to.ResolveOne(ctx)
}

// tell sends a message from the collector: to a selection, or to the actor that is there now.
func (n *Node) tell(ctx context.Context, c *command, resolved bool) error {
	path, err := text("to", c.To)
	if err != nil {
		return err
	}
	to, err := n.sys.Select(path)
	if err != nil {
		return err
	}
	var ref *actor.Ref
	if resolved {
		if ref, err = n.resolve(ctx, path, resolveTime); err != nil {
			return err
		}
	}
	msg, err := n.value(ctx, orElse(c.Type, ""), c.Value)
	if err != nil {
		return err
	}
	if resolved {
		ref.TellFrom(msg, n.collector)
	} else {
		to.TellFrom(msg, n.collector)
	}
	return nil
}

// ask sends a message to a selection, and waits for the answer.
func (n *Node) ask(ctx context.Context, id []Field, path string, c *command) Event {
	to, err := n.sys.Select(path)
	if err != nil {
		return askFailed(id, err)
	}
	msg, err := n.value(ctx, orElse(c.Type, ""), c.Value)
	if err != nil {
		return askFailed(id, err)
	}
	limit := time.Duration(orElse(c.TimeoutMs, 3000)) * time.Millisecond
	reply, err := n.askSelection(ctx, to, msg, limit)
	if err != nil {
		return askFailed(id, err)
	}
	return Event{"reply", append(id, Field{"type", typeName(reply)}, Field{"value", show(reply)})}
}

// askSelection waits for the first answer of whoever a selection leads to.
func (n *Node) askSelection(ctx context.Context, to *actor.Selection, msg any, limit time.Duration) (any, error) {
	box := n.sys.NewInbox()
	defer box.Close()
	within, cancel := context.WithTimeoutCause(ctx, limit, &askTimeout{limit})
	defer cancel()
	to.TellFrom(msg, box.Ref())
	reply, err := box.Receive(within)
	if f, ok := reply.(actor.StatusFailure); ok && f.Cause != nil {
		return nil, f.Cause
	}
	return reply, err
}

// askTimeout is a question without an answer, in Akka.NET's words.
type askTimeout struct{ limit time.Duration }

// Error says after how long.
func (e *askTimeout) Error() string {
	return fmt.Sprintf("Timeout after %.2f seconds", e.limit.Seconds())
}

// Is makes it the time-out of an ask.
func (e *askTimeout) Is(target error) bool {
	return target == actor.ErrAskTimeout || target == context.DeadlineExceeded
}

func askFailed(id []Field, err error) Event {
	return Event{"ask-failed", append(id, Field{"error", exceptionName(err) + ": " + causeText(err)})}
}

// exceptionName is what .NET calls an error.
func exceptionName(err error) string {
	var r *serial.RemoteError
	var typ *TypeError
	var value *ValueError
	switch {
	case errors.As(err, &r):
		name, _, _ := strings.Cut(r.TypeName, ",")
		return name[strings.LastIndexByte(name, '.')+1:]
	case errors.Is(err, actor.ErrAskTimeout), errors.Is(err, context.DeadlineExceeded):
		return "AskTimeoutException"
	case errors.Is(err, actor.ErrActorNotFound):
		return "ActorNotFoundException"
	case errors.Is(err, context.Canceled):
		return "TaskCanceledException"
	case errors.As(err, &typ):
		return "ArgumentException"
	case errors.As(err, &value):
		return "InvalidOperationException"
	}
	return "Exception"
}

func (n *Node) identify(ctx context.Context, id []Field, path string) Event {
	ref, err := n.resolve(ctx, path, resolveTime)
	if err != nil {
		return Event{"identify-failed", append(id, Field{"error", exceptionName(err)})}
	}
	return Event{"identified", append(id, Field{"path", pathOf(ref)})}
}

func (n *Node) watch(ctx context.Context, c *command) error {
	path, err := text("path", c.Path)
	if err != nil {
		return err
	}
	ref, err := n.resolve(ctx, path, resolveTime)
	if err != nil {
		return err
	}
	if *c.Cmd == "watch" {
		n.controller.Tell(watchThat{ref})
	} else {
		n.controller.Tell(unwatchThat{ref})
	}
	return nil
}

func (n *Node) deploy(c *command) error {
	addr, err := address(c)
	if err != nil {
		return err
	}
	n.controller.Tell(deployThere{addr, orElse(c.Name, "deployed")})
	return nil
}

// flood sends integers from 0 on, without a sender.
func (n *Node) flood(ctx context.Context, c *command) error {
	path, err := text("to", c.To)
	if err != nil {
		return err
	}
	if c.Count == nil {
		return fmt.Errorf("%q is missing", "count")
	}
	ref, err := n.resolve(ctx, path, resolveTime)
	if err != nil {
		return err
	}
	for i := range *c.Count {
		ref.Tell(i)
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
