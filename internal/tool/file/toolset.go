// Package file is the toolset that reads, writes, patches and searches files
// where the session's commands run. All file work goes through the session's
// hermes.Environment; only search_files walks folders of this machine itself,
// when the environment says that its files are here.
//
// The package owns the guards about files: which paths are read and written
// (judged by policy), what counts as text, what a session has seen of a file
// and whether it changed since. It knows nothing of models, faces or approval
// dialogues, and hiding secrets in results is the tool chain's work.
//
// Start reading at read_file.go, which is the pattern for a tool. place.go
// finds and judges paths, ledger.go remembers what was read, commit.go writes.
package file

import (
	"cmp"
	"context"
	"encoding/json"

	"hermes"
)

// Config is what the file tools are told. The zero value works.
type Config struct {
	// ReadMaxChars bounds the characters of one page of read_file; 0 is 100,000.
	ReadMaxChars int
	// MaxLines bounds the lines of one page; 0 is 2,000.
	MaxLines int
	// MaxLineLength bounds the characters shown of a line; 0 is 2,000.
	MaxLineLength int
	// State is the agent's own home folder, which its tools do not write.
	State string
	// SafeRoots, when there are any, are the only folders that are written.
	SafeRoots []string
	// TrustWrites turns off the warning about files that changed since they
	// were read.
	TrustWrites bool
	// NoHints leaves out the notes that lie in the folders of a project.
	NoHints bool
}

// Toolset holds the four file tools and what they remember of sessions. It
// serves any number of sessions at once.
type Toolset struct {
	config Config
	ledger *ledger
	locks  *locks
}

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset.
func New(c Config) *Toolset {
	c.ReadMaxChars = cmp.Or(max(c.ReadMaxChars, 0), 100_000)
	c.MaxLines = cmp.Or(max(c.MaxLines, 0), 2_000)
	c.MaxLineLength = cmp.Or(max(c.MaxLineLength, 0), 2_000)
	return &Toolset{config: c, ledger: newLedger(), locks: newLocks()}
}

// Name is "file".
func (t *Toolset) Name() string { return "file" }

// Available is always the empty text.
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the tools, always the same four.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{t.readFile(), t.writeFile(), t.patch(), t.searchFiles()}, nil
}

// Hook returns what lets the toolset see that other tools were called, which
// ends a row of equal reads, and that a session ended. It also appends to the
// results of any tool the instructions that lie in the folders it touched.
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
		AfterTool:  t.addHints,
		SessionEnd: func(_ context.Context, s hermes.SessionRef) { t.ledger.forget(s.ID) },
	}
}

// Compressed tells the toolset that a session's context was compressed: what
// was read before is no longer before the model's eyes, and is shown again.
func (t *Toolset) Compressed(session string) { t.ledger.compressed(session) }

// riskAssessed adds to a tool the question for consent that some paths need.
type riskAssessed struct {
	hermes.Tool
	toolset *Toolset
	paths   func(arguments json.RawMessage) []string
}

// AssessRisk asks about paths that are written with consent only. Paths that are
// never written are refused by Run, which can say more.
func (r riskAssessed) AssessRisk(ctx context.Context, c *hermes.Call) []hermes.Risk {
	var list []hermes.Risk
	for _, path := range r.paths(c.Arguments) {
		p, err := r.toolset.locate(ctx, c.Host, path)
		if err != nil {
			continue // Run meets the same error and reports it
		}
		if v := p.writeVerdict(); v.Ask {
			list = append(list, hermes.Risk{Key: "path:" + v.Key, Reason: "writing " + p.path + " " + v.Reason})
		}
	}
	return list
}
