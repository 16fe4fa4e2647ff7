package uaserver

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"sync"

	"github.com/actua/actua/ua"
)

// point is where the browsing of a node goes on (Part 4, 7.9).
type point struct {
	id     []byte
	serial uint64 // of the request that made it
	desc   ua.BrowseDescription
	max    uint32
	cursor uint64
}

// points are the continuation points of a session, the oldest first.
type points struct {
	mu     sync.Mutex
	list   []point
	serial uint64
	count  uint64
}

// begin starts a request and returns its serial number.
func (p *points) begin() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serial++
	return p.serial
}

// put keeps a point and returns its id. When there are too many, the oldest of an earlier request is
// dropped; when all are of this request, there is no room (Part 4, 7.9).
func (p *points) put(pt point, serial uint64, limit int) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) >= limit {
		if limit <= 0 || p.list[0].serial == serial {
			return nil, false
		}
		p.remove(0)
	}
	p.count++
	// The random half keeps a client from going on with a point that it only guesses.
	pt.id = binary.LittleEndian.AppendUint64(make([]byte, 0, 16), p.count)[:16]
	if _, err := rand.Read(pt.id[8:]); err != nil {
		return nil, false
	}
	pt.serial = serial
	p.list = append(p.list, pt)
	return pt.id, true
}

// take finds a point and removes it.
func (p *points) take(id []byte) (point, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		if bytes.Equal(p.list[i].id, id) {
			pt := p.list[i]
			p.remove(i)
			return pt, true
		}
	}
	return point{}, false
}

func (p *points) remove(i int) {
	copy(p.list[i:], p.list[i+1:])
	p.list[len(p.list)-1] = point{}
	p.list = p.list[:len(p.list)-1]
}
