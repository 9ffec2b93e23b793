// Package reference expands the references in a user's message: @path, @file,
// @folder, @diff, @staged, @git:N, @url and @session. It puts their content below the
// message, under its own heading, and does not change the message itself.
//
// A reference that is missing, binary, sensitive or outside the working folder
// gives a warning instead of content. References that take more than a quarter
// of the model's window cause a note; more than half are all refused. The
// package reads only through Sources and knows no store, shell or network.
//
// Start at Expand. parse.go decides what is a reference, path.go what is one to
// a path after a bare @.
package reference

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/tokens"
)

// Sources read the content of references. A nil source refuses its kind with a
// warning.
type Sources struct {
	// Look returns File or Folder for a path that exists, else "". Nil means that
	// @path is not a reference.
	Look func(path string) Kind
	// File returns the given lines of a text file (0 is no bound), or the
	// reason why it may not be attached.
	File func(ctx context.Context, path string, from, to int) (Page, error)
	// Folder lists the content of a folder, at most 200 entries.
	Folder func(ctx context.Context, path string) (string, error)
	// Git runs a read-only git command in the working folder.
	Git func(ctx context.Context, args ...string) (string, error)
	// Untracked lists the files that git does not know, and the content of small
	// ones. It belongs to @diff; nil leaves it out.
	Untracked func(ctx context.Context) (string, error)
	// URL fetches a page as text, or returns the reason why it may not be attached.
	URL func(ctx context.Context, url string) (Page, error)
	// Session returns an earlier session as text.
	Session func(ctx context.Context, ref string) (string, error)
}

// Page is the content of a URL or a file.
type Page struct {
	Text string
	Note string // what the user should know about it; may be empty
}

// Expanded is the content that a message points at.
type Expanded struct {
	// Attached is the text to put below the message; empty if there is none.
	Attached string
	// Warnings tell the user what was left out and why.
	Warnings []string
	// Notes tell the user what to know about the attached content.
	Notes  []string
	Tokens int // estimated size of the attached content
	// Provenance names what is attached, as in [hermes.Message]: files, pages
	// and sessions contain untrusted text.
	Provenance string
}

// defaultWindow replaces an unknown context length, in tokens.
const defaultWindow = 128_000

// ErrTooMuch means that the references would fill more than half of the
// window. None of them is attached.
var ErrTooMuch = errors.New("the references of the message are too large for the model's window")

// Expand reads everything that text points at. window is the model's context
// length in tokens, 0 if unknown.
func Expand(ctx context.Context, text string, s Sources, window int) (Expanded, error) {
	if window <= 0 {
		window = defaultWindow
	}
	var out Expanded
	var b strings.Builder
	for _, r := range FindIn(text, s.Look) {
		content, note, err := s.read(ctx, r)
		if ctx.Err() != nil {
			return Expanded{}, context.Cause(ctx)
		}
		if err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v", r.Text, err))
			continue
		}
		if note != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %s", r.Text, note))
		}
		out.Provenance = hermes.AddProvenance(out.Provenance, hermes.ProvenanceSource(r.Text))
		fmt.Fprintf(&b, "\n\n--- %s ---\n%s", r.Text, strings.TrimRight(content, "\n"))
	}
	if b.Len() == 0 {
		return out, nil
	}
	out.Attached = "Attached context:" + b.String()
	out.Tokens = tokens.Text(out.Attached)
	switch {
	case out.Tokens > window/2:
		return Expanded{}, fmt.Errorf("%w: about %d of %d tokens; refer to less, for example to part of a file with @file:path:10-50", ErrTooMuch, out.Tokens, window)
	case out.Tokens > window/4:
		out.Notes = append(out.Notes, fmt.Sprintf("the attached content takes about %d of the model's %d tokens", out.Tokens, window))
	}
	return out, nil
}

var errNotHere = errors.New("this kind of reference is not available here")

func (s Sources) read(ctx context.Context, r Reference) (text, note string, err error) {
	err = errNotHere
	switch r.Kind {
	case File:
		if s.File != nil {
			page, err := s.File(ctx, r.Target, r.From, r.To)
			return page.Text, page.Note, err
		}
	case Folder:
		if s.Folder != nil {
			text, err = s.Folder(ctx, r.Target)
		}
	case URL:
		if s.URL != nil {
			page, err := s.URL(ctx, r.Target)
			return page.Text, page.Note, err
		}
	case Session:
		if s.Session != nil {
			text, err = s.Session(ctx, r.Target)
		}
	default:
		text, err = s.git(ctx, r)
	}
	return text, "", err
}

func (s Sources) git(ctx context.Context, r Reference) (string, error) {
	if s.Git == nil {
		return "", errNotHere
	}
	args := []string{"diff"}
	switch r.Kind {
	case Staged:
		args = []string{"diff", "--cached"}
	case Commits:
		args = []string{"log", "-p", fmt.Sprintf("-%d", r.From)}
	}
	out, err := s.Git(ctx, args...)
	if err != nil {
		return "", err
	}
	if r.Kind == Diff && s.Untracked != nil {
		names, err := s.Untracked(ctx)
		if err != nil {
			return "", err
		}
		if names != "" {
			out = strings.TrimLeft(strings.TrimRight(out, "\n")+"\n\nUntracked files:\n"+names, "\n")
		}
	}
	if strings.TrimSpace(out) == "" {
		return "(no changes)", nil
	}
	return out, nil
}
