// Package file is the toolset that reads, writes, patches and searches files
// where the session's commands run. All file work goes through the session's
// hermes.Environment. Only search_files walks folders itself, when the
// environment reports that its files are on this machine.
//
// The package owns the file guards: which paths may be read and written (by
// the rules of policy), what counts as text, what a session has seen of a file
// and whether the file changed since. It knows nothing of models, frontends or
// approval dialogues. The tool chain hides secrets in results.
//
// Start at read_file.go, which is the pattern for a tool. location.go resolves
// and checks paths, ledger.go remembers what was read, commit.go writes.
package file

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"hermes"
	"hermes/internal/policy"
	"hermes/internal/redact"
)

// Config configures the file tools. The zero value works.
type Config struct {
	// ReadMaxChars bounds the characters of one page of read_file; 0 is 100,000.
	ReadMaxChars int
	// MaxLines bounds the lines of one page; 0 is 2,000.
	MaxLines int
	// MaxLineLength bounds the characters shown of a line; 0 is 2,000.
	MaxLineLength int
	// State is the agent's own home folder, which the tools do not write to.
	State string
	// SafeRoots, if not empty, are the only folders that may be written to.
	SafeRoots []string
	// Program is the program of Hermes, and Path are the folders of the user's PATH, both
	// with links followed. Each write of them is asked about.
	Program string
	Path    []string
	// Links are the protected files of this machine that are links; nil knows none.
	Links *policy.Links
	// TrustWrites lets write_file replace files that changed since they were read, or were
	// never read, and turns off the warnings about them.
	TrustWrites bool
	// Hidden lists what is masked of a text before the model sees it; nil masks by shape only.
	Hidden func(text string) []redact.Hidden
	Now    func() time.Time // nil is time.Now
}

// Toolset holds the four file tools and what they remember of each session.
// It serves any number of sessions at once.
type Toolset struct {
	config Config
	ledger *ledger
	locks  *locks
	judged *judged
}

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset.
func New(c Config) *Toolset {
	c.ReadMaxChars = cmp.Or(max(c.ReadMaxChars, 0), 100_000)
	c.MaxLines = cmp.Or(max(c.MaxLines, 0), 2_000)
	c.MaxLineLength = cmp.Or(max(c.MaxLineLength, 0), 2_000)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Toolset{config: c, ledger: newLedger(c.Now), judged: newJudged(), locks: newLocks()}
}

// Name is "file".
func (t *Toolset) Name() string { return "file" }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the tools, always the same four.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{t.readFile(), t.writeFile(), t.patch(), t.searchFiles()}, nil
}

// Hook returns the hook by which the toolset sees calls of other tools, which
// end a run of equal reads, and the end of a session. The hook also appends
// the instruction files of the folders a call touched to its result.
func (t *Toolset) Hook() hermes.Hook {
	return hermes.Hook{
		Name: "file-ledger",
		BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			switch c.Name {
			case nameRead, nameWrite, namePatch, nameSearch:
			default:
				t.ledger.otherCall(c.Host.Session().ID)
			}
			return nil, nil
		},
		AfterTool: func(ctx context.Context, c *hermes.Call, r *hermes.Result) {
			if c.Host == nil {
				return
			}
			t.judged.over(c)
			t.addHints(ctx, c, r)
		},
		// The model no longer sees the pages that it read before: they are shown again.
		Compacted:  func(_ context.Context, s hermes.SessionRef) { t.ledger.compressed(s.ID) },
		SessionEnd: func(_ context.Context, s hermes.SessionRef) { t.ledger.forget(s.ID) },
	}
}

// riskAssessed adds the approval that some paths need to a tool.
type riskAssessed struct {
	hermes.Tool
	toolset *Toolset
	paths   func(arguments json.RawMessage) []string
	detail  func(arguments json.RawMessage) string // what is written
}

// Subject is the files of a call and what is written to them, as it was sent.
func (r riskAssessed) Subject(ctx context.Context, c *hermes.Call) hermes.Subject {
	var names []string
	for _, path := range r.paths(c.Arguments) {
		if p, err := r.toolset.locate(ctx, c.Host, path); err == nil {
			if path = p.path; p.real != p.path { // a grant is for the file, not for a link to it
				path += " (leads to " + p.real + ")"
			}
		}
		names = append(names, path)
	}
	return hermes.Subject{Text: strings.Join(names, "\n"), Detail: r.detail(c.Arguments)}
}

// AssessRisk returns the risks of paths that need approval to be written. Those that may never be are refused as Run
// would: the reason says what to do instead.
func (r riskAssessed) AssessRisk(ctx context.Context, c *hermes.Call) []hermes.Risk {
	var list []hermes.Risk
	targets := map[string]target{}
	defer func() { r.toolset.judged.assessed(c, targets) }()
	for _, path := range r.paths(c.Arguments) {
		p, err := r.toolset.locate(ctx, c.Host, path)
		if err != nil {
			continue // Run reports the same error
		}
		targets[path] = p.target()
		switch v := p.writeVerdict(); {
		case v.Deny:
			list = append(list, hermes.Risk{Key: "path:" + v.Key, Deny: true, Mistake: true, Reason: p.path + ": " + v.Reason})
		case v.Ask:
			list = append(list, hermes.Risk{Key: "path:" + v.Key, Once: v.Once, NoRemember: v.Once, Reason: "writing " + p.path + " " + v.Reason})
		}
	}
	return list
}
