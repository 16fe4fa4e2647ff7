// Package actor is an actor runtime with the semantics of Akka.NET 1.5.
//
// An actor is state that only its own message handler touches. Whoever holds its [Ref] may send it
// messages ([Ref.Tell]), which it handles one after the other; a [System] is a tree of actors, in
// which a parent decides what happens when a child fails ([Strategy]). A panic in an actor is such a
// failure, and never ends the process.
//
// An actor that has nothing to do costs memory (a few hundred bytes), and neither a goroutine nor a
// timer. Those that have mail share a pool of goroutines, one a processor; where one of them is held
// up by an actor that blocks, another takes over what waits behind it.
//
// What is promised: messages from one actor to another arrive in the order in which they were sent,
// each at most once. A message to an actor that is gone is published as a [DeadLetter].
package actor
