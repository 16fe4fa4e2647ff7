package actor

import "github.com/actua/actua/actor/internal/peek"

func init() {
	peek.Busy = func(system any) (yes bool) {
		walkCells(system.(*System).root, func(c *cell) {
			c.mu.Lock()
			yes = yes || c.status&busy != 0
			c.mu.Unlock()
		})
		return yes
	}
	peek.Instance = func(ref any) (any, string) {
		r := ref.(*Ref)
		c := r.c
		if c == nil {
			return nil, "is no local actor"
		}
		if _, ok := c.disp.runner.(*calling); !ok {
			return nil, "does not run on the calling thread"
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case c.status&busy != 0:
			return nil, "is handling a message"
		case c.status&closed != 0:
			return nil, "has stopped"
		case c.actor == nil:
			return nil, "has not started"
		}
		return c.actor, ""
	}
}
