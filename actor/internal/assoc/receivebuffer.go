package assoc

import "slices"

// Ack is what a receiver says of the system messages it got: everything up to Cumulative has arrived but Nacks. As a
// message of the wire it is an AcknowledgementInfo, which has no bytes for number 0 and no nacks.
type Ack struct {
	Cumulative SeqNo
	Nacks      []SeqNo
}

// maxNacks bounds the nacks of one acknowledgement, so that it stays far below the frame limit.
const maxNacks = 1000

// AckedReceiveBuffer puts system messages back in order and drops what comes twice (Akka.NET 1.5,
// AckedReceiveBuffer). It belongs to one incarnation of a remote system and outlives its connections. Make one with
// NewAckedReceiveBuffer.
type AckedReceiveBuffer[M any] struct {
	delivered  SeqNo
	cumulative SeqNo
	buf        []received[M] // in order, all after delivered
	window     uint64
}

type received[M any] struct {
	seq SeqNo
	msg M
}

// NewAckedReceiveBuffer makes an empty buffer. A message more than window ahead of the last delivered one is not taken: that
// bounds the memory, and the sender, who gets no acknowledgement for it, sends it again.
func NewAckedReceiveBuffer[M any](window int) AckedReceiveBuffer[M] {
	return AckedReceiveBuffer[M]{delivered: BeforeFirst, cumulative: BeforeFirst, window: uint64(max(window, 1))}
}

// Receive takes the message with number seq and appends to deliver, in order, what can be delivered now. False
// means that seq is too far ahead and the message was not taken. What came before is delivered once and
// never again, but has to be acknowledged again (Ack).
func (b *AckedReceiveBuffer[M]) Receive(seq SeqNo, m M, deliver []M) ([]M, bool) {
	if !b.delivered.Before(seq) {
		return deliver, true
	}
	if uint64(seq-b.delivered) > b.window {
		return deliver, false
	}
	b.cumulative = latest(b.cumulative, seq)
	if len(b.buf) == 0 && seq == b.delivered.Next() {
		b.delivered = seq
		return append(deliver, m), true
	}
	b.insert(seq, m)
	return b.run(deliver), true
}

// insert keeps m unless its number is there already.
func (b *AckedReceiveBuffer[M]) insert(seq SeqNo, m M) {
	i, ok := slices.BinarySearchFunc(b.buf, seq, func(e received[M], s SeqNo) int {
		switch {
		case e.seq == s:
			return 0
		case e.seq.Before(s):
			return -1
		}
		return 1
	})
	if !ok {
		b.buf = slices.Insert(b.buf, i, received[M]{seq, m})
	}
}

// run appends the messages that follow the last delivered one without a gap.
func (b *AckedReceiveBuffer[M]) run(deliver []M) []M {
	n := 0
	for n < len(b.buf) && b.buf[n].seq == b.delivered.Next() {
		deliver = append(deliver, b.buf[n].msg)
		b.delivered = b.buf[n].seq
		n++
	}
	if n > 0 {
		b.buf = slices.Delete(b.buf, 0, n)
	}
	return deliver
}

// Ack appends to nacks what is missing and returns the acknowledgement to send, whose Nacks are that slice. Of more than 1000
// gaps it speaks only of the first: it then acknowledges less, never something that has not arrived. False
// means that there is nothing to acknowledge yet.
func (b *AckedReceiveBuffer[M]) Ack(nacks []SeqNo) (Ack, bool) {
	if b.cumulative == BeforeFirst && b.delivered == BeforeFirst {
		return Ack{}, false
	}
	next, n := b.delivered.Next(), 0
	for _, e := range b.buf {
		for ; next != e.seq; next = next.Next() {
			if n == maxNacks {
				return Ack{Cumulative: next - 1, Nacks: nacks}, true
			}
			nacks = append(nacks, next)
			n++
		}
		next = next.Next()
	}
	return Ack{Cumulative: b.cumulative, Nacks: nacks}, true
}

// Merge takes over what another buffer of the same incarnation knows, and appends to deliver what can be
// delivered now.
func (b *AckedReceiveBuffer[M]) Merge(o *AckedReceiveBuffer[M], deliver []M) []M {
	b.delivered = latest(b.delivered, o.delivered)
	b.cumulative = latest(b.cumulative, o.cumulative)
	for _, e := range o.buf {
		b.insert(e.seq, e.msg)
	}
	b.buf = slices.DeleteFunc(b.buf, func(e received[M]) bool { return !b.delivered.Before(e.seq) })
	return b.run(deliver)
}

// LastDelivered is the number of the last message that was delivered, BeforeFirst if none was.
func (b *AckedReceiveBuffer[M]) LastDelivered() SeqNo { return b.delivered }

// Held is how many messages wait for a gap before them to close.
func (b *AckedReceiveBuffer[M]) Held() int { return len(b.buf) }
