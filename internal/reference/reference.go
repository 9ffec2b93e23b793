// Package reference expands the references in a user's message: @path, @file,
// @folder, @diff, @staged, @git:N, @url and @session. It puts their content below the
// message, under its own heading, and does not change the message itself.
//
// A reference that is missing, binary, sensitive or outside the working folder
// gives a warning instead of content. References that take more than a quarter
// of the model's window cause a note; more than half are all refused. Which addresses
// may be fetched is decided by the guard that Sources names.
//
// Start at Sources.Expand. parse.go decides what is a reference, path.go what is one to
// a path after a bare @. Each kind of content has a file: disk.go, file.go, changes.go,
// page.go and session.go. there.go reads files that are not on this machine.
package reference

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/git"
	"hermes/internal/netguard"
	"hermes/internal/policy"
	"hermes/internal/tokens"
)

// Sources are what references are read from. All fields but Files and Tell must be set.
type Sources struct {
	Dir       string           // the working folder; files outside it are refused
	Rules     policy.PathRules // which files may contain secrets
	Git       git.Repository   // of the working folder
	Files     hermes.Files     // those of the working folder; nil if it is on this machine
	Store     func(context.Context) (Sessions, error)
	Guard     func() (*netguard.Guard, error) // decides which addresses may be fetched
	UserAgent string                          // sent with each fetch
	Mask      func(text string) string        // removes secrets

	// Tell, if set, is called with a sentence about each slow step as it starts.
	Tell func(string)
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

// Parts are what a message gets in addition: the content, which is sent and stored but not
// shown, and what could not be attached and what to know, which the user sees too.
func (e Expanded) Parts() []hermes.Part {
	var parts []hermes.Part
	if e.Attached != "" {
		parts = append(parts, hermes.Part{Text: e.Attached, Hidden: true, Provenance: e.Provenance})
	}
	if len(e.Warnings) > 0 {
		parts = append(parts, hermes.Part{Text: "[Not attached: " + strings.Join(e.Warnings, "; ") + "]"})
	}
	if len(e.Notes) > 0 {
		parts = append(parts, hermes.Part{Text: "[Attached: " + strings.Join(e.Notes, "; ") + "]"})
	}
	return parts
}

// defaultWindow replaces an unknown context length, in tokens.
const defaultWindow = 128_000

// ErrTooMuch means that the references would fill more than half of the
// window. None of them is attached.
var ErrTooMuch = errors.New("the references of the message are too large for the model's window")

// Expand reads everything that text points at. window is the model's context
// length in tokens, 0 if unknown.
func (s Sources) Expand(ctx context.Context, text string, window int) (Expanded, error) {
	if window <= 0 {
		window = defaultWindow
	}
	var out Expanded
	var b strings.Builder
	for _, r := range FindIn(text, s.lookIn(ctx)) {
		page, err := s.read(ctx, r)
		if ctx.Err() != nil {
			return Expanded{}, context.Cause(ctx)
		}
		if err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v", r.Text, err))
			continue
		}
		if page.Note != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("%s: %s", r.Text, page.Note))
		}
		out.Provenance = hermes.AddProvenance(out.Provenance, hermes.ProvenanceSource(r.Text))
		fmt.Fprintf(&b, "\n\n--- %s ---\n%s", r.Text, strings.TrimRight(page.Text, "\n"))
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

func (s Sources) read(ctx context.Context, r Reference) (p Page, err error) {
	switch r.Kind {
	case File:
		return s.file(ctx, r.Target, r.From, r.To)
	case Folder:
		p.Text, err = s.folder(ctx, r.Target)
	case URL:
		return s.page(ctx, r.Target)
	case Session:
		p.Text, err = s.session(ctx, r.Target)
	default:
		p.Text, err = s.changes(ctx, r)
	}
	return p, err
}
