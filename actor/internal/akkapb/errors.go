package akkapb

import "strconv"

// DecodeError says which message was malformed, where, and how.
type DecodeError struct {
	Message string // name of the protocol buffers message, as in Akka.NET's .proto files
	Field   int    // number of the field at fault, 0 where there is none
	Reason  string // plain text
}

// Error is the text for a log.
func (e *DecodeError) Error() string {
	if e.Field == 0 {
		return "malformed " + e.Message + ": " + e.Reason
	}
	return "malformed " + e.Message + ": field " + strconv.Itoa(e.Field) + ": " + e.Reason
}

// FrameError is a frame length that cannot be: negative, or above the limit.
type FrameError struct {
	Length int64 // as in the header
	Max    int   // the limit, header included
}

// Error names the length, so that the limit can be set to what is needed.
func (e *FrameError) Error() string {
	if e.Length < 0 {
		return "corrupted frame: its length is " + strconv.FormatInt(e.Length, 10)
	}
	return "frame of " + strconv.FormatInt(e.Length, 10) + " bytes and its header of 4 are above maximum-frame-size = " + strconv.Itoa(e.Max)
}

// The reasons of the decoders.
const (
	badTag       = "its tag is not a number of 32 bits"
	badNumber    = "field number 0 is reserved"
	badVarint    = "a number without an end within 10 bytes or beyond 64 bits"
	badShort     = "the message ends inside a fixed-width number"
	badLength    = "its length goes beyond the end of the message"
	badWireType  = "unknown wire type"
	badEndGroup  = "end of a group that has not begun"
	badGroup     = "a group without its end"
	badNesting   = "nested more than 100 levels deep"
	badPacked    = "a packed list of 8-byte numbers whose length is no multiple of 8"
	badNoPDU     = "neither an instruction nor a payload"
	badCommand   = "unknown command"
	badAssociate = "ASSOCIATE without handshakeInfo"
	badRecipient = "no recipient"
	badNoMessage = "no message"
	badSender    = "a sender with an empty path"
)
