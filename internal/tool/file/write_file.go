package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/patch"
)

const nameWrite = "write_file"

//go:embed write_file.md
var writeDoc string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type writeResult struct {
	BytesWritten int    `json:"bytes_written"`
	ResolvedPath string `json:"resolved_path"`
	Note         string `json:"note,omitempty"`
	changed
}

func (t *Toolset) writeFile() hermes.Tool {
	tool := hermes.NewTool(hermes.Spec{
		Name:        nameWrite,
		Description: strings.TrimSpace(writeDoc),
		Mode:        hermes.ModePaths,
		Paths:       onePath,
		Effect:      hermes.EffectIdempotent,
		Trusted:     true,
	}, t.runWrite)
	return riskAssessed{tool, t, onePath, written}
}

// written is the text that a call of write_file writes.
func written(arguments json.RawMessage) string {
	var in writeArgs
	if json.Unmarshal(arguments, &in) != nil {
		return string(arguments) // the tool itself refuses it
	}
	return in.Content
}

func (t *Toolset) runWrite(ctx context.Context, c *hermes.Call, in writeArgs) (hermes.Result, error) {
	if err := checkContent(in.Content); err != nil {
		return hermes.Result{}, err
	}
	p, unlock, err := t.lockFile(ctx, c, in.Path)
	if err != nil {
		return hermes.Result{}, err
	}
	defer unlock()
	if err := p.checkWritable(); err != nil {
		return hermes.Result{}, err
	}
	if err := t.judged.check(c, in.Path, p); err != nil {
		return hermes.Result{}, err
	}
	w := write{location: p, existed: p.info != nil, whole: true, noted: p.attributes()}
	if w.old, _, err = p.text(ctx); err != nil {
		w.old, w.unread = "", true // the file is replaced anyway, only the diff is missing
	}
	var kept string
	if w.new, kept = patch.Like(w.old, in.Content); kept != "" {
		kept = "the file keeps " + kept
	}
	var done changed
	if err := t.write(ctx, sessionOf(c), w, &done); err != nil {
		return hermes.Result{}, err
	}
	result, err := hermes.JSONResult(writeResult{BytesWritten: len(w.new), ResolvedPath: p.real, Note: kept, changed: done})
	if err != nil {
		return hermes.Result{}, fmt.Errorf("write %s: %w", p.path, err)
	}
	result.Shown = clipDiff(diffOf(p, w.old, w.new, w.existed, true))
	return result, nil
}
