// Package landlock restricts the files, connections and signals of the calling
// thread, and of the program that it executes, with the kernel's Landlock, by raw
// system calls.
//
// Landlock came in steps: each version of its interface (ABI) has more rights
// than the one before. The package builds what the ABI of the kernel has, and
// [Table] says what it lacks and what has to stand in for it. A restriction can
// never be taken off, and is inherited by every program that is started.
//
// The package does not know which paths are worth granting. Start reading at
// rules.go; rights.go has the rights of each ABI.
package landlock
