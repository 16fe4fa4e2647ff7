package akkanode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actua/actua/actor"
)

// The tree of actors of one of our nodes, for `actua actors tree`: an actor below /system answers with it, in pages that fit
// into a frame.

const (
	treeName = "tree"
	// pageBytes bounds the text of a page; the smallest frame has 32,000 bytes.
	pageBytes = 16 << 10
	// mostTrees bounds how many are being read at a time, treeTime how long one waits for its reader.
	mostTrees = 4
	treeTime  = 10 * time.Second
)

type (
	treeWanted struct{}
	treeNext   struct{}
	treePage   struct {
		Actors []TreeActor
		More   bool // tell Reader treeNext
		Reader *actor.Ref
		Busy   bool // others read the tree; later
	}
)

// TreeActor is one actor of a node.
type TreeActor struct {
	Path, Class string
	Mailbox     int32 // messages that wait
	Children    int32
}

// treeProps makes the actor that others ask. Each tree is handed out by a child of its own.
func treeProps(s *actor.System) *actor.Props {
	return actor.FromFunc(func(ctx *actor.Context, msg any) {
		switch msg.(type) {
		case treeWanted:
		case actor.Terminated:
			return
		default:
			ctx.Unhandled()
			return
		}
		if len(ctx.Children()) >= mostTrees {
			ctx.Reply(treePage{Busy: true})
			return
		}
		child, err := ctx.Spawn(actor.NewProps(func() actor.Actor { return &treeReader{left: flatten(nil, s.Tree())} }).WithClass("tree-reader"), "")
		if err != nil {
			ctx.Fail(err)
			return
		}
		ctx.Forward(child)
	}).WithClass("tree")
}

// flatten is a tree in the order in which it is read.
func flatten(dst []TreeActor, n *actor.TreeNode) []TreeActor {
	dst = append(dst, TreeActor{n.Path, n.Class, int32(n.Mailbox), int32(len(n.Children))})
	for _, c := range n.Children {
		dst = flatten(dst, c)
	}
	return dst
}

// treeReader hands out one tree.
type treeReader struct{ left []TreeActor }

// PreStart makes it end by itself.
func (r *treeReader) PreStart(ctx *actor.Context) { ctx.SetReceiveTimeout(treeTime) }

// Receive implements actor.Actor.
func (r *treeReader) Receive(ctx *actor.Context, msg any) {
	switch msg.(type) {
	case treeWanted, treeNext:
	case actor.ReceiveTimeout:
		ctx.Stop(ctx.Self())
		return
	default:
		ctx.Unhandled()
		return
	}
	size, n := 0, 0
	for ; n < len(r.left); n++ {
		if size += len(r.left[n].Path) + len(r.left[n].Class) + 100; size > pageBytes && n > 0 {
			break
		}
	}
	page := treePage{Actors: r.left[:n], More: n < len(r.left), Reader: ctx.Self()}
	r.left = r.left[n:]
	ctx.Reply(page)
	if !page.More {
		ctx.Stop(ctx.Self())
	}
}

// ErrNoTree is a node that answers no questions about its tree: it is none of ours.
var ErrNoTree = errors.New("the node does not show its actors: only those of this program do")

// Tree reads the actors of another node. f gets them from the root down.
func (n *Node) Tree(ctx context.Context, node actor.Address, f func(TreeActor) error) error {
	at, err := n.sys.Select(node.String() + "/system/" + treeName)
	if err != nil {
		return err
	}
	ref, err := at.ResolveOne(ctx)
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, actor.ErrActorNotFound) {
			err = ErrNoTree
		}
		return err
	}
	box := n.sys.NewInbox()
	defer box.Close()
	box.Tell(ref, treeWanted{})
	for {
		reader, page, err := nextPage(ctx, box)
		switch {
		case err != nil:
			return err
		case page.Busy:
			return errors.New("the node shows its actors to others at this moment")
		}
		for _, a := range page.Actors {
			if err := f(a); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
		box.Tell(reader, treeNext{})
	}
}

func nextPage(ctx context.Context, box *actor.Inbox) (*actor.Ref, treePage, error) {
	msg, err := box.Receive(ctx)
	if err != nil {
		return nil, treePage{}, err
	}
	page, ok := msg.(treePage)
	if !ok {
		return nil, page, fmt.Errorf("the node answered with a %s instead of its actors", typeName(msg))
	}
	return page.Reader, page, nil
}
