package remotetest

import (
	"sync"
	"time"

	"github.com/actua/actua/actor"
)

// alarmIn closes a channel when a time has passed on the clock, or at once. stop takes it back.
func alarmIn(clock actor.Clock, d time.Duration, done chan struct{}) (stop func()) {
	var once sync.Once
	a := clock.NewAlarm(func() { once.Do(func() { close(done) }) })
	a.Set(clock.Now().Add(d))
	return a.Stop
}
