package file

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hermes"
)

const (
	nameRead = "read_file"
	// defaultPage is the number of lines shown when a call gives no limit.
	defaultPage = 500
)

//go:embed read_file.md
var readDoc string

// readArgs is the schema of read_file: json names the argument, doc describes
// it for the model, a pointer or omitempty makes it optional.
type readArgs struct {
	Path   string  `json:"path"`
	Offset *number `json:"offset,omitempty" doc:"First line" default:"1" min:"1"`
	Limit  *number `json:"limit,omitempty" default:"500" min:"1" max:"2000"`
}

// readResult is what the model reads. Empty fields are left out.
type readResult struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	TotalLines int    `json:"total_lines,omitempty"`
	Truncated  bool   `json:"truncated"`
	NextOffset int    `json:"next_offset,omitempty"`
	Note       string `json:"note,omitempty"`
	Warning    string `json:"_warning,omitempty"`
}

// readFile makes the tool: a spec, and a function from typed arguments to a
// result. An error is text for the model and says what to try instead.
func (t *Toolset) readFile() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name:        nameRead,
		Description: strings.TrimSpace(readDoc),
		Mode:        hermes.ModePaths, // parallel, but not with a write of the same file
		Paths:       onePath,
		Effect:      hermes.EffectNone,
		ResultLimit: -1, // a page is bounded already, and stored results are read with this tool
	}, t.runRead)
}

func (t *Toolset) runRead(ctx context.Context, c *hermes.Call, in readArgs) (hermes.Result, error) {
	p, err := t.locate(ctx, c.Host, in.Path)
	if err != nil {
		return hermes.Result{}, err
	}
	if err := p.checkReadable(ctx); err != nil {
		return hermes.Result{}, err
	}
	w := window{
		offset:   in.Offset.within(1, 1, maxOffset),
		limit:    in.Limit.within(min(defaultPage, t.config.MaxLines), 1, t.config.MaxLines),
		maxChars: t.config.ReadMaxChars,
		maxLine:  t.config.MaxLineLength,
	}
	text, err := p.open(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	defer text.Close()
	content := sha256.New()
	page, err := readPage(io.TeeReader(text, content), w)
	if err != nil {
		return hermes.Result{}, fmt.Errorf("read %s: %w", p.path, err)
	}
	var whole sum
	if page.counted { // to its end
		whole = sum(content.Sum(nil))
	}
	seen := t.ledger.read(c.Host.Session().ID, p, w, page, whole, c.Invoked())
	if seen.err != nil {
		return hermes.Result{}, seen.err
	}
	if seen.unchanged {
		return hermes.JSONResult(unchangedResult{Path: p.path, Unchanged: true, Note: noticeUnchanged})
	}
	return hermes.JSONResult(readResult{
		Path: p.path, Content: page.text, TotalLines: page.total,
		Truncated: page.more, NextOffset: page.next,
		Note: page.note(w), Warning: seen.warning,
	})
}

// onePath returns the path in a call's arguments, for tools with one path.
func onePath(arguments json.RawMessage) []string {
	var in struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(arguments, &in) != nil || in.Path == "" {
		return nil
	}
	return []string{in.Path}
}
