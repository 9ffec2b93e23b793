// Package track holds what is known of a command line while it is read: variables and
// folders (state.go), files that the line wrote, links, and which paths a word may mean.
// Its [Line] also collects the dangers. It knows the protected paths of internal/policy, but
// not what commands do. Start at [Line].
package track

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy"
	"hermes/internal/policy/shell/lex"
)

// Level says how to treat a command.
type Level int

// The levels, in rising order.
const (
	// Allow: nothing was found.
	Allow Level = iota
	// Ask: the user decides.
	Ask
	// Refuse: no mode and no approval allows it.
	Refuse
)

// Finding is one danger of a command.
type Finding struct {
	Level Level
	// Key names the pattern, such as "recursive-delete". Keys must not change,
	// since approvals are stored under them.
	Key string
	// Reason says in plain words what the command would do.
	Reason string
}

// Context is what a command is judged by. The zero value knows no home folder.
type Context struct {
	// Home is the user's home folder, absolute.
	Home string
	// Hermes is the folder of Hermes itself; empty means .hermes in Home.
	Hermes string
	// Dir is the folder in which the command would run; empty means unknown.
	Dir string
	// Resolve follows the links of an absolute path on disk and returns the path
	// it leads to. Nil follows none. It is the only thing that may touch a disk.
	Resolve func(path string) string
	// Links are the protected files of this machine that are links; nil knows none.
	Links *policy.Links
	// Holds says what key or login a file, or one below a folder, seems to hold by its content, ""
	// for none; see package keyfile. A path may be a pattern of a shell. It reads the disk, so it is asked about lines only
	// that send something. Nil knows only names.
	Holds func(path string) string
	// PID is the process id of Hermes; 0 means unknown.
	PID int
	// Gateway is set while the gateway runs in this process: a command of its
	// own sessions must not stop it.
	Gateway bool
}

// Line is what is known of a line while it is read, without running anything:
// its variables, folders, files and links, and the dangers that were found. It is
// for one goroutine.
type Line struct {
	Context Context
	State
	budget
	choices
	writing
	Dir      string                    // the folder in which the current command runs; "" is unknown
	Funcs    map[string][]*syntax.Stmt // the functions of the line, each in all its forms
	Remotes  []string                  // of git, which the line adds
	Rights   int                       // how many wrappers give the rights of the system
	Probing  bool                      // what is judged may not be a command at all
	Listing  bool                      // only the commands are wanted: no path is judged
	Leaves   bool                      // something of the line may send files or text elsewhere
	Away     bool                      // something of the line may act on another machine, or in another container
	Shows    bool                      // something of the line reads a secret
	Astray   bool                      // what is read may go ways that are not followed, such as open files and names of names
	Held     string                    // which file holds what, by its content
	Findings []Finding                 // in the order in which they were found, one for each key
	links    links                     // made by the line, or found on disk
	visited  []string                  // folders that the line changes to
}

// budget counts what a line has used of its limits.
type budget struct {
	Depth int // shells, functions and wrappers inside each other
	Steps int // commands
	Work  int // bytes and words that were expanded
}

// choices is how a command is judged once for each way to it.
type choices struct {
	owned   bool // Vars is not shared
	Changes int  // of the state
	choice  int  // which alternative is judged
	most    int  // how many alternatives the current command has
}

// writing is what the line does to files.
type writing struct {
	Files  map[string]Content // that the line wrote
	Copies map[string]bool    // into which the line put a secret
	Made   []string           // that were made executable
}

// New returns what is known before a line begins.
func New(on Context) *Line {
	on.Hermes = cmp.Or(on.Hermes, on.Home+"/.hermes")
	return &Line{Context: on, State: State{dirs: []string{on.Dir}}, Dir: on.Dir}
}

// Ask adds a danger about which the user decides.
func (l *Line) Ask(key, reason string) { l.Find(Finding{Ask, key, reason}) }

// Refuse adds a danger that is never allowed.
func (l *Line) Refuse(key, reason string) { l.Find(Finding{Refuse, key, reason}) }

// Find adds a danger. Of two with one key, the first of the higher level counts.
func (l *Line) Find(f Finding) {
	i := slices.IndexFunc(l.Findings, func(old Finding) bool { return old.Key == f.Key })
	if i < 0 {
		l.Findings = append(l.Findings, f)
		return
	}
	if f.Level > l.Findings[i].Level {
		l.Findings[i] = f
	}
}

// Step counts a command. It reports false once there are too many of them.
func (l *Line) Step() bool {
	if l.Steps++; l.Steps > lex.MaxSteps || l.Work > lex.MaxWork {
		l.Exhausted()
		return false
	}
	return true
}

// Spend counts expanded bytes. It reports false once there are too many of them;
// then everything that is expanded is unknown.
func (l *Line) Spend(bytes int) bool {
	if l.Work += bytes + 1; l.Work > lex.MaxWork {
		l.Exhausted()
		return false
	}
	return true
}

// Exhausted asks, since the rest of the line is not judged.
func (l *Line) Exhausted() { l.Ask("too-deep", "there is too much to check in this command") }
