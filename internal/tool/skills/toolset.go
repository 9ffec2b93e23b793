// Package skills is the toolset by which the model finds, reads and writes
// skills: skills_list, skill_view and skill_manage, over a hermes.SkillLibrary.
//
// What a valid skill is, who may change which, and what waits for the person is
// the library's matter; here the arguments of a model become its calls, and its
// answers text for a model. Start at New.
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

// Config is what the toolset works with.
type Config struct {
	// Library is the library as seen from a session's folder.
	Library func(dir string) hermes.SkillLibrary
	// Waits reports whether a change of a skill by the agent waits for the
	// person in any case; nil means that none does.
	Waits func(name string) bool
	// Used is told of every skill that is loaded; nil for nobody.
	Used func(ctx context.Context, name string)
}

// Toolset is the three tools.
type Toolset struct{ cfg Config }

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset.
func New(c Config) *Toolset { return &Toolset{c} }

// Name is "skills".
func (t *Toolset) Name() string { return "skills" }

// Available is always the empty text.
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the three tools.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{
		hermes.NewTool(hermes.Spec{
			Name: "skills_list", Description: strings.TrimSpace(listDoc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
			Trusted: true, // a skill says for itself whether it is
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
	return t.cfg.Library(c.Host.Session().Dir)
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
		return hermes.Result{}, fmt.Errorf("no skill is in the category %q; there are: %s", in.Category, strings.Join(categories, ", "))
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
