//go:build race || leasecheck

package lease

// Checking tells whether this build overwrites recycled memory with a pattern. Build with -race or
// with -tags leasecheck to get it.
const Checking = true
