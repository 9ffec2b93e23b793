// Package mount gives a process a file system of its own: a new root with only
// the files and folders that its caller names, a fresh /proc, /dev and /tmp, and
// nothing else of the host.
//
// [Attr] is for the process that starts the child: the child gets new namespaces
// and, for the time of the set-up, a few capabilities in them. The child calls
// [Build], which ends with the old root gone, and then [Drop] on a locked thread,
// which executes a program next. No thread of that program has a capability, and
// no process that it starts has or can get one.
//
// Programs of an earlier sandbox may still write to the same folders while Build
// runs. So every path is opened once, without following links, and what is mounted
// is what was opened. Build reports what it could not protect; the caller decides.
//
// The package does not know what is worth protecting or hiding. Start reading at
// root.go, then plan_linux.go (which mounts, in which order) and build_linux.go.
package mount
