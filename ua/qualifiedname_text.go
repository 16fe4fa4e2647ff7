package ua

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String is the text form "<namespace index>:<name>", such as "2:Pump". A name of namespace 0 stands
// alone, unless that would read as another name (Part 6, 5.1.12).
func (q QualifiedName) String() string {
	if q.NamespaceIndex == 0 && !misread(q.Name) {
		return q.Name
	}
	return strconv.Itoa(int(q.NamespaceIndex)) + ":" + q.Name
}

// misread reports whether a name of namespace 0 needs its index to be read back as it is.
func misread(name string) bool {
	digits, _, colon := strings.Cut(name, ":")
	return colon && isDigits(digits) || strings.HasPrefix(name, "nsu=")
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// ParseQualifiedName reads "<namespace index>:<name>", or a name of namespace 0 alone (Part 6,
// 5.1.12). A colon that does not follow a number is a part of the name. The error is
// BadBrowseNameInvalid.
func ParseQualifiedName(s string) (QualifiedName, error) {
	if strings.HasPrefix(s, "nsu=") {
		return QualifiedName{}, &textError{BadBrowseNameInvalid,
			fmt.Sprintf("%.200q: the namespace is given by URI; write <index>:<name>", s)}
	}
	index, name, colon := strings.Cut(s, ":")
	if !colon || !isDigits(index) {
		return QualifiedName{Name: s}, nil
	}
	n, ok := parseUint(index, math.MaxUint16)
	if !ok {
		return QualifiedName{}, &textError{BadBrowseNameInvalid,
			fmt.Sprintf("%.200q: namespace index %.30s is not in the range of 0 to 65535", s, index)}
	}
	return QualifiedName{NamespaceIndex: uint16(n), Name: name}, nil
}

// MarshalText is the text form; it returns no error.
func (q QualifiedName) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalText reads the text form as ParseQualifiedName does.
func (q *QualifiedName) UnmarshalText(text []byte) error {
	v, err := ParseQualifiedName(string(text))
	if err != nil {
		return err
	}
	*q = v
	return nil
}

// String is the text without the locale.
func (t LocalizedText) String() string { return t.Text }
