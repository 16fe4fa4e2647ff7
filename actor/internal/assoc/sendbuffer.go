package assoc

import (
	"errors"
	"slices"
)

var (
	// ErrBufferFull says that as many system messages wait for their acknowledgement as may.
	ErrBufferFull = errors.New("the buffer of unacknowledged system messages is full")
	// ErrSeqNoOrder says that a number is not beyond those that were buffered before.
	ErrSeqNoOrder = errors.New("the sequence number is not beyond the last one")
	// ErrAckBeyond says that something was acknowledged that has never been sent.
	ErrAckBeyond = errors.New("the peer acknowledges a system message that was never sent")
	// ErrNackUnknown says that something was asked for again that is not buffered any more: the two ends have lost step.
	ErrNackUnknown = errors.New("the peer asks for a system message that cannot be sent again")
)

// AckedSendBuffer keeps system messages until the other side has acknowledged them (Akka.NET 1.5, AckedSendBuffer). The
// zero buffer takes nothing; make one with NewAckedSendBuffer. It allocates only while it grows.
type AckedSendBuffer[M any] struct {
	entries  []sent[M] // in order; the first head ones are gone
	head     int
	capacity int
	max      SeqNo
	round    uint32 // counts acknowledgements, to mark what one of them asks for
	nacked   int
}

type sent[M any] struct {
	seq   SeqNo
	round uint32 // the acknowledgement that asked for this again; 0: none did
	msg   M
}

// NewAckedSendBuffer makes an empty buffer for at most capacity messages.
func NewAckedSendBuffer[M any](capacity int) AckedSendBuffer[M] {
	return AckedSendBuffer[M]{capacity: capacity, max: BeforeFirst}
}

// Buffer keeps m under the number seq. The error is ErrSeqNoOrder or ErrBufferFull, and nothing has changed then.
func (b *AckedSendBuffer[M]) Buffer(seq SeqNo, m M) error {
	if !b.max.Before(seq) {
		return ErrSeqNoOrder
	}
	if b.Len() >= b.capacity {
		return ErrBufferFull
	}
	if b.head > 0 && len(b.entries) == cap(b.entries) {
		b.compact()
	}
	b.entries = append(b.entries, sent[M]{seq: seq, msg: m})
	b.max = seq
	return nil
}

// Acknowledge takes what the other side says: it has everything up to cumulative but nacks. What it has is
// dropped, the rest stays, and what it asks for is marked (Nacked). An acknowledgement is true whenever it arrives, so an
// old one that comes late drops nothing it should not. The error is ErrAckBeyond or ErrNackUnknown, and nothing has
// changed then.
func (b *AckedSendBuffer[M]) Acknowledge(cumulative SeqNo, nacks []SeqNo) error {
	if b.max.Before(cumulative) {
		return ErrAckBeyond
	}
	for _, n := range nacks {
		if _, ok := b.find(n); !ok {
			return ErrNackUnknown
		}
	}
	if b.round++; b.round == 0 {
		b.round = 1
	}
	for _, n := range nacks {
		i, _ := b.find(n)
		b.entries[i].round = b.round
	}
	live := b.entries[b.head:]
	old := 0 // how many of the live ones are covered by cumulative
	for old < len(live) && !cumulative.Before(live[old].seq) {
		old++
	}
	// Those that were asked for move up to the ones that are not covered; what is before them is gone.
	keep := old
	for i := old - 1; i >= 0; i-- {
		if live[i].round == b.round {
			keep--
			live[keep] = live[i]
		}
	}
	clear(live[:keep])
	b.head += keep
	b.nacked = 0
	for i := range live[keep:] {
		e := &live[keep+i]
		if e.round != 0 {
			b.nacked++
		}
	}
	if b.head == len(b.entries) {
		b.entries, b.head = b.entries[:0], 0
	}
	return nil
}

// Len is how many messages are kept; of those NackedLen were asked for again.
func (b *AckedSendBuffer[M]) Len() int { return len(b.entries) - b.head }

// NackedLen is how many of the messages were asked for again.
func (b *AckedSendBuffer[M]) NackedLen() int { return b.nacked }

// Max is the highest number ever buffered, BeforeFirst in a fresh buffer.
func (b *AckedSendBuffer[M]) Max() SeqNo { return b.max }

// First is the lowest number that is kept; false if none is.
func (b *AckedSendBuffer[M]) First() (SeqNo, bool) {
	if b.Len() == 0 {
		return BeforeFirst, false
	}
	return b.entries[b.head].seq, true
}

// Nacked goes through the messages that were asked for again, in order.
func (b *AckedSendBuffer[M]) Nacked(yield func(SeqNo, M) bool) {
	if b.nacked == 0 {
		return
	}
	for _, e := range b.entries[b.head:] {
		if e.round != 0 && !yield(e.seq, e.msg) {
			return
		}
	}
}

// NonAcked goes through the messages of which nothing has been heard, in order.
func (b *AckedSendBuffer[M]) NonAcked(yield func(SeqNo, M) bool) {
	for _, e := range b.entries[b.head:] {
		if e.round == 0 && !yield(e.seq, e.msg) {
			return
		}
	}
}

// Drain goes through all messages in order and leaves the buffer without any. The numbering goes on.
func (b *AckedSendBuffer[M]) Drain(yield func(SeqNo, M) bool) {
	for _, e := range b.entries[b.head:] {
		if !yield(e.seq, e.msg) {
			break
		}
	}
	clear(b.entries)
	b.entries, b.head, b.nacked = b.entries[:0], 0, 0
}

// after goes through messages of which nothing has been heard and that come after seq, as long as fewer than
// window such messages are before them.
func (b *AckedSendBuffer[M]) after(seq SeqNo, window int, yield func(SeqNo, M) bool) {
	live := b.entries[b.head:]
	i, _ := b.find(seq.Next())
	i -= b.head
	// Nacked messages come before everything that was never written, so they all lie before i.
	for before := i - b.nacked; i < len(live) && before < window; i, before = i+1, before+1 {
		if !yield(live[i].seq, live[i].msg) {
			return
		}
	}
}

// find is where seq is in entries, or would be.
func (b *AckedSendBuffer[M]) find(seq SeqNo) (int, bool) {
	i, ok := slices.BinarySearchFunc(b.entries[b.head:], seq, func(e sent[M], s SeqNo) int {
		switch {
		case e.seq == s:
			return 0
		case e.seq.Before(s):
			return -1
		}
		return 1
	})
	return b.head + i, ok
}

// compact moves the live entries to the front if that frees a good part, so that the memory stays within twice what is kept.
func (b *AckedSendBuffer[M]) compact() {
	if b.head < (len(b.entries)+1)/2 {
		return
	}
	n := copy(b.entries, b.entries[b.head:])
	clear(b.entries[n:])
	b.entries, b.head = b.entries[:n], 0
}
