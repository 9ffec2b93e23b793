package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/patch"
)

const namePatch = "patch"

//go:embed patch.md
var patchDoc string

type patchArgs struct {
	Mode       string  `json:"mode,omitempty" enum:"replace,patch" default:"replace"`
	Path       string  `json:"path,omitempty" doc:"For mode replace"`
	OldString  *string `json:"old_string,omitempty" doc:"With enough context to be unique"`
	NewString  *string `json:"new_string,omitempty" doc:"Empty deletes"`
	ReplaceAll bool    `json:"replace_all,omitempty"`
	Patch      string  `json:"patch,omitempty"`
}

type patchResult struct {
	Success  bool   `json:"success"`
	Diff     string `json:"diff,omitempty"`
	Strategy string `json:"strategy,omitempty"` // empty if it was exact
	Replaced int    `json:"replacements,omitempty"`
	Note     string `json:"note,omitempty"`
	changed
}

func (t *Toolset) patch() hermes.Tool {
	tool := hermes.NewTool(hermes.Spec{
		Name:        namePatch,
		Description: strings.TrimSpace(patchDoc),
		Mode:        hermes.ModePaths,
		Paths:       patchPaths,
		Effect:      hermes.EffectUnknown,
	}, t.runPatch)
	return riskAssessed{tool, t, patchPaths, patched}
}

// patchPaths lists the files that a call of patch names.
func patchPaths(arguments json.RawMessage) []string {
	var in patchArgs
	if json.Unmarshal(arguments, &in) != nil {
		return nil
	}
	if !in.whole() {
		return onePath(arguments)
	}
	p, err := patch.Parse(in.Patch)
	if err != nil {
		return nil // Run reports the error and changes nothing
	}
	return p.Paths()
}

// patched is what a call of patch changes: the patch, or the old and the new text.
func patched(arguments json.RawMessage) string {
	var in patchArgs
	switch {
	case json.Unmarshal(arguments, &in) != nil:
		return string(arguments) // the tool itself refuses it
	case in.whole():
		return in.Patch
	case in.OldString == nil || in.NewString == nil:
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(*in.OldString) {
		b.WriteString("- " + strings.TrimSuffix(line, "\n") + "\n")
	}
	for line := range strings.Lines(*in.NewString) {
		b.WriteString("+ " + strings.TrimSuffix(line, "\n") + "\n")
	}
	if in.ReplaceAll {
		b.WriteString("everywhere in the file\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// whole reports whether a V4A patch is meant, also when the mode is left out.
func (in patchArgs) whole() bool {
	return in.Mode == "patch" || in.Mode == "" && in.Patch != "" && in.OldString == nil
}

func (t *Toolset) runPatch(ctx context.Context, c *hermes.Call, in patchArgs) (hermes.Result, error) {
	if in.whole() {
		return t.applyPatch(ctx, c, in.Patch)
	}
	if in.Mode != "" && in.Mode != "replace" {
		return hermes.Result{}, fmt.Errorf("mode %q is unknown: use replace or patch", in.Mode)
	}
	switch {
	case in.Path == "":
		return hermes.Result{}, errors.New("path is missing: name the file to change")
	case in.OldString == nil:
		return hermes.Result{}, errors.New("old_string is missing: quote the text to replace")
	case in.NewString == nil:
		return hermes.Result{}, errors.New("new_string is missing: send the new text, or an empty one to delete")
	}
	return t.replace(ctx, c, in)
}

func (t *Toolset) replace(ctx context.Context, c *hermes.Call, in patchArgs) (hermes.Result, error) {
	if err := checkContent(*in.NewString); err != nil {
		return hermes.Result{}, err
	}
	p, unlock, err := t.lockFile(ctx, c, in.Path)
	if err != nil {
		return hermes.Result{}, err
	}
	defer unlock()
	w, err := t.changeable(ctx, c, in.Path, p)
	if err != nil {
		return hermes.Result{}, err
	}
	if !w.existed {
		return hermes.Result{}, w.notFound(ctx)
	}
	r, err := patch.Replace(w.old, *in.OldString, *in.NewString, in.ReplaceAll)
	if err != nil {
		return hermes.Result{}, fmt.Errorf("%s: %w", w.path, err)
	}
	out := patchResult{Success: true, Replaced: r.Count}
	switch r.Strategy {
	case patch.AlreadyApplied:
		out.Note = fmt.Sprintf("nothing to do: old_string is not in the file, and line %d and the lines around it already read as new_string does", r.Line)
		return hermes.JSONResult(out)
	case "exact":
	default:
		out.Strategy = r.Strategy
	}
	w.new = r.Text
	if err := t.write(ctx, sessionOf(c), w, &out.changed); err != nil {
		return hermes.Result{}, err
	}
	return out.result(diffOf(w.location, w.old, w.new, true, true))
}

// changeable reads a file that is about to be changed, where its path leads, or finds that it does
// not exist yet. The caller holds its lock.
func (t *Toolset) changeable(ctx context.Context, c *hermes.Call, path string, p location) (w write, err error) {
	if err := p.checkWritable(); err != nil {
		return write{}, err
	}
	if err := t.judged.check(c, path, p); err != nil {
		return write{}, err
	}
	w = write{location: p, noted: p.attributes()}
	w.old, w.existed, err = p.text(ctx)
	if err == nil && w.existed && strings.ContainsRune(w.old[:min(len(w.old), headSize)], 0) {
		err = errBinary(p.path)
	}
	return w, err
}

// applyPatch computes the whole patch first and writes only if all of it applies.
func (t *Toolset) applyPatch(ctx context.Context, c *hermes.Call, text string) (hermes.Result, error) {
	if strings.TrimSpace(text) == "" {
		return hermes.Result{}, errors.New("patch is empty: send it from *** Begin Patch to *** End Patch")
	}
	p, err := patch.Parse(text)
	if err != nil {
		return hermes.Result{}, err
	}
	var real []string
	for _, path := range p.Paths() {
		at, err := t.locate(ctx, c.Host, path)
		if err != nil {
			return hermes.Result{}, err
		}
		real = append(real, at.real)
	}
	unlock, err := t.locks.lock(ctx, real...)
	if err != nil {
		return hermes.Result{}, err
	}
	defer unlock()
	run := patchRun{Toolset: t, call: c, files: map[string]patchedFile{}}
	done, err := p.Apply(func(path string) (patch.File, error) { return run.open(ctx, path) })
	if err != nil {
		return hermes.Result{}, err
	}
	run.out.Note = strings.Join(done.Notes, "; ")
	if len(done.Changes) == 0 {
		run.out.Success = true
		run.out.Note = strings.TrimSuffix("nothing to do: the files already have these changes; "+run.out.Note, "; ")
		return hermes.JSONResult(run.out)
	}
	return run.carryOut(ctx, done)
}

func (r patchResult) result(diff string) (hermes.Result, error) {
	r.Diff = clipDiff(diff)
	out, err := hermes.JSONResult(r)
	out.Shown = r.Diff
	return out, err
}
