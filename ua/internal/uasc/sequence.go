package uasc

import (
	"math"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

// wrapFloor is the sequence number behind which the legacy rule lets a sender start over below
// wrapCeiling (Part 6, 6.7.2.4).
const (
	wrapFloor   = math.MaxUint32 - 1024
	wrapCeiling = 1024
)

// sequence numbers the chunks of one direction, OpenSecureChannel chunks and renewals included: it
// never starts over but by the rule of the policy (Part 6, 6.7.2.4). Legacy policies begin at any
// number, ours at 1, and wrap somewhere above wrapFloor; newer ones begin at 0 and wrap at the end of
// the range.
type sequence struct {
	legacy  bool
	started bool
	last    uint32
}

// next is the number of the next chunk sent; take uses it up.
func (s *sequence) next() uint32 {
	switch {
	case !s.started && s.legacy, s.legacy && s.last > wrapFloor:
		return 1
	case !s.started:
		return 0
	}
	return s.last + 1
}

func (s *sequence) take(n uint32) { s.last, s.started = n, true }

// accept checks the number of a chunk received. A number that repeats or skips is
// BadSequenceNumberInvalid: a chunk was lost, replayed or sent out of order.
func (s *sequence) accept(n uint32) error {
	ok := n == s.last+1
	if s.legacy {
		ok = ok || s.last > wrapFloor && n < wrapCeiling
	}
	if !s.started {
		ok = s.legacy || n == 0
	}
	if !ok {
		return uacp.Errorf(ua.BadSequenceNumberInvalid, "sequence number %d follows %d", n, s.last)
	}
	s.take(n)
	return nil
}
