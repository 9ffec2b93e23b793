// Package script runs the hooks that users configure: commands and requests at the events of a
// session, in Hermes' own form or in that of Claude Code as it is.
//
// It reads the configuration, makes what a script reads on its input, runs it, reads its verdict
// and applies that through [hermes.Hook]. A verdict never widens anything: it refuses, has the user
// asked, changes the arguments of a call, which is judged afterwards, or adds text.
//
// The package starts nothing itself: a command runs in the environment that it is handed, and a hook
// runs only if the user has agreed to it ([Consents]). It knows neither walls nor projects.
//
// Start at [Parse] and [Session]; events.go lists the events, verdict.go what a script may answer.
package script

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"hermes"
)

// Entry is one configured hook.
type Entry struct {
	// Key is where it is configured, such as hooks.PreToolUse.0, and Source whose file that is.
	Key, Source string
	Event       string
	Matcher     string // as written; "" is everything
	// If is a rule that a call must fit besides, as written; "" is every call.
	If      string
	Command Command
	Request Request
	Prompt  Prompt
	Timeout time.Duration
	// FailClosed refuses the call if the hook fails, does not run or is not agreed to.
	FailClosed bool
	// Untrusted says that what the hook prints counts as text of others.
	Untrusted bool
	// Fault says why the hook never runs; "" if it can.
	Fault string

	event event
	match *regexp.Regexp // nil is everything
	only  *condition     // nil is every call
}

// Command is a program, or a line for the shell.
type Command struct {
	Line string // "" if the hook is a request
	// Words says that the line is words without a shell: no variables, redirections or patterns.
	Words bool
	// Read and Write are more paths that the command may read and change.
	Read, Write []string
}

// Request is an HTTP request that asks a service.
type Request struct {
	URL     string
	Headers map[string]string
	// Secret signs the body; "" signs nothing. SecretEnv names the variable that has it.
	Secret    hermes.Secret
	SecretEnv string
}

// Problem is what is wrong with a part of the configuration.
type Problem struct {
	Key  string // such as hooks.PreToolUse.0.timeout
	Text string // such as "is not a known event"
	// Served says what happens instead.
	Served string
	// Waits says that the setting is right and has no effect yet.
	Waits bool
}

// Place is where the commands of hooks run. It is safe for concurrent use.
type Place interface {
	Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error)
	Close() error
}

// Ender is implemented by places that can end all that runs in them, also what left the group of its
// command.
type Ender interface {
	EndInside() error
}

// Set is hooks of one origin: those of the user, or those of a project.
type Set struct {
	Entries []Entry
	// Project is the folder whose settings the hooks are from; "" is the user.
	Project string
	// Dir is the folder in which its commands run, and of what they name; "" is that of the session.
	Dir string
	// Trusted reports whether hooks of the project may run now; nil is yes.
	Trusted func() bool
	// Chosen says that the user counts the text of the project as their own.
	Chosen bool
	// Copied returns the file to run instead of one of the project: a copy of what was trusted. Nil
	// has none.
	Copied func(path string) (string, bool)
	// Open makes the place of the commands, once; files are those that they name, and write what they
	// may change. It is called before the first one runs.
	Open func(ctx context.Context, need Needs) (Place, error)
}

// Needs is what the commands of a set need beyond reading the working folder. All paths are absolute.
type Needs struct {
	Read, Write []string
}

// About is what hooks know of their session from its beginning.
type About struct {
	ID string
	// Child says that it is the session of a child, whose beginning, end and turns are events of the
	// session above.
	Child bool
	// Elsewhere says that its commands and files are not on this machine.
	Elsewhere bool
}

// Config is what the hooks of a session share.
type Config struct {
	// Dir is the working folder, Home that of the user.
	Dir, Home string
	Profile   string
	Consents  *Consents
	// Accept agrees to every hook of the user.
	Accept bool
	// LookupEnv finds secrets of requests; nil finds none.
	LookupEnv func(name string) (string, bool)
	// Client sends requests; it follows no redirect.
	Client      *http.Client
	Session     About
	Transcripts Transcripts
	// Mask hides the secrets of a text in what hooks read of the session; nil hides nothing.
	Mask func(text string) string
	// Ask asks a model for the hooks that have a prompt; nil has none.
	Ask func(ctx context.Context, q Question) (answer string, err error)
	// Outbound gets every event; nil sends nothing.
	Outbound *Outbound
	Now      func() time.Time
	Log      *slog.Logger
}
