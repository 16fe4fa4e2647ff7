package actor

// ValidName returns nil if a user may give an actor this name, else a *PathError. Allowed are ASCII letters
// and digits, any of -_.*$+:@&=,!~';() and the double quote, and '%' followed by two hexadecimal digits. A name is not
// empty and does not start with '$', which generated names do (Akka.NET 1.5, ActorPath.IsValidPathElement).
// Only the creation of an actor asks for this; parsing a path does not.
func ValidName(name string) error {
	if name == "" {
		return pathFailure(nameKind, name, 0, "it is empty")
	}
	if name[0] == '$' {
		return pathFailure(nameKind, name, 0, "a leading '$' is kept for generated names")
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if nameBytes[c] {
			continue
		}
		if c != '%' {
			reason := "this character is not allowed; escape it as '%' and two hexadecimal digits"
			if c >= 0x80 {
				reason = "only ASCII is allowed; escape the bytes as '%' and two hexadecimal digits each"
			}
			return pathFailure(nameKind, name, i, reason)
		}
		if len(name)-i < 3 || !isHex(name[i+1]) || !isHex(name[i+2]) {
			return pathFailure(nameKind, name, i, "'%' is not followed by two hexadecimal digits")
		}
		i += 2
	}
	return nil
}

// ValidSystemName returns nil if an actor system may have this name, else a *PathError: ASCII letters, digits
// and '-', the first of them not '-' (Akka.NET 1.5, ActorSystemImpl).
func ValidSystemName(name string) error {
	if name == "" {
		return pathFailure(systemKind, name, 0, "it is empty")
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c-'0' < 10 || c|0x20-'a' < 26 {
			continue
		}
		if c != '-' {
			return pathFailure(systemKind, name, i, "only ASCII letters, digits and '-' are allowed")
		}
		if i == 0 {
			return pathFailure(systemKind, name, i, "it starts with '-'")
		}
	}
	return nil
}

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

// nameBytes are the bytes that stand for themselves in a name.
var nameBytes = func() (t [256]bool) {
	for c := range 256 {
		t[c] = byte(c)-'0' < 10 || byte(c)|0x20-'a' < 26
	}
	for _, c := range []byte(`-_.*$+:@&=,!~';()"`) {
		t[c] = true
	}
	return t
}()

const nameAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+~"

// autoName is the n-th name that the runtime gives: $ and the number, least significant digit first, as Akka.NET
// writes it.
func autoName(n uint64) string {
	b := append(make([]byte, 0, 12), '$')
	for {
		b = append(b, nameAlphabet[n&63])
		if n >>= 6; n == 0 {
			return string(b)
		}
	}
}
