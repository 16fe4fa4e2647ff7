// Package akka holds the tests of our actor remoting against a real Akka.NET node, and of our node against itself by the same code.
package akka
