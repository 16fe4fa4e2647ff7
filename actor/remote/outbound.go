package remote

import (
	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/serial"
)

// The way out. Whoever sends encodes the message straight into the connection's buffer. What is there leaves when the
// sender's turn ends, or at once where there is no turn: one goroutine at a time writes, and takes along what others
// have added meanwhile.

// message is one on its way out: an ordinary one, or a system message.
type message struct {
	to, sender *actor.Ref
	body       any // nil: system
	system     actor.SystemMessage
}

// encoder is what a connection needs to encode; its connection's lock guards it.
type encoder struct {
	framing   akkapb.Framing
	exchange  serial.Exchange
	out       akkapb.Outbound
	manifests map[string][]byte // as fields
	guess     int               // at the size of the next body: that of the last
}

// maxManifests bounds the manifests that a connection remembers: types are few, but what users make of them is not
// ours to say.
const maxManifests = 1024

// appendFrame adds the frame of one message. After an error dst is as it was.
func (e *encoder) appendFrame(dst []byte, w, from *actor.Wire, s serial.Serializer, msg any, seq assoc.SeqNo, ack *akkapb.AcknowledgementInfo) ([]byte, error) {
	o := &e.out
	*o = akkapb.Outbound{To: w.Recipient, SerializerID: s.ID(), Ack: ack}
	if from != nil {
		o.From = from.Sender
	}
	if seq != assoc.Unsequenced {
		o.Reliable, o.Seq = true, uint64(seq)
	}
	own, _ := msg.(*encoded)
	if own != nil {
		if own.manifest != "" {
			o.Manifest = e.manifest(own.manifest)
		}
	} else if m := s.Manifest(msg); m != "" {
		o.Manifest = e.manifest(m)
	}
	start := len(dst)
	switch body := msg.(type) {
	case *encoded:
		if err := e.fits(len(body.bytes)); err != nil {
			return dst, err
		}
		return o.AppendFrame(dst, e.framing, body.bytes), nil
	case string:
		if o.SerializerID == primitives {
			if err := e.fits(len(body)); err != nil {
				return dst, err
			}
			return o.AppendFrameString(dst, e.framing, body), nil
		}
	case []byte:
		if o.SerializerID == byteArrays {
			if err := e.fits(len(body)); err != nil {
				return dst, err
			}
			return o.AppendFrame(dst, e.framing, body), nil
		}
	}
	dst, mark := o.AppendHead(dst, e.framing, e.guess)
	head := len(dst)
	dst, err := s.Append(dst, msg, &e.exchange)
	if err != nil {
		return dst[:start], err
	}
	n := len(dst) - head
	if err := e.fits(n); err != nil {
		return dst[:start], err
	}
	e.guess = n
	return o.AppendTail(dst, mark), nil
}

// estimate is about how many bytes a message takes.
func (e *encoder) estimate(msg any) int {
	const around = 512 // paths and manifest
	switch m := msg.(type) {
	case string:
		return around + len(m)
	case []byte:
		return around + len(m)
	case *encoded:
		return around + len(m.bytes)
	}
	return around + e.guess
}

// Serializers that run no code of users; the bytes of the first two are those of the message.
const (
	byteArrays     = 4
	primitives     = 17
	systemMessages = 22
)

// encoded is the body of a message in whose serializer there may be code of users. It is made with no lock held: that
// code may panic, take its time, or send messages itself.
type encoded struct {
	bytes    []byte
	manifest string
	exchange serial.Exchange
}

// plain reports whether a serializer runs nothing but code of ours.
func plain(id int32) bool { return id == primitives || id == byteArrays || id == systemMessages }

// encode makes the body of a message, to be given back to r.bodies.
func (r *Remoting) encode(msg any) (*encoded, error) {
	e, _ := r.bodies.Get().(*encoded)
	if e == nil {
		e = &encoded{exchange: r.exchange()}
	}
	var err error
	if e.bytes, _, e.manifest, err = r.registry.Append(e.bytes[:0], msg, &e.exchange); err != nil {
		r.putBody(e)
		return nil, err
	}
	return e, nil
}

func (r *Remoting) putBody(e *encoded) {
	if cap(e.bytes) <= keepOut {
		r.bodies.Put(e)
	}
}

// fits reports a body that is too large for a frame.
func (e *encoder) fits(body int) error {
	if size := e.out.ContainerSize(body); size > e.framing.MaxContainer() {
		return &tooLargeError{size: size, limit: e.framing.MaxContainer()}
	}
	return nil
}

func (e *encoder) manifest(m string) []byte {
	if f, ok := e.manifests[m]; ok {
		return f
	}
	f := akkapb.ManifestField(m)
	if len(e.manifests) >= maxManifests {
		clear(e.manifests)
	}
	if e.manifests == nil {
		e.manifests = make(map[string][]byte)
	}
	e.manifests[m] = f
	return f
}
