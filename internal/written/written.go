// Package written finds which files a command line would run or obey that came with a
// session: the session wrote them with its tools, or they were changed since it began. A
// user reads the list before the line runs outside of the sandbox, and the line runs only
// if the list is still the same then.
//
// It reads folders and files and changes nothing. It does not know who asks, and not what
// is allowed. What a line names is in name.go, and programs in program.go; find.go looks for
// the names, search.go for what has no name in the line, and tell.go writes the list.
package written

import (
	"time"
)

// Session is how to tell what came with a session.
type Session struct {
	// Home is the user's home folder; "" is unknown.
	Home string
	// Own are the files that it wrote with its tools, by their real paths.
	Own []string
	// Began is when it began. What was changed later came with it. The zero time is
	// unknown: then only Own did.
	Began time.Time
}

// List names the files that a line would run in a folder and that came with the session,
// what it runs directly first. Equal lists mean equal files, also of those that it only
// counts. It can miss what a named file runs in turn.
func (s Session) List(line, dir string) []string {
	names := readLine(line, s.Home)
	f := newFinder(s, dir)
	f.resolve(names.all)
	if names.open || f.incomplete || f.missing(names.all) {
		f.all()
	} else {
		f.folders()
	}
	f.incomplete = f.incomplete || names.cut
	return f.told()
}
