package ua

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// StatusCode is the outcome of an operation or the quality of a value (Part 4, 7.38). It is an error
// value: a function that returns an error may return a StatusCode, and errors.Is finds it there.
// Codes compare with == when no info bits are set; Is ignores info bits.
type StatusCode uint32

// Parts of a StatusCode (Part 4, 7.38.1).
const (
	severityMask          StatusCode = 0xC0000000
	codeMask              StatusCode = 0xFFFF0000
	StatusInfoDataValue   StatusCode = 0x00000400 // the info bits describe a value
	StatusOverflow        StatusCode = 0x00000080 // values were lost before this one
	StatusLimitLow        StatusCode = 0x00000100 // the value is at its lower limit
	StatusLimitHigh       StatusCode = 0x00000200 // the value is at its upper limit
	StatusLimitConstant   StatusCode = 0x00000300 // the value cannot change
	StatusStructureChange StatusCode = 0x00008000 // the structure of the value has changed
	StatusSemanticsChange StatusCode = 0x00004000 // the meaning of the value has changed
)

// IsGood reports whether the severity is Good.
func (s StatusCode) IsGood() bool { return s&severityMask == 0 }

// IsUncertain reports whether the severity is Uncertain.
func (s StatusCode) IsUncertain() bool { return s&severityMask == 0x40000000 }

// IsBad reports whether the severity is Bad.
func (s StatusCode) IsBad() bool { return s&0x80000000 != 0 }

// Code is the code as a number, info bits included.
func (s StatusCode) Code() uint32 { return uint32(s) }

// Base is the code without its info bits.
func (s StatusCode) Base() StatusCode { return s & codeMask }

// Is reports whether target is the same code, info bits aside.
func (s StatusCode) Is(target error) bool {
	c, ok := target.(interface{ Code() uint32 })
	return ok && StatusCode(c.Code()).Base() == s.Base()
}

// String is the symbol of the standard, such as "BadNodeIdUnknown", or the code in hex.
func (s StatusCode) String() string {
	if e := statusEntry(s); e != nil {
		return e.name
	}
	return fmt.Sprintf("0x%08X", uint32(s))
}

// Text is the standard's explanation of the code, or "".
func (s StatusCode) Text() string {
	if e := statusEntry(s); e != nil {
		return e.text
	}
	return ""
}

// Error is the symbol, the code and what it means.
func (s StatusCode) Error() string {
	if e := statusEntry(s); e != nil {
		return fmt.Sprintf("%s (0x%08X): %s", e.name, uint32(s), e.text)
	}
	return s.String()
}

// Err is the code as an error: nil unless it is bad.
func (s StatusCode) Err() error {
	if s.IsBad() {
		return s
	}
	return nil
}

type statusInfo struct {
	code       StatusCode
	name, text string
}

func statusEntry(s StatusCode) *statusInfo {
	s = s.Base()
	i := sort.Search(len(statusTable), func(i int) bool { return statusTable[i].code >= s })
	if i < len(statusTable) && statusTable[i].code == s {
		return &statusTable[i]
	}
	return nil
}

// ParseStatusCode reads the symbol of a status code, or its number in decimal or in hex with 0x.
func ParseStatusCode(text string) (StatusCode, error) {
	for i := range statusTable {
		if statusTable[i].name == text {
			return statusTable[i].code, nil
		}
	}
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		digits, base = hex, 16
	}
	if n, err := strconv.ParseUint(digits, base, 32); err == nil {
		return StatusCode(n), nil
	}
	return 0, fmt.Errorf("%q is not the name of a status code", text)
}

// StatusOf is the status code that an error stands for: Good for nil, the code inside it if there is
// one, BadTimeout and BadRequestCancelledByClient for the errors of a context, else
// BadUnexpectedError.
func StatusOf(err error) StatusCode {
	if err == nil {
		return Good
	}
	var c interface{ Code() uint32 }
	switch {
	case errors.As(err, &c):
		return StatusCode(c.Code())
	case errors.Is(err, context.DeadlineExceeded):
		return BadTimeout
	case errors.Is(err, context.Canceled):
		return BadRequestCancelledByClient
	}
	return BadUnexpectedError
}
