// Package akkapb holds the protocol buffers messages of Akka.NET's classic remoting (packages
// Akka.Remote.Serialization.Proto.Msg and the parts of Akka's own serializers that a peer needs) and the
// framing around them, written by hand: encoders append to the caller's slice, decoders point into the
// caller's bytes.
//
// # Encoding
//
// Append adds a message to a slice and returns it; it cannot fail. Bytes are those that the C# runtime
// writes: fields in the order of their numbers, every length in as few bytes as it needs, fields with
// their default value left out, repeated numbers packed. Size is the exact number of bytes that Append
// adds. [Outbound] writes a whole frame in one pass and is what the senders use.
//
// # Decoding
//
// Decode first forgets what the message held and keeps only the memory of its lists. Bytes and strings
// are slices of the input, with no spare capacity: they live as long as the input is left alone, and are
// not checked to be UTF-8. Nothing is allocated but
//
//   - lists that grow: at most 100 bytes for each byte of input (an entry can be two bytes long);
//   - [ExceptionData.Inner] and [AkkaProtocolMessage.Instruction], where the sender split a message into
//     several pieces: the pieces are joined, at most a few times their length.
//
// The rules are those of the C# runtime: the last value of a field counts, messages that come twice are
// merged, numbers are cut to the width of their field, repeated numbers are taken packed or not, a field
// of unknown number or of another wire type than expected is skipped (groups too, down to 100 levels), a
// missing field has its default value. Stricter than C#: tags and lengths above 32 bits and numbers above
// 64 bits are malformed, where C# drops the upper bits. What proto3 cannot tell apart by value has a Has
// field: presence of messages.
//
// A failing Decode returns a [*DecodeError] and leaves the message in an undefined state. No input makes
// a decoder panic.
//
// The package is pure: no clock, no goroutine, no input or output.
package akkapb
