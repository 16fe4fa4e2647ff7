// Package peek is how package testkit sees of actors what nobody else should. Package actor sets the functions.
package peek

// Busy reports whether an actor of a *actor.System has a message that it may handle now, or handles one.
var Busy func(system any) bool

// Instance is the actor behind a *actor.Ref, for one that runs on the calling thread and handles nothing now. Otherwise why
// says what is in the way.
var Instance func(ref any) (instance any, why string)
