// Package memspace holds nodes in memory: namespace 0 and the namespaces of an application. It is the
// node manager that most servers use.
//
//	space := memspace.New("urn:example:plant")
//	speed := space.AddVariable(space.Objects(), "Speed", ua.Double(0), memspace.Writable())
//	server, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space}})
//	...
//	speed.Set(ua.Double(1)) // from any goroutine
//
// # Errors while nodes are added
//
// The Add methods return a node in any case, so that building an address space needs no error check a
// line. A node that could not be added (its id is taken, its parent was removed) is usable but in no
// address space; Node.Err tells why, and Space.Err the first such error. Space.Attach, and so
// uaserver.New, fails with it.
//
// # Callbacks
//
// Callbacks run without any lock of the package held: they may use the Space and all its nodes. They
// may take their time, unless NonBlocking says that they do not. A panic in a callback is logged and
// answered with BadInternalError.
//
// # Concurrency
//
// Every method may be called from any goroutine. Reading, browsing and setting values take no lock
// that other nodes share; adding and removing nodes is ordered by one lock that readers do not need.
//
// A client that browses a node in pages while references come and go sees each reference that was
// there all the time exactly once. One that is added meanwhile comes last or not at all, one that is
// removed before its page is not seen. The pages of a node that was removed end with
// BadNodeIdUnknown.
//
// # Size
//
// A variable takes about 400 bytes, all in. Adding, finding and paging cost the same in an address space
// of a million nodes as in a small one, and so does following a browse path.
package memspace
