// Package uaserver is an OPC UA server: sessions, the services of Part 4 and the endpoints that offer
// them. The nodes come from node managers; package memspace, below, holds nodes in memory and is what
// most programs use.
//
// A Server is made by New from a Config, which is checked and copied there. It serves listeners until
// Close or Shutdown. All methods may be called from any goroutine.
package uaserver
