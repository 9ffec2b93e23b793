package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/text"
)

const nameRestore = "restore"

type restoreArgs struct {
	Checkpoint string   `json:"checkpoint"`
	Files      []string `json:"files,omitempty"`
}

// restoredFile is what happened to one path.
type restoredFile struct {
	Path   string `json:"path"`
	Change string `json:"change"`
}

type restoreResult struct {
	Checkpoint int               `json:"checkpoint"`
	Restored   []restoredFile    `json:"restored"`
	Kept       []checkpoint.Kept `json:"kept,omitempty"`      // the user's own changes
	Conflicts  []checkpoint.Kept `json:"conflicts,omitempty"` // changed by both, not restored
	Failed     []checkpoint.Kept `json:"failed,omitempty"`
	Undo       int               `json:"undo_with,omitempty"` // the checkpoint from before the restore
	Note       string            `json:"note,omitempty"`
}

// restore is the tool with the approval that it needs.
type restore struct {
	hermes.Tool
	set *Toolset
}

var (
	_ hermes.RiskAssessor = restore{}
	_ hermes.SubjectNamer = restore{}
	_ hermes.FileNamer    = restore{}
)

func (t *Toolset) restore() hermes.Tool {
	return restore{hermes.NewTool(hermes.Spec{
		Name:        nameRestore,
		Description: "Undo your file changes since a checkpoint.",
	}, t.run), t}
}

// AssessRisk asks for each restore that changes something, and judges each file as a write of
// it. What is wrong with the call itself is reported by Run.
func (r restore) AssessRisk(ctx context.Context, c *hermes.Call) []hermes.Risk {
	planned, err := r.set.planOf(ctx, c)
	p := planned.plan
	if err != nil || len(p.Steps) == 0 {
		return nil
	}
	list := []hermes.Risk{{Key: "restore", Reason: fmt.Sprintf("undoes what the agent changed in %s since checkpoint %d", text.Plural(len(p.Steps), "file or folder", "files or folders"), p.Snapshot.Number)}}
	files := filesOf(p)
	verdicts, errs := r.set.config.Files.JudgeWrites(ctx, c.Host, files...)
	for i, file := range files {
		switch v, err := verdicts[i], errs[i]; {
		case err != nil:
			list = append(list, hermes.Risk{Key: "path:unknown", Deny: true, Mistake: true, Reason: err.Error() + "; restore other files by naming them in files"})
		case v.Deny:
			list = append(list, hermes.Risk{Key: "path:" + v.Key, Deny: true, Mistake: true, Reason: file + ": " + v.Reason + "; restore other files by naming them in files"})
		case v.Ask:
			list = append(list, hermes.Risk{Key: "path:" + v.Key, Once: v.Once, NoRemember: v.Once, Reason: "restoring " + file + " " + v.Reason})
		}
	}
	return list
}

// Subject is what the restore will do, whole.
func (r restore) Subject(ctx context.Context, c *hermes.Call) hermes.Subject {
	p, err := r.set.planOf(ctx, c)
	if err != nil {
		return hermes.Subject{Text: string(c.Arguments)} // Run reports the error
	}
	return subjectOf(p.plan)
}

// Files are those that the restore will change.
func (r restore) Files(ctx context.Context, c *hermes.Call) ([]string, bool) {
	p, err := r.set.planOf(ctx, c)
	return filesOf(p.plan), err == nil
}

// run applies the plan that was judged and shown.
func (t *Toolset) run(ctx context.Context, c *hermes.Call, _ restoreArgs) (hermes.Result, error) {
	planned, err := t.planOf(ctx, c)
	if err != nil {
		return hermes.Result{}, err
	}
	store, p := planned.store, planned.plan
	if c.Approved != nil && !c.Approved.Equal(subjectOf(p)) {
		return hermes.Result{}, stale(checkpoint.ErrStale)
	}
	out := restoreResult{Checkpoint: p.Snapshot.Number, Restored: []restoredFile{}, Kept: p.Yours, Conflicts: p.Conflicts}
	if len(p.Steps) == 0 {
		out.Note = "nothing was restored: no file has changes of yours since that checkpoint"
		if len(p.Conflicts) > 0 {
			out.Note = "nothing was restored: see conflicts; the user can decide"
		}
		return hermes.JSONResult(out)
	}
	m := t.meta(c)
	if err := room(store, p.Folder, m); err != nil {
		return hermes.Result{}, err
	}
	files := filesOf(p)
	unlock, err := t.config.Files.Lock(ctx, files...)
	if err != nil {
		return hermes.Result{}, err
	}
	defer unlock()
	m.Reason = fmt.Sprint("before restoring ", p.Snapshot.Number)
	did, err := store.Restore(context.WithoutCancel(ctx), p, m) // it is short, and half of it helps no one
	if errors.Is(err, checkpoint.ErrStale) {
		return hermes.Result{}, stale(err)
	}
	t.config.Files.Replaced(context.WithoutCancel(ctx), c.Host, files...) // also if it failed: some may be changed
	if err != nil {
		return hermes.Result{}, err
	}
	out.Undo, out.Failed = did.Before.Number, did.Failed
	failed := map[string]bool{}
	for _, k := range did.Failed {
		failed[k.Path] = true
	}
	var shown strings.Builder
	for _, st := range p.Steps {
		if !failed[st.Path] {
			out.Restored = append(out.Restored, restoredFile{st.Path, verb(st)})
			shown.WriteString(st.Text)
		}
	}
	r, err := hermes.JSONResult(out)
	r.Failed, r.Shown = len(did.Failed) > 0, clip(shown.String())
	return r, err
}

// stale says that files changed between the plan and the restore.
func stale(err error) error {
	return fmt.Errorf("nothing was restored: %w. Call restore again: it is planned and shown to the user again", err)
}

// maxShown bounds the diffs that the user sees of a restore that was made, in bytes.
const maxShown = 20_000

func clip(diff string) string {
	if len(diff) <= maxShown {
		return diff
	}
	cut := strings.LastIndexByte(diff[:maxShown], '\n') + 1
	return diff[:cut] + "… [cut]\n"
}
