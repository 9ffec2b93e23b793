// Package learning is the toolset with which the model saves, searches and
// lists fixes for errors.
//
// The hook in internal/hook/learning recognises failures and shows known fixes;
// this package lets the model add a fix. If the failure that it fixes was counted
// before, the fix is added to that learning, so that one error does not become two
// learnings.
// The package does not know how learnings are stored. Start at New.
package learning

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes"
	"hermes/internal/errsig"
	"hermes/internal/policy"
	"hermes/internal/redact"
)

const name = "learning"

// Bounds of what is saved, in characters.
const (
	MaxFix     = 1000
	MaxContext = 400
	maxTags    = 8
)

// leastAlike is the lowest likeness at which a counted failure gets the fix.
const leastAlike = 0.5

//go:embed learning.md
var doc string

// Config configures the toolset.
type Config struct {
	// Open opens the store when it is needed.
	Open func(ctx context.Context) (hermes.Learnings, error)
	// Propose stores a learning for the user's approval and returns its id; nil
	// refuses what needs approval while no user is there.
	Propose func(ctx context.Context, l hermes.Learning) (id string, err error)
	Now     func() time.Time // nil is time.Now
}

// Toolset is the tool learning.
type Toolset struct{ cfg Config }

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset. It opens nothing yet.
func New(c Config) *Toolset {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Toolset{c}
}

// Name is "learning".
func (t *Toolset) Name() string { return name }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: name, Description: strings.TrimSpace(doc), Effect: hermes.EffectIdempotent,
		Trusted: true, Persists: persists, CanPropose: t.cfg.Propose != nil,
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
	store, err := t.cfg.Open(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	in.Limit = min(max(in.Limit, 0), 50)
	switch in.Action {
	case "save":
		return t.save(ctx, c, store, in)
	case "search":
		return search(ctx, store, in)
	case "list":
		list, err := store.FindLearnings(ctx, hermes.LearningQuery{Tool: in.Tool, Known: true, Limit: in.Limit})
		return result(list, err)
	}
	return hermes.Result{}, fmt.Errorf("there is no action %q; use save, search or list", in.Action)
}

func (t *Toolset) save(ctx context.Context, c *hermes.Call, store hermes.Learnings, in args) (hermes.Result, error) {
	l, err := Admit(hermes.Learning{Tool: in.Tool, Pattern: in.Pattern, Fix: in.Fix, Context: in.Context, Tags: in.Tags})
	if err != nil {
		return hermes.Result{}, err
	}
	l.Session, l.Provenance, l.Touched = c.Host.Session().ID, c.Host.Session().Provenance, t.cfg.Now()
	if c.Propose {
		id, err := t.cfg.Propose(ctx, l)
		if err != nil {
			return hermes.Result{}, err
		}
		return hermes.JSONResult(report{Pending: id, Note: "Not stored yet: no user is here to approve it. It waits as " + id + " (`hermes learning approve " + id + "`)."})
	}
	said := l.Pattern
	l, replaced, err := Keep(ctx, store, l)
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

// Admit checks a learning and generalises it: it removes the parts of the
// pattern that differ each time, and secrets from all texts.
func Admit(l hermes.Learning) (hermes.Learning, error) {
	l.Pattern, l.Fix, l.Context = strings.TrimSpace(l.Pattern), strings.TrimSpace(l.Fix), strings.TrimSpace(l.Context)
	if l.Pattern == "" || l.Fix == "" {
		return hermes.Learning{}, errors.New("save needs pattern (the error message) and fix (what to do instead)")
	}
	if utf8.RuneCountInString(l.Fix) > MaxFix || utf8.RuneCountInString(l.Context) > MaxContext {
		return hermes.Learning{}, fmt.Errorf("a fix has at most %d characters and a context %d; longer text belongs in a skill", MaxFix, MaxContext)
	}
	if found := policy.Injection(strings.Join(append([]string{l.Pattern, l.Fix, l.Context}, l.Tags...), "\n")); found != "" {
		return hermes.Learning{}, fmt.Errorf("refused: this looks like an order to the model (%s); a learning is shown in later sessions, so write only what to do about the error", found)
	}
	s := errsig.Of("", redact.Text(l.Pattern))
	if s.Pattern == "" {
		s = errsig.Signature{Class: "error", Pattern: errsig.Normal(redact.Text(l.Pattern))}
	}
	l.Tool, l.Class, l.Pattern = strings.TrimSpace(l.Tool), s.Class, s.Pattern
	l.Fix, l.Context, l.Tags = redact.Text(l.Fix), redact.Text(l.Context), union(nil, l.Tags)
	return l, nil
}

// Keep saves an admitted learning: with the counted failure that it is about, or
// else as a new one. It replaces a fix of the same failure only, and returns that
// as replaced.
func Keep(ctx context.Context, store hermes.Learnings, l hermes.Learning) (saved hermes.Learning, replaced string, err error) {
	list, err := store.FindLearnings(ctx, hermes.LearningQuery{Tool: l.Tool, Limit: -1})
	if err != nil {
		return hermes.Learning{}, "", err
	}
	if same, ok := counted(list, l.Pattern); ok {
		l.Tool, l.Class, l.Pattern = same.Tool, same.Class, same.Pattern
		l.Tags = union(same.Tags, l.Tags)
		if same.Fix != l.Fix {
			replaced = same.Fix
		}
	}
	saved, err = store.SaveLearning(ctx, l)
	return saved, replaced, err
}

// programName is what a pattern may begin with: the program that failed.
var programName = regexp.MustCompile(`^[a-z0-9_.+-]+$`)

// counted finds the failure that a message is about: the same one, with or without
// the program, or one without a fix in other words. Among equals it takes the latest.
// A message without the program says too little if several programs failed with it.
func counted(list []hermes.Learning, pattern string) (best hermes.Learning, ok bool) {
	closest, programs := errsig.Other, 0
	for _, other := range list {
		name, bare, _ := strings.Cut(other.Pattern, ": ")
		if other.Class == "command_not_found" || !programName.MatchString(name) {
			bare = "" // the name is what failed
		}
		if bare == pattern {
			programs++
		}
		failed := errsig.Signature{Pattern: other.Pattern, Bare: bare}
		m := failed.Match(pattern)
		if m > closest && (m == errsig.Exact || other.Fix == "") {
			best, closest = other, m
		}
	}
	if programs > 1 && best.Fix != "" && best.Pattern != pattern {
		return hermes.Learning{}, false
	}
	return best, closest != errsig.Other
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

func search(ctx context.Context, store hermes.Learnings, in args) (hermes.Result, error) {
	text := strings.TrimSpace(in.Query + " " + in.Pattern)
	if text == "" {
		return hermes.Result{}, errors.New("query is missing: send words of the error")
	}
	list, err := store.FindLearnings(ctx, hermes.LearningQuery{Tool: in.Tool, Text: text, Known: true, Limit: in.Limit})
	if err != nil || len(list) > 0 {
		return result(list, err)
	}
	all, err := store.FindLearnings(ctx, hermes.LearningQuery{Tool: in.Tool, Known: true, Limit: 300})
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

// union joins tags without duplicates.
func union(have, more []string) []string {
	out := slices.Clone(have)
	for _, tag := range more {
		if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" && !slices.Contains(out, tag) && len(out) < maxTags {
			out = append(out, tag)
		}
	}
	return out
}
