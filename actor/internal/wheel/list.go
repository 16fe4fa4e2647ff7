package wheel

import "math/bits"

// list is a ring of timers, so that its end is found without a second pointer.
type list struct{ head *Timer }

// push adds a timer at the end.
func (l *list) push(t *Timer) {
	h := l.head
	if h == nil {
		t.next, t.prev, l.head = t, t, t
		return
	}
	last := h.prev
	t.next, t.prev = h, last
	last.next, h.prev = t, t
}

// remove takes out a timer of this list.
func (l *list) remove(t *Timer) {
	if t.next == t {
		l.head = nil
	} else {
		t.prev.next, t.next.prev = t.next, t.prev
		if l.head == t {
			l.head = t.next
		}
	}
	t.next, t.prev = nil, nil
}

// pop takes out the first timer, nil if there is none.
func (l *list) pop() *Timer {
	t := l.head
	if t != nil {
		l.remove(t)
	}
	return t
}

func (l *list) drop(each func(*Timer)) {
	for t := l.pop(); t != nil; t = l.pop() {
		t.place = dropped
		each(t)
	}
}

// sort puts the timers in the order of their deadlines and keeps that of equal ones. Most lists are sorted
// already, as timers of the same delay are added in the order in which they are due: one pass finds that.
// Otherwise the sorted runs are merged, without memory of its own.
func (l *list) sort() {
	if l.head == nil {
		return
	}
	first := l.head
	first.prev.next = nil // a chain that ends
	run, rest := split(first)
	if rest == nil {
		first.prev.next = first
		return
	}
	var runs [bits.UintSize]*Timer // runs[i] is nil or merged of 2^i runs, older than those below
	for {
		i := 0
		for ; runs[i] != nil; i++ {
			run = merge(runs[i], run)
			runs[i] = nil
		}
		runs[i] = run
		if rest == nil {
			break
		}
		run, rest = split(rest)
	}
	var all *Timer
	for _, r := range runs {
		if r != nil {
			all = merge(r, all)
		}
	}
	l.head = all
	last := all
	for ; last.next != nil; last = last.next {
		last.next.prev = last
	}
	last.next, all.prev = all, last
}

// split cuts a chain behind its first sorted run.
func split(t *Timer) (run, rest *Timer) {
	run = t
	for t.next != nil && t.deadline <= t.next.deadline {
		t = t.next
	}
	rest, t.next = t.next, nil
	return run, rest
}

// merge joins two sorted chains; of equal deadlines those of a come first.
func merge(a, b *Timer) *Timer {
	var head *Timer
	tail := &head
	for a != nil && b != nil {
		if b.deadline < a.deadline {
			*tail, b = b, b.next
		} else {
			*tail, a = a, a.next
		}
		tail = &(*tail).next
	}
	if a != nil {
		*tail = a
	} else {
		*tail = b
	}
	return head
}
