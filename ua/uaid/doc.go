// Package uaid holds the numeric identifiers of the nodes of namespace 0 under the names of
// NodeIds.csv (Part 6, A.3), one file for each node class. They are untyped constants:
//
//	ua.ID(uaid.Server_ServerStatus_CurrentTime)
package uaid
