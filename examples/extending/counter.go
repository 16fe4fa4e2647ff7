package main

import (
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// counter is a monitored item that reports how many pulses there were since its last value: none is
// lost, however slowly it is published.
type counter struct {
	mu     sync.Mutex
	count  int64 // since the last value
	last   ua.DataValue
	off    bool
	again  bool // Resend
	closed chan struct{}
}

func (c *counter) Signals() bool { return true }
func (c *counter) Close()        { close(c.closed) }
func (c *counter) Start(signal func()) {
	go func() {
		for t := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-t.C:
			case <-c.closed:
				t.Stop()
				return
			}
			c.mu.Lock()
			c.count++
			c.mu.Unlock()
			signal() // without the lock, which Next needs
		}
	}()
}

func (c *counter) Pending(time.Time) int { c.mu.Lock(); defer c.mu.Unlock(); return c.pending() }
func (c *counter) pending() int {
	if c.off || c.count == 0 && !c.again {
		return 0
	}
	return 1
}

func (c *counter) Next(now time.Time, v *ua.DataValue) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending() == 0 {
		return false
	}
	if c.count > 0 {
		c.last = ua.DataValue{Value: ua.Int64(c.count), SourceTimestamp: ua.NewDateTime(now)}
	}
	*v, c.count, c.again = c.last, 0, false
	return true
}

func (c *counter) Resend() { c.mu.Lock(); c.again = true; c.mu.Unlock() }
func (c *counter) SetMode(m ua.MonitoringMode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off = m == ua.MonitoringModeDisabled; c.off {
		c.count, c.again = 0, false
	}
}
