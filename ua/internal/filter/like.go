package filter

import (
	"strings"
	"unicode/utf8"
)

// maxPattern bounds the patterns of Like, in bytes: matching costs at most text times pattern.
const maxPattern = 1024

// validPattern reports whether a pattern of Like can be read: every list is closed and not empty, no
// range in it is upside down, and a character stands behind every backslash.
func validPattern(p string) bool {
	if len(p) > maxPattern {
		return false
	}
	for p != "" {
		if p[0] == '%' || p[0] == '_' {
			p = p[1:]
			continue
		}
		_, n := matchOne(p, 0)
		if n == 0 {
			return false
		}
		p = p[n:]
	}
	return true
}

// like reports whether all of s matches the pattern (Part 4, 7.7.3): % stands for any number of
// characters, _ for one, [abc] and [a-f] for one of a list, [^abc] for one that is not in it; a backslash
// takes the meaning from the character behind it. Case matters. A pattern that cannot be read matches
// nothing.
func like(s, p string) bool {
	if !validPattern(p) {
		return false
	}
	// Behind the last % that was passed: where to go on when what follows does not match. The text
	// between two of them may be taken where it first fits, so that nothing else is remembered.
	again, from := "", ""
	wild := false
	for s != "" {
		if p != "" && p[0] == '%' {
			p = strings.TrimLeft(p, "%")
			if p == "" {
				return true
			}
			again, from, wild = p, s, true
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		if ok, n := matchOne(p, r); ok {
			s, p = s[size:], p[n:]
			continue
		}
		if !wild {
			return false
		}
		_, size = utf8.DecodeRuneInString(from)
		from = from[size:]
		s, p = from, again
	}
	return strings.TrimLeft(p, "%") == ""
}

// matchOne compares a character with the first element of a pattern, which is not %, and returns the
// length of that element; 0 when there is none or it cannot be read.
func matchOne(p string, r rune) (ok bool, n int) {
	if p == "" {
		return false, 0
	}
	switch p[0] {
	case '_':
		return true, 1
	case '[':
		return matchList(p, r)
	}
	c, n := literal(p)
	return c == r && n > 0, n
}

// literal is the character that stands at the start of a pattern, with its length there.
func literal(p string) (rune, int) {
	if p != "" && p[0] == '\\' {
		c, n := utf8.DecodeRuneInString(p[1:])
		if n == 0 {
			return 0, 0
		}
		return c, n + 1
	}
	return utf8.DecodeRuneInString(p)
}

// matchList reads a list in brackets. A minus sign at either end is one of its characters.
func matchList(p string, r rune) (ok bool, n int) {
	n = 1
	negated := strings.HasPrefix(p[n:], "^")
	if negated {
		n++
	}
	for empty := true; ; empty = false {
		if n >= len(p) {
			return false, 0
		}
		if p[n] == ']' {
			if empty {
				return false, 0
			}
			return ok != negated, n + 1
		}
		low, size := literal(p[n:])
		if size == 0 {
			return false, 0
		}
		n += size
		high := low
		if n+1 < len(p) && p[n] == '-' && p[n+1] != ']' {
			if high, size = literal(p[n+1:]); size == 0 || high < low {
				return false, 0
			}
			n += 1 + size
		}
		ok = ok || low <= r && r <= high
	}
}
