package actor

// Stand-in for the typed receive, until it exists.
func Receive[T any](f func(*Context, T)) *Props {
	return FromFunc(func(c *Context, m any) {
		if t, ok := m.(T); ok {
			f(c, t)
			return
		}
		c.Unhandled()
	})
}
