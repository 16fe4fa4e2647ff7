// Package uaclient is an OPC UA client: it finds a server's endpoints, opens a secure channel and a
// session, and offers every service as a typed call.
//
// # Two layers
//
// Methods named after a service of Part 4 (Read, Write, Call, Browse, BrowseNext and so on) send one
// request and return its response, statuses of single operations included. Helpers built on them
// (ReadValue, WriteValue, CallMethod, BrowseAll, References, ResolvePath) keep the server's operation
// limits, page by continuation points and turn bad statuses into errors.
//
// # Subscriptions
//
// Subscribe makes a subscription whose notifications reach callbacks. The client publishes for it, acknowledges,
// and asks again for what is missing.
//
// # Session lifetime
//
// A session lives on the server for SessionTimeout after its last request. Without a subscription this package
// does not yet send requests by itself: a program that is idle for longer must call something, such as
// ReadValue of the server's state, or dial again when a call returns BadSessionIdInvalid.
package uaclient
