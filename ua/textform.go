package ua

// textError is what a parser of a text form returns: it is the status code under errors.Is and
// StatusOf, and its message is the plain reason without the standard's explanation of the code.
type textError struct {
	code   StatusCode
	reason string
}

func (e *textError) Error() string { return e.code.String() + ": " + e.reason }

// Unwrap is the status code.
func (e *textError) Unwrap() error { return e.code }

// parseUint reads a decimal number up to most. Nothing but digits is allowed; package strconv would let
// signs through in places.
func parseUint(s string, most uint64) (uint64, bool) {
	if s == "" || len(s) > 20 {
		return 0, false
	}
	var n uint64
	for i := 0; i < len(s); i++ {
		c := uint64(s[i] - '0')
		if c > 9 || n > (1<<64-1-c)/10 {
			return 0, false
		}
		n = n*10 + c
	}
	return n, n <= most
}
