package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"hermes"
	"hermes/internal/text"
	"hermes/internal/tool/file"
	"hermes/internal/tool/terminal"
)

// surroundings reports to a session what changed around it, each change once.
type surroundings struct {
	app   *App
	row   hermes.Session
	env   hermes.Environment
	files *file.Toolset
	shell *terminal.Toolset

	mu   sync.Mutex
	said string // the state of the repository in the last report
	dir  string // the working folder of commands in the last report
}

// maxSurroundings is the maximum length of one report, in characters.
const maxSurroundings = 2000

// maxBranch is the maximum length of a reported branch name, in characters.
const maxBranch = 40

// report names changed files, background processes, another folder and a
// changed state of the repository. The first message of a session gets the
// state of the repository as it is.
func (s *surroundings) report(ctx context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var notes []string
	if changed := s.files.Changed(s.row.ID); len(changed) > 0 {
		notes = append(notes, "changed by others since you read them: "+strings.Join(changed, ", "))
	}
	if news := s.shell.News(); news != "" {
		notes = append(notes, news)
	}
	if dir := folderOf(s.env); dir != "" && dir != s.dir {
		s.dir = dir
		notes = append(notes, "commands run in "+dir)
	}
	if state := s.repository(ctx); state != "" && state != s.said {
		s.said = state
		notes = append(notes, state)
	}
	return s.app.Mask(oneLine(strings.Join(notes, "; "), maxSurroundings))
}

// restore reads from a transcript the last working folder that the model knows.
func (s *surroundings) restore(transcript []hermes.Message) {
	for _, m := range slices.Backward(transcript) {
		var r struct {
			Dir string `json:"cwd"`
		}
		if m.ToolName == "terminal" && json.NewDecoder(strings.NewReader(m.Text())).Decode(&r) == nil && r.Dir != "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.dir = r.Dir
			return
		}
	}
}

// folderOf returns the folder in which the next command runs, "" if unknown.
func folderOf(env hermes.Environment) string {
	dir, err := env.Files().Resolve(".")
	if err != nil {
		return ""
	}
	return dir
}

// oneLine removes line breaks from names of files and commands, so that they cannot
// forge lines, and limits their length.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// repository returns the branch of the working folder's repository, the number of
// changed files, and the files that git does not know, "" if there is none.
func (s *surroundings) repository(ctx context.Context) string {
	if !inRepository(s.row.Dir) {
		return ""
	}
	limited, cancel := context.WithTimeout(ctx, maxStatus)
	defer cancel()
	out, err := s.status(limited, "--untracked-files=normal")
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		out, err = s.status(ctx, "--untracked-files=no") // it looks at known files only
	}
	if err != nil {
		return ""
	}
	head, rest, _ := strings.Cut(out, "\x00")
	head = strings.TrimPrefix(strings.TrimPrefix(head, "## "), "No commits yet on ")
	branch, _, _ := strings.Cut(head, "...")
	branch = oneLine(branch, maxBranch) // untrusted: too short for instructions
	changed, untracked := entries(rest)
	state := "git branch " + branch + ", " + text.Plural(changed, "changed file", "changed files")
	if len(untracked) > 0 {
		state += fmt.Sprintf(", %d untracked: %s", len(untracked), few(untracked))
	}
	return state
}

// maxStatus is how long new files are looked for.
const maxStatus = 2 * time.Second

func (s *surroundings) status(ctx context.Context, untracked string) (string, error) {
	return references{app: s.app, dir: s.row.Dir}.run(ctx, "status", "--porcelain=v1", "--branch", "-z", untracked)
}

// entries counts the changed files in the output of git status, which ends each
// entry with NUL, and lists the untracked ones.
func entries(out string) (changed int, untracked []string) {
	for out != "" {
		var entry string
		entry, out, _ = strings.Cut(out, "\x00")
		if name, ok := strings.CutPrefix(entry, "?? "); ok {
			untracked = append(untracked, name)
			continue
		}
		changed++
		if strings.ContainsAny(entry[:min(2, len(entry))], "RC") {
			_, out, _ = strings.Cut(out, "\x00") // the name before
		}
	}
	return changed, untracked
}

// few names the first files of a list and counts the others. Names are untrusted
// like that of the branch.
func few(names []string) string {
	const most = 3
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, oneLine(name, maxBranch))
	}
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	}
	return strings.Join(shown, ", ")
}

// inRepository reports whether a folder or one of its parents is a repository.
func inRepository(dir string) bool {
	for range 64 {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
	return false
}

// newSurroundings watches what changes around a session.
func (a *App) newSurroundings(row hermes.Session, k *sessionTools, env hermes.Environment) *surroundings {
	return &surroundings{app: a, row: row, env: env, files: k.files, shell: k.shell, dir: folderOf(env)}
}

// reporter returns the func that reports changes to a session. A one-shot question
// and the demo have none.
func (s *surroundings) reporter() func(ctx context.Context) string {
	if s.row.Platform == "oneshot" || s.row.Platform == "demo" {
		return nil
	}
	return s.report
}
