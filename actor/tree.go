package actor

// A TreeNode is one actor in [System.Tree].
type TreeNode struct {
	Path     string
	Class    string // what it was made as: a Go type, or what [Props.WithClass] said
	Mailbox  int    // user messages that wait
	Children []*TreeNode
}

// Tree is all actors that live now, from the root down, children in the order in which they were made. It may be
// called from any goroutine; actors come and go while it looks.
func (s *System) Tree() *TreeNode { return treeOf(s.root) }

func treeOf(c *cell) *TreeNode {
	n := &TreeNode{Path: c.ref.path, Class: c.props.Class(), Mailbox: c.depth()}
	c.children().each(func(k *cell) { n.Children = append(n.Children, treeOf(k)) })
	return n
}
