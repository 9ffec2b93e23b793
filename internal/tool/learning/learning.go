// Package learning is the toolset with which the model saves, searches and
// lists fixes for errors.
//
// The hook in internal/hook/learning recognises failures and shows known fixes;
// this package lets the model add a fix. What may be saved, and with which failure, is
// decided by the Store. Start at New.
package learning

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/errsig"
)

const name = "learning"

// leastAlike is the lowest likeness at which a counted failure gets the fix.
const leastAlike = 0.5

//go:embed learning.md
var doc string

// Store keeps learnings, and knows what may be one.
type Store interface {
	// Find returns learnings, the most recently touched first.
	Find(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error)
	// Admit checks a learning and returns its general form, without secrets.
	Admit(l hermes.Learning) (hermes.Learning, error)
	// Keep saves an admitted learning with the counted failure that it is about, if there
	// is one. replaced is the fix that this failure had before.
	Keep(ctx context.Context, l hermes.Learning) (saved hermes.Learning, replaced string, err error)
	// Propose stores an admitted learning for the user's approval and returns its id.
	Propose(ctx context.Context, l hermes.Learning) (id string, err error)
}

// Toolset is the tool learning.
type Toolset struct {
	store Store
	now   func() time.Time
}

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset. It opens nothing yet. A nil now is time.Now.
func New(store Store, now func() time.Time) *Toolset {
	if now == nil {
		now = time.Now
	}
	return &Toolset{store, now}
}

// Name is "learning".
func (t *Toolset) Name() string { return name }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: name, Description: strings.TrimSpace(doc), Effect: hermes.EffectIdempotent,
		Trusted: true, Persists: persists, CanPropose: true,
	}, t.run)}, nil
}

type args struct {
	Action  string   `json:"action" enum:"save,search,list"`
	Pattern string   `json:"pattern,omitempty"`
	Fix     string   `json:"fix,omitempty"`
	Tool    string   `json:"tool,omitempty"`
	Context string   `json:"context,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Query   string   `json:"query,omitempty"`
	Limit   int      `json:"limit,omitempty"`
}

// persists returns "learning" for a call that saves something.
func persists(arguments json.RawMessage) string {
	var in struct{ Action string }
	if json.Unmarshal(arguments, &in) == nil && (in.Action == "search" || in.Action == "list") {
		return ""
	}
	return "learning"
}

// provenance marks results that show failures as untrusted, since they quote the
// program that failed.
const provenance = "learning"

// shown is a learning as the model reads it.
type shown struct {
	ID      int64    `json:"id"`
	Tool    string   `json:"tool,omitempty"`
	Type    string   `json:"error_type,omitempty"`
	Pattern string   `json:"pattern"`
	Fix     string   `json:"fix"`
	Context string   `json:"context,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Seen    int      `json:"seen,omitempty"`
	Used    int      `json:"times_used,omitempty"`
	Helped  int      `json:"helped,omitempty"`
}

type report struct {
	Saved     *shown  `json:"saved,omitempty"`
	Replaced  string  `json:"replaced_fix,omitempty"` // of the same error
	Learnings []shown `json:"learnings,omitempty"`
	Pending   string  `json:"pending,omitempty"`
	Note      string  `json:"note,omitempty"`
}

func (t *Toolset) run(ctx context.Context, c *hermes.Call, in args) (hermes.Result, error) {
	in.Limit = min(max(in.Limit, 0), 50)
	switch in.Action {
	case "save":
		return t.save(ctx, c, in)
	case "search":
		return t.search(ctx, in)
	case "list":
		list, err := t.store.Find(ctx, hermes.LearningQuery{Tool: in.Tool, Known: true, Limit: in.Limit})
		return result(list, err)
	}
	return hermes.Result{}, fmt.Errorf("there is no action %q; use save, search or list", in.Action)
}

func (t *Toolset) save(ctx context.Context, c *hermes.Call, in args) (hermes.Result, error) {
	l, err := t.store.Admit(hermes.Learning{Tool: in.Tool, Pattern: in.Pattern, Fix: in.Fix, Context: in.Context, Tags: in.Tags})
	if err != nil {
		return hermes.Result{}, err
	}
	l.Session, l.Provenance, l.Touched = c.Host.Session().ID, c.Host.Session().Provenance, t.now()
	if c.Propose {
		id, err := t.store.Propose(ctx, l)
		if err != nil {
			return hermes.Result{}, err
		}
		return hermes.JSONResult(report{Pending: id, Note: "Not stored yet: no user is here to approve it. It waits as " + id + " (`hermes learning approve " + id + "`)."})
	}
	said := l.Pattern
	l, replaced, err := t.store.Keep(ctx, l)
	if err != nil {
		return hermes.Result{}, err
	}
	r := report{Saved: show(l), Replaced: replaced}
	if l.Seen >= 3 {
		r.Note = fmt.Sprintf("This error has come up %d times: consider adding it to the pitfalls of a skill.", l.Seen)
	}
	result, err := hermes.JSONResult(r)
	if l.Pattern != said && !strings.HasSuffix(l.Pattern, ": "+said) { // the result quotes the counted failure
		result.Provenance = provenance
	}
	return result, err
}

func mostAlike(list []hermes.Learning, pattern string) hermes.Learning {
	var best hermes.Learning
	highest := 0.0
	for _, other := range list {
		_, message, _ := strings.Cut(other.Pattern, ": ") // without the program
		like := max(errsig.Alike(pattern, other.Pattern), errsig.Alike(pattern, message))
		if like >= leastAlike && like > highest {
			best, highest = other, like
		}
	}
	return best
}

func (t *Toolset) search(ctx context.Context, in args) (hermes.Result, error) {
	text := strings.TrimSpace(in.Query + " " + in.Pattern)
	if text == "" {
		return hermes.Result{}, errors.New("query is missing: send words of the error")
	}
	list, err := t.store.Find(ctx, hermes.LearningQuery{Tool: in.Tool, Text: text, Known: true, Limit: in.Limit})
	if err != nil || len(list) > 0 {
		return result(list, err)
	}
	all, err := t.store.Find(ctx, hermes.LearningQuery{Tool: in.Tool, Known: true, Limit: 300})
	if best := mostAlike(all, errsig.Normal(text)); best.ID != 0 {
		list = append(list, best)
	}
	return result(list, err)
}

func result(list []hermes.Learning, err error) (hermes.Result, error) {
	if err != nil {
		return hermes.Result{}, err
	}
	r := report{}
	for _, l := range list {
		r.Learnings = append(r.Learnings, *show(l))
	}
	if len(list) == 0 {
		r.Note = "no known fix"
		return hermes.JSONResult(r)
	}
	result, err := hermes.JSONResult(r)
	result.Provenance = provenance
	return result, err
}

func show(l hermes.Learning) *shown {
	return &shown{l.ID, l.Tool, l.Class, l.Pattern, l.Fix, l.Context, l.Tags, l.Seen, l.Shown, l.Helped}
}
