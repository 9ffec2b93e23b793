// Package seccomp filters the system calls of the calling process, and makes
// connections for it from outside.
//
// A [Filter] is a small program for the kernel, assembled here by hand for amd64
// and arm64. It refuses what Landlock does not see: kinds of sockets, calls that
// reach into other processes, the mount interface, old and rare parts of the
// kernel. It can hand connect, bind and listen to a [Supervisor], which runs in
// another, unrestricted process and makes them on the caller's socket, because
// a filter cannot see the address that a pointer leads to. [Simulation] makes a
// test's host behave like a weaker one.
//
// The package does not know why something is refused, and reports only what.
// Start reading at filter.go; rules_linux.go has the lists, supervisor_linux.go
// the other side.
package seccomp
