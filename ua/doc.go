// Package ua holds the types of OPC UA (Part 3, Part 4, Part 6): the built-in types, the structures
// and enumerations of namespace 0, which are generated from the official files, status codes, and
// the binary and JSON encodings of all of them.
//
// # Encoding
//
// Every type has AppendBinary, which appends its binary form to a slice and cannot fail, and
// DecodeBinary, which reads it from a uabin.Reader, whose first error sticks. DecodeBinary
// overwrites all of its receiver and reuses the slices that it finds there; what a Variant holds is
// never reused, so a Variant may be kept and shared as long as nobody writes to its arrays.
//
// # Null and empty
//
// A nil slice is a null array or byte string, an empty slice an empty one. A string field that is ""
// is written as null; package uabin tells how a null string and an empty one are kept apart.
package ua
