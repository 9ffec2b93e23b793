package prompt

import (
	"context"
	"embed"
	"strings"
	"time"

	"hermes"
	"hermes/internal/tokens"
)

//go:embed text
var texts embed.FS

// Tier says how long a section stays the same.
type Tier string

// The tiers, from the most stable to the least.
const (
	Stable   Tier = "stable"   // the same for every session of this program
	Context  Tier = "context"  // depends on the folder and the user's files
	Volatile Tier = "volatile" // depends on the day or the session
)

// Section is a piece of the prompt. Its name says which layer it is.
type Section struct {
	Name string
	Tier Tier
	Text string
	// Shorten returns the section with at most so many characters, or its
	// minimum if that is more. The text says what is missing, and the same
	// call gives the same text. It is called only if the prompt is too long;
	// nil keeps the first lines.
	Shorten func(most int) string
	// Was is the size in bytes before the section was shortened, 0 if it is
	// whole; Why is the reason.
	Was int
	Why string
	// Provenance names the sources of untrusted text in the section, as in
	// [hermes.Message].
	Provenance string
}

// Prompt is a finished system prompt.
type Prompt struct {
	Sections []Section
	// Warnings tell the user what was left out, in plain words.
	Warnings []string
}

// Text is the prompt as it is sent.
func (p Prompt) Text() string {
	parts := make([]string, len(p.Sections))
	for i, s := range p.Sections {
		parts[i] = s.Text
	}
	return strings.Join(parts, separator)
}

// Layers returns the sections in the form that reports store.
func (p Prompt) Layers() []hermes.PromptLayer {
	out := make([]hermes.PromptLayer, len(p.Sections))
	for i, s := range p.Sections {
		n := len(s.Text)
		if i < len(p.Sections)-1 {
			n += len(separator)
		}
		out[i] = hermes.PromptLayer{Name: s.Name, Bytes: n, Tokens: tokens.Text(s.Text), Was: s.Was, Why: s.Why}
	}
	return out
}

// Provenance names the sources of untrusted text in the prompt.
func (p Prompt) Provenance() string {
	var all string
	for _, s := range p.Sections {
		all = hermes.AddProvenance(all, s.Provenance)
	}
	return all
}

const separator = "\n\n"

// Input is everything that a prompt depends on.
type Input struct {
	// Model is the reference of the model; its family decides which guidance
	// is added.
	Model string
	// Platform is the frontend: cli, oneshot, cron, telegram, ….
	Platform    string
	Environment Environment
	// Started is when the session began; only its day shows.
	Started time.Time
	// SessionID is shown to the model if it is not empty.
	SessionID string
	// Enforce says whether tool use is enforced: "auto" or "" by the model's
	// family, "always", "never", or a comma list of parts of model names.
	Enforce string

	// Soul is the path of the user's SOUL.md, empty for none.
	Soul string
	// IgnoreRules leaves out SOUL.md and the project's files.
	IgnoreRules bool
	// Window is the model's context length in tokens, 0 if unknown.
	Window int
	// Share is the part of the window that the prompt may take; 0 means a quarter.
	Share float64
	// Limits are the most characters of single layers, by name.
	Limits map[string]int
	// Redact hides secrets in the files; nil shows them as they are.
	Redact func(string) string
	// MaxChars limits each file in characters; 0 means 20,000.
	MaxChars int
	// ReadTimeout limits each access to a folder or file; 0 means 5 s.
	ReadTimeout time.Duration

	// Guides come before the project's files, such as the guides of toolsets
	// and the index of skills. Memories come after them.
	Guides, Memories []Section
}

// Environment describes where commands run and files live. Empty fields are left out.
type Environment struct {
	// Backend is "local" or empty for this machine, else its kind: docker, ….
	Backend string
	OS      string // such as "Ubuntu 24.04 (amd64)"
	Home    string
	Dir     string
	Shell   string // a name or a path, of which the name is shown
	User    string
	// Isolation says in one line what commands may do; empty for no walls.
	Isolation string
}

// Build collects the prompt. It reads files only through files, which may be
// nil; a file that cannot be read in time is left out with a warning.
func Build(ctx context.Context, in Input, files Files) Prompt {
	b := builder{Input: in, files: bounded{files, in.ReadTimeout}}
	b.identity(ctx)
	b.add("working", Stable, fixed("working"))
	b.add("platform", Stable, fixed("platform/"+platformName(in.Platform)))
	b.add("environment", Context, environment(in.Environment))
	b.add("enforcement", Stable, enforcement(in.Model, in.Enforce))
	b.add("model", Stable, guidance(in.Model))
	b.put(in.Guides)
	b.project(ctx)
	b.put(in.Memories)
	b.add("session", Volatile, session(in))
	b.fit()
	return b.out
}

type builder struct {
	Input
	files bounded
	root  string // of the project
	out   Prompt
}

// add appends a section unless there is nothing to say.
func (b *builder) add(name string, tier Tier, text string) {
	if text = strings.TrimSpace(text); text != "" {
		b.out.Sections = append(b.out.Sections, Section{Name: name, Tier: tier, Text: text})
	}
}

// put appends sections that other packages made.
func (b *builder) put(sections []Section) { b.out.Sections = append(b.out.Sections, sections...) }

func (b *builder) warn(text string) { b.out.Warnings = append(b.out.Warnings, text) }

// identity adds the user's SOUL.md, or the built-in text.
func (b *builder) identity(ctx context.Context) {
	own := fixed("identity")
	if b.Soul == "" || b.IgnoreRules {
		b.add("identity", Stable, own)
		return
	}
	raw, err := b.files.Read(ctx, "", b.Soul)
	if err != nil {
		if !isMissing(err) {
			b.warn("SOUL.md was not read: " + err.Error())
		}
		b.add("identity", Stable, own)
		return
	}
	soul := b.admit("SOUL.md", raw)
	switch {
	case soul.blocked:
		b.add("identity", Context, own+separator+soul.content)
	case soul.content == "":
		b.add("identity", Stable, own)
	default:
		b.put([]Section{{Name: "identity", Tier: Context, Text: soul.within(b.maxChars()), Shorten: soul.framed}})
	}
}

// fixed returns the embedded text of a name, or "".
func fixed(name string) string {
	t, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(t))
}

func platformName(p string) string {
	p = strings.ToLower(p)
	if p == "" || p == "tui" || strings.ContainsAny(p, "/.\\") {
		return "cli"
	}
	return strings.ReplaceAll(p, "-", "_")
}
