// Package skills is the toolset with which the model finds, reads and writes
// skills: skills_list, skill_view and skill_manage, over a hermes.SkillLibrary.
//
// The package turns a model's arguments into calls of the library, and the
// library's answers into text for the model. It must not know what a valid
// skill is, who may change which skill, or which changes wait for the user: the
// library decides that. Start at New.
package skills

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"hermes"
)

//go:embed skills_list.md
var listDoc string

//go:embed skill_view.md
var viewDoc string

//go:embed skill_manage.md
var manageDoc string

// Config configures the toolset.
type Config struct {
	// Library returns the library as a session sees it.
	Library func(s hermes.SessionRef) hermes.SkillLibrary
	// Waits reports whether the agent's changes of a skill always wait for the
	// user. nil means that none do.
	Waits func(name string) bool
	// Used, if not nil, is called for every skill that is loaded.
	Used func(ctx context.Context, name string)
}

// Toolset is the three tools.
type Toolset struct{ cfg Config }

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset.
func New(c Config) *Toolset { return &Toolset{c} }

// Name is "skills".
func (t *Toolset) Name() string { return "skills" }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the three tools.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{
		hermes.NewTool(hermes.Spec{
			Name: "skills_list", Description: strings.TrimSpace(listDoc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
			Trusted: true, // each skill reports its own provenance
		}, t.list),
		hermes.NewTool(hermes.Spec{
			Name: "skill_view", Description: strings.TrimSpace(viewDoc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone, ResultLimit: -1,
			Trusted: true,
		}, t.view),
		hermes.NewTool(hermes.Spec{
			Name: "skill_manage", Description: strings.TrimSpace(manageDoc), Schema: json.RawMessage(manageSchema),
			Trusted: true, Persists: t.persists, CanPropose: true,
		}, t.manage),
	}, nil
}

func (t *Toolset) library(c *hermes.Call) hermes.SkillLibrary {
	return t.cfg.Library(c.Host.Session())
}

type listArgs struct {
	Category string `json:"category,omitempty"`
}

type listed struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Category    string             `json:"category,omitempty"`
	Source      hermes.SkillSource `json:"source"`
}

func (t *Toolset) list(ctx context.Context, c *hermes.Call, in listArgs) (hermes.Result, error) {
	all, err := t.library(c).List(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	out := []listed{}
	var provenance string
	var categories []string
	for _, s := range all {
		if len(categories) == 0 || categories[len(categories)-1] != s.Category {
			categories = append(categories, s.Category)
		}
		if in.Category == "" || strings.EqualFold(in.Category, s.Category) {
			out = append(out, listed{s.Name, s.Description, s.Category, s.Source})
			provenance = hermes.AddProvenance(provenance, s.Provenance())
		}
	}
	if len(out) == 0 && in.Category != "" {
		return hermes.Result{}, fmt.Errorf("category %q has no skills; the categories are: %s", in.Category, strings.Join(categories, ", "))
	}
	r, err := hermes.JSONResult(map[string]any{"skills": out, "count": len(out)})
	r.Provenance = provenance
	return r, err
}

type viewArgs struct {
	Name string `json:"name"`
	File string `json:"file_path,omitempty"`
}

func (t *Toolset) view(ctx context.Context, c *hermes.Call, in viewArgs) (hermes.Result, error) {
	got, err := t.library(c).View(ctx, in.Name, in.File)
	if err != nil {
		return hermes.Result{}, err
	}
	if t.cfg.Used != nil && got.File == "SKILL.md" {
		t.cfg.Used(ctx, got.Skill.Name)
	}
	text := got.Content
	if notes := got.Notes(); notes != "" && got.File == "SKILL.md" {
		text = strings.TrimRight(text, "\n") + "\n\n---\n" + notes
	}
	return hermes.Result{Text: text, Provenance: got.Skill.Provenance()}, nil
}
