// Package akkanode is a node for tests of interoperability, driven by JSON lines: the counterpart of the Akka.NET node that
// our tests talk to, with the same actors, message types, commands and events, so that either can stand on either end of a
// script. `actua actors` is made of it.
//
// Its actors are /user/echo and /user/watchme (answer with the very message; "stop" and "fail" do what they say; a Reading
// with a ReplyTo goes there), /user/collector (reports what it gets), /user/sink (counts integers that must come as
// 0, 1, 2 and so on) and /user/controller (watches and deploys).
package akkanode
