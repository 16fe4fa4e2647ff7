package actor

// PoisonPill stops an actor when it has handled the messages that came before.
type PoisonPill struct{}

// SuppressDeadLetter marks it as nothing to miss.
func (PoisonPill) SuppressDeadLetter() {}

// Kill makes an actor fail with [ErrActorKilled]: by default its parent stops it.
type Kill struct{}

// Identify asks who is there. Every actor answers with [ActorIdentity] by itself.
type Identify struct{ MessageID any }

// ActorIdentity is the answer to [Identify], with the MessageID of the question. Subject is nil where a selection
// found nobody.
type ActorIdentity struct {
	MessageID any
	Subject   *Ref
}

// Terminated says that an actor that is watched has ended. An actor that passes it to [Context.Unhandled] fails
// with a [DeathPactError].
type Terminated struct {
	Ref                *Ref
	ExistenceConfirmed bool // false: there was no such actor when it was watched
	AddressTerminated  bool // the whole node is gone
}

// SuppressDeadLetter marks it as nothing to miss.
func (Terminated) SuppressDeadLetter() {}

// ReceiveTimeout says that no message has come for the time of [Context.SetReceiveTimeout].
type ReceiveTimeout struct{}

// DeadLetter is a message to an actor that is not there (any more). It is published on the event stream.
type DeadLetter struct {
	Message           any
	Sender, Recipient *Ref   // Sender may be nil
	Reason            string // where it is not that the receiver is not there: why it could not be sent to another node
}

// SuppressedDeadLetter is a DeadLetter whose message is a [DeadLetterSuppression]: nobody needs to be told.
type SuppressedDeadLetter struct {
	Message           any
	Sender, Recipient *Ref
}

// DeadLetterSuppression marks messages that are expected to miss their receiver now and then.
type DeadLetterSuppression interface{ SuppressDeadLetter() }

// UnhandledMessage is a message that an actor got and did not handle. It is published on the event stream.
type UnhandledMessage struct {
	Message           any
	Sender, Recipient *Ref
}

// Dropped is a message that was not delivered for a reason other than its receiver's end. It is published on the
// event stream.
type Dropped struct {
	Message           any
	Reason            string
	Sender, Recipient *Ref
}

// NotInfluenceReceiveTimeout marks messages that do not count as a message for [Context.SetReceiveTimeout].
type NotInfluenceReceiveTimeout interface{ NotInfluenceReceiveTimeout() }

// StatusSuccess is a reply that says that what was asked for has been done (Akka.NET: Status.Success).
type StatusSuccess struct{ Status any }

// StatusFailure is a reply that says that it has not: an ask fails with Cause (Akka.NET: Status.Failure).
type StatusFailure struct {
	Cause error
	State any
}
