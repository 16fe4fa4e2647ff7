// Package serial turns messages into the bytes that Akka.NET 1.5 has for them, and back. A [Registry] holds
// what one system can read and write: the serializers of Akka.NET's own messages (ids 0, 1, 2, 3, 4, 6, 16,
// 17 and 22) are there from the start; the types that two programs agree on are added to it.
//
// # What a Go value becomes
//
//	string, int32, int64, int      String, Int32, Int64, Int64     id 17
//	[]byte                         Byte[]                          id 4
//	proto.Message                  its C# class, see [RegisterProto]   id 2
//	a type of [RegisterJSON]       its .NET class                  id 1
//	float64, bool, [GUID], time.Time and so on   the same          id 1
//	*actor.Ref                     IActorRef                       id 16
//	actor.StatusFailure            Status.Failure with an exception, see [RemoteError]   id 16
//	a type of [Bind]               what its serializer says        above 100
//
// # Safety
//
// Nothing is made that the registry does not name: a type that is not in it is an [*UnknownTypeError] and
// nothing else. Whatever comes in, decoding does not panic, takes memory in proportion to its size, and
// goes 64 levels deep at most.
package serial
