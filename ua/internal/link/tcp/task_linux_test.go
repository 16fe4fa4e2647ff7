package tcp

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWakeTaskAfterTheEnd wakes the task of loops that have ended: the number of the bell may be another's.
func TestWakeTaskAfterTheEnd(t *testing.T) {
	l, err := NewLoops(1)
	if err != nil {
		t.Fatal(err)
	}
	if !l.SetTask(func() time.Duration { return -1 }) {
		t.Fatal("no task")
	}
	bell := l.all[0].bell
	var wakers sync.WaitGroup
	for range 2 {
		wakers.Go(func() {
			for range 2000 {
				l.WakeTask()
			}
		})
	}
	l.Close()
	wakers.Wait()
	other := occupy(t, bell)
	l.all[0].task.wanted.Store(false)
	l.all[0].task.inside.Store(false)
	l.WakeTask()
	untouched(t, other)
}

// TestTaskIsDoneForEachWake has the task run after each wake, whatever the loop is about to do.
func TestTaskIsDoneForEachWake(t *testing.T) {
	l, err := NewLoops(1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var asked, seen atomic.Int64
	if !l.SetTask(func() time.Duration { seen.Store(asked.Load()); return -1 }) {
		t.Fatal("no task")
	}
	for n := int64(1); n <= 3000; n++ {
		asked.Store(n)
		l.WakeTask()
		if n%100 == 0 {
			time.Sleep(2 * time.Millisecond) // the loop becomes calm
		}
		for end := time.Now().Add(5 * time.Second); seen.Load() < n; {
			if time.Now().After(end) {
				t.Fatalf("wake %d has been lost", n)
			}
			if n%3 == 0 {
				time.Sleep(time.Microsecond)
			}
		}
	}
}

// TestTaskThatWakesItself leaves the loop time for its connections.
func TestTaskThatWakesItself(t *testing.T) {
	l, err := NewLoops(1)
	if err != nil {
		t.Fatal(err)
	}
	var ends atomic.Bool
	if !l.SetTask(func() time.Duration {
		if !ends.Load() {
			l.WakeTask()
		}
		return -1
	}) {
		t.Fatal("no task")
	}
	closed := make(chan struct{})
	go func() { l.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(2 * time.Second):
		t.Error("a loop whose task always has work looks at nothing else")
		ends.Store(true)
		<-closed
	}
}
