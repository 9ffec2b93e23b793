// Package surroundings reports to a session what changed around it: files that others
// changed, news of background processes, the folder in which commands run, and the state
// of the repository. The report follows the user's message, so that the prompt of a
// session stays the same.
//
// The package does not decide which sessions get a report. Start at Watch.Report.
package surroundings

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hermes"
	"hermes/internal/git"
	"hermes/internal/text"
)

// Files knows which files a session has seen.
type Files interface {
	// Changed names the files that something else changed since, each state once.
	Changed(session string) []string
}

// Processes knows the background processes of a session.
type Processes interface {
	// News says what happened to them since it was last called, "" if nothing.
	News(session string) string
}

// Config says what a watch looks at. All fields must be set.
type Config struct {
	Session     string // id
	Environment hermes.Environment
	Files       Files
	Processes   Processes
	Git         git.Repository           // of the session's working folder
	Mask        func(text string) string // removes secrets
}

// Watch reports each change around one session once. Its methods may be called
// concurrently.
type Watch struct {
	config Config

	mu   sync.Mutex
	said string // the state of the repository in the last report
	dir  string // the working folder of commands in the last report
}

// New makes a watch. The folder in which commands run now is not reported.
func New(c Config) *Watch { return &Watch{config: c, dir: folder(c.Environment)} }

// maxReport is the length of a report, in characters.
const maxReport = 2000

// Report names changed files, background processes, another folder and a
// changed state of the repository. The first message of a session gets the
// state of the repository as it is.
func (w *Watch) Report(ctx context.Context) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var notes []string
	if changed := w.config.Files.Changed(w.config.Session); len(changed) > 0 {
		notes = append(notes, "changed by others since you read them: "+strings.Join(changed, ", "))
	}
	if news := w.config.Processes.News(w.config.Session); news != "" {
		notes = append(notes, news)
	}
	if dir := folder(w.config.Environment); dir != "" && dir != w.dir {
		w.dir = dir
		notes = append(notes, "commands run in "+dir)
	}
	if state := w.repository(ctx); state != "" && state != w.said {
		w.said = state
		notes = append(notes, state)
	}
	return w.config.Mask(text.OneLine(strings.Join(notes, "; "), maxReport))
}

// Restore reads from a transcript the last working folder that the model knows.
func (w *Watch) Restore(transcript []hermes.Message) {
	for _, m := range slices.Backward(transcript) {
		var r struct {
			Dir string `json:"cwd"`
		}
		if m.ToolName == "terminal" && json.NewDecoder(strings.NewReader(m.Text())).Decode(&r) == nil && r.Dir != "" {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.dir = r.Dir
			return
		}
	}
}

// folder returns the folder in which the next command runs, "" if unknown.
func folder(env hermes.Environment) string {
	dir, err := env.Files().Resolve(".")
	if err != nil {
		return ""
	}
	return dir
}

// repository returns the branch of the working folder's repository, the number of
// changed files, and the files that git does not know, "" if there is none.
func (w *Watch) repository(ctx context.Context) string {
	if w.config.Git.There == nil && !onHost(w.config.Environment) || !w.config.Git.Exists() {
		return ""
	}
	s, err := w.config.Git.Status(ctx)
	if err != nil {
		return ""
	}
	state := "git branch " + s.Branch
	if s.Branch != detached && !plain(strings.ReplaceAll(s.Branch, "/", "-")) {
		state = "a git branch with an unusual name"
	}
	state += ", " + text.Plural(s.Changed, "changed file", "changed files")
	if len(s.Untracked) > 0 {
		state += fmt.Sprintf(", %d untracked: %s", len(s.Untracked), few(s.Untracked))
	}
	return state
}

// onHost reports whether the files of an environment are those of this machine, where
// git is asked.
func onHost(env hermes.Environment) bool {
	files, ok := env.Files().(hermes.HostFiles)
	return ok && files.OnHost()
}

// detached is in the place of a branch that is not there. No branch has a blank in its name.
const detached = "HEAD (no branch)"

// few names the first files of a list that have plain names, and counts the others.
func few(names []string) string {
	const most = 3
	var shown []string
	more, unusual := 0, 0
	for _, name := range names {
		switch {
		case !plain(name):
			unusual++
		case len(shown) == most:
			more++
		default:
			shown = append(shown, name)
		}
	}
	var all []string
	if len(shown) > 0 {
		all = append(all, strings.Join(shown, ", "))
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	if unusual > 0 {
		all = append(all, text.Plural(unusual, "with an unusual name", "with unusual names"))
	}
	return strings.Join(all, " and ")
}

// plain reports whether the name of a file or branch may be shown. Whoever wrote the repository chose it, so it must
// be too short for an instruction: at most 60 letters, digits and joining marks, and at most 5 words in the name of one
// file or folder. Letters of scripts that write no blanks say too much in a short name.
func plain(name string) bool {
	const most, mostWords = 60, 5
	joins := func(r rune) bool { return strings.ContainsRune("._-+@#", r) }
	letter := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) }
	unusual := func(r rune) bool { return !(joins(r) || letter(r) || r == '/' || r >= '0' && r <= '9') }
	if name == "" || utf8.RuneCountInString(name) > most || strings.ContainsFunc(name, unusual) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		words := slices.DeleteFunc(strings.FieldsFunc(part, joins), func(w string) bool { return !strings.ContainsFunc(w, letter) })
		if len(words) > mostWords {
			return false
		}
	}
	return true
}
