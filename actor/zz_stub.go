package actor

type Address struct{ Name string }

func LocalAddress(n string) Address  { return Address{n} }
func ValidSystemName(n string) error { return nil }
func ValidName(n string) error       { return nil }
func (r *Ref) address() Address      { return r.sys.addr }

type selectionMessage struct{}

func (m *selectionMessage) nobody(s *System, to, sender *Ref) {}

type receiveTimeout struct{}

func (t *receiveTimeout) stop()           {}
func (t *receiveTimeout) handled(c *cell) {}

type asyncWork struct{}

func (c *cell) route(m *selectionMessage) {}
func (c *cell) asyncDone(a *asyncWork)    {}
func (c *cell) dropAsync()                {}

type Mailbox struct{}

func (m Mailbox) make() messageQueue { return nil }
func (m Mailbox) check() error       { return nil }

const nameAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+~"

func autoName(n uint64) string {
	b := []byte{'$'}
	for {
		b = append(b, nameAlphabet[n&63])
		if n >>= 6; n == 0 {
			return string(b)
		}
	}
}
