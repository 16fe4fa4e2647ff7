package main

import (
	"fmt"
	"sync"
	"time"
)

// progressAfter is how long work may take before it shows how far it is.
const progressAfter = 2 * time.Second

// progress shows a text on standard error, when that is a terminal, from two seconds on until stop is
// called. The text is asked for every half second.
func (a *app) progress(text func() string) (stop func()) {
	if !a.errTerminal {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		wait := time.NewTimer(progressAfter)
		defer wait.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.err, "\r\x1b[K")
				}
				return
			case <-wait.C:
				fmt.Fprintf(a.err, "\r\x1b[K%s", clean(text()))
				wait.Reset(progressAfter / 4)
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
	})
}
