package assoc

// SeqNo numbers the system messages to one incarnation of a remote system, from 0 on. It goes round, so numbers
// are compared by their distance.
type SeqNo uint64

const (
	// BeforeFirst is the number before the first: nothing has been sent, delivered or acknowledged.
	BeforeFirst SeqNo = 1<<64 - 1
	// Unsequenced is what an ordinary message carries instead of a number.
	Unsequenced SeqNo = 1<<64 - 1
)

// Before reports whether s comes before o, for numbers less than half the range apart.
func (s SeqNo) Before(o SeqNo) bool { return int64(s-o) < 0 }

// Next is the number after s.
func (s SeqNo) Next() SeqNo { return s + 1 }

// latest is the later of two numbers.
func latest(a, b SeqNo) SeqNo {
	if a.Before(b) {
		return b
	}
	return a
}
