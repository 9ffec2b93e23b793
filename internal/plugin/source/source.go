// Package source knows where the files of a plugin come from: a folder, an archive, or one commit of
// a git repository. It writes them into an empty folder, within limits, and leaves a sealed record of
// the source beside them, so that the same source can be read again.
//
// It does not know what a plugin is: internal/plugin reads what was written. Start at Parse and
// Source.Fetch.
package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hermes/internal/git"
	"hermes/internal/plugin/upstream"
	"hermes/internal/text"
)

// The kinds of sources.
const (
	Git     = "git"
	Folder  = "folder"
	Archive = "archive"
	Bundled = "bundled"
)

// Source is where the files of a plugin come from.
type Source struct {
	// Kind is Git, Folder, Archive or Bundled.
	Kind string `json:"kind"`
	// From is the address of a repository, an absolute path, or the name of a plugin that comes along.
	From string `json:"from"`
	// Address is where the service of one that comes along is; "" is the public one.
	Address string `json:"address,omitempty"`
	// Branch is the one whose newest commit an update takes; "" is the main one. Commit is the full
	// id of the one that was taken, and Below the folder in it.
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	Below  string `json:"below,omitempty"`
	// Credentials says that git may use the user's settings, keys and stored passwords.
	Credentials bool `json:"credentials,omitempty"`
	// Python are what the user allows a plugin of the Python Hermes; nil if it is none.
	Python *upstream.Grants `json:"python,omitempty"`
}

// atEnd is what may follow the address of a repository: @ with what is no part of a path.
var atEnd = regexp.MustCompile(`^(.+/[^@/]+|[^@]+@[^@:]+:[^@]+)@([^@/]+)$`)

// Parse reads what a user types: the path of a folder, a .zip or a .tar.gz, or a repository as
// https://host/name.git, user@host:name.git or file:///path, with @COMMIT and #FOLDER after it if wanted.
// A commit is 40 hexadecimal digits; anything shorter, and the names of branches and tags, are refused.
func Parse(typed string) (Source, error) {
	if !looksLikeAddress(typed) {
		return local(typed)
	}
	s := Source{Kind: Git}
	s.From, s.Below, _ = strings.Cut(typed, "#")
	s.Below = strings.Trim(s.Below, "/")
	if m := atEnd.FindStringSubmatch(s.From); m != nil {
		s.From, s.Commit = m[1], m[2]
	}
	return s, s.check()
}

func looksLikeAddress(typed string) bool {
	if strings.Contains(typed, "://") {
		return true
	}
	before, _, colon := strings.Cut(typed, ":")
	return colon && strings.Contains(before, "@") && !strings.ContainsAny(before, `/\`)
}

// check refuses a repository that cannot be fetched.
func (s Source) check() error {
	if err := git.CheckURL(s.From); err != nil {
		return err
	}
	if s.Commit != "" && !git.IsCommit(s.Commit) {
		return fmt.Errorf("%q is not the full id of a commit, which has 40 hexadecimal digits in lower case; leave it out to see the newest one", text.VisibleName(s.Commit))
	}
	if s.Below != "" && !filepath.IsLocal(filepath.FromSlash(s.Below)) {
		return fmt.Errorf("%q is not a folder of a repository", text.VisibleName(s.Below))
	}
	return nil
}

func local(typed string) (Source, error) {
	path, err := filepath.Abs(typed)
	if err != nil {
		return Source{}, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Source{}, fmt.Errorf("read the plugin: %w; `hermes plugins list --available` lists those that come along", err)
	case info.IsDir():
		return Source{Kind: Folder, From: path}, nil
	case isArchive(path):
		return Source{Kind: Archive, From: path}, nil
	}
	return Source{}, errors.New("it is neither a folder nor a .zip or .tar.gz")
}

func isArchive(path string) bool {
	for _, end := range []string{".zip", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// WithCommit returns the source at another commit. An error says why that is none.
func (s Source) WithCommit(commit string) (Source, error) {
	if s.Kind != Git {
		return s, errors.New("only a git repository has commits and branches")
	}
	s.Commit = commit
	return s, s.check()
}

// Place is where the source is, without the commit: two versions of one plugin have the same.
func (s Source) Place() string {
	if s.Kind == "" {
		return "files put there by hand"
	}
	return s.Kind + " " + s.From + "#" + s.Below
}

// String is the source in one line, with the first digits of the commit.
func (s Source) String() string {
	out := s.From
	if s.Kind == Bundled {
		out = "this version of Hermes"
	}
	if s.Below != "" {
		out += "#" + s.Below
	}
	if s.Commit != "" {
		out += " at " + s.Commit[:min(12, len(s.Commit))]
	}
	return text.Visible(text.OneLine(out, 300))
}
