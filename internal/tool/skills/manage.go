package skills

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/patch"
)

// manageSchema is written by hand to stay small: every request carries it.
const manageSchema = `{"type":"object","properties":{` +
	`"action":{"type":"string","enum":["create","edit","patch","delete","write_file","remove_file"]},` +
	`"name":{"type":"string"},"content":{"type":"string"},"category":{"type":"string"},` +
	`"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"},` +
	`"file_path":{"type":"string"},"file_content":{"type":"string"},` +
	`"operations":{"type":"array","items":{"type":"object"},"description":"several of these"}}}`

// operation is one change that the model asks for.
type operation struct {
	_ [0]func() // it is never compared, which saves the code for it

	Action      string `json:"action"`
	Name        string `json:"name"`
	Content     string `json:"content"`
	Category    string `json:"category"`
	Old         string `json:"old_string"`
	New         string `json:"new_string"`
	All         bool   `json:"replace_all"`
	File        string `json:"file_path"`
	FileContent string `json:"file_content"`
}

type manageArgs struct {
	operation
	Operations operations `json:"operations"`
}

// operations also accepts a JSON string that holds the list, as some models send it.
type operations []operation

// UnmarshalJSON reads a list, or a string with one.
func (o *operations) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(cmp.Or(text, "null"))
	}
	return json.Unmarshal(data, (*[]operation)(o))
}

// maxOperations bounds a batch.
const maxOperations = 20

// done is the outcome of one operation.
type done struct {
	Action  string   `json:"action"`
	Name    string   `json:"name"`
	Path    string   `json:"path,omitempty"`
	Pending string   `json:"staged,omitempty"`
	Replay  string   `json:"replay,omitempty"` // result of replaying the draft
	Note    string   `json:"note,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

// all returns the operations of a call, in order.
func (in manageArgs) all() []operation {
	if in.Action == "" {
		return in.Operations
	}
	return append([]operation{in.operation}, in.Operations...)
}

// persists reports "skill" if a call changes skills whose changes do not wait
// for the user anyway. A call without an action counts as a change.
func (t *Toolset) persists(arguments json.RawMessage) string {
	var in manageArgs
	if json.Unmarshal(arguments, &in) != nil || t.cfg.Waits == nil {
		return "skill"
	}
	all := in.all()
	if len(all) == 0 {
		all = operations{in.operation}
	}
	for _, o := range all {
		if !t.cfg.Waits(o.Name) {
			return "skill"
		}
	}
	return ""
}

func (t *Toolset) manage(ctx context.Context, c *hermes.Call, in manageArgs) (hermes.Result, error) {
	todo := in.all()
	switch {
	case len(todo) == 0:
		return hermes.Result{}, errors.New("action is missing: send action (create, edit, patch, delete, write_file, remove_file) and name")
	case len(todo) > maxOperations:
		return hermes.Result{}, fmt.Errorf("too many operations: send at most %d in one call", maxOperations)
	}
	var out []done
	for i, o := range todo {
		d, err := t.one(ctx, c, o)
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("operation %d of %d: %w; the ones before it are done", i+1, len(todo), err)
			}
			return hermes.Result{}, err
		}
		out = append(out, d)
	}
	if len(out) == 1 {
		return hermes.JSONResult(out[0])
	}
	return hermes.JSONResult(map[string]any{"done": out})
}

func (t *Toolset) one(ctx context.Context, c *hermes.Call, o operation) (done, error) {
	lib := t.library(c)
	o.File = strings.TrimSpace(o.File)
	if strings.TrimSpace(o.Name) == "" {
		return done{}, errors.New("name is missing: name the skill")
	}
	if err := o.check(); err != nil {
		return done{}, err
	}
	var out hermes.SkillOutcome
	var err error
	switch o.Action {
	case "create":
		out, err = save(ctx, c, lib, hermes.SkillEdit{Name: o.Name, New: true, Category: o.Category, Content: o.text()})
	case "edit":
		out, err = save(ctx, c, lib, hermes.SkillEdit{Name: o.Name, Content: o.text()})
	case "write_file":
		out, err = save(ctx, c, lib, hermes.SkillEdit{Name: o.Name, File: o.File, Content: cmp.Or(o.FileContent, o.Content)})
	case "patch":
		out, err = patched(ctx, c, lib, o)
	case "delete":
		out, err = remove(ctx, c, lib, hermes.SkillRemoval{Name: o.Name})
	case "remove_file":
		out, err = remove(ctx, c, lib, hermes.SkillRemoval{Name: o.Name, File: o.File})
	default:
		return done{}, fmt.Errorf("%q is not an action; use create, edit, patch, delete, write_file or remove_file", o.Action)
	}
	if err != nil {
		return done{}, err
	}
	return o.report(out), nil
}

// check refuses an operation that names one thing and would change another.
func (o operation) check() error {
	main := o.File == "" || strings.EqualFold(strings.TrimPrefix(o.File, "./"), "SKILL.md")
	switch {
	case o.Action == "delete" && o.File != "":
		return fmt.Errorf("delete removes the whole skill and takes no file_path; use remove_file to remove %s alone", o.File)
	case (o.Action == "create" || o.Action == "edit") && !main:
		return fmt.Errorf("%s writes the SKILL.md and takes no file_path; use write_file for %s", o.Action, o.File)
	case o.Action == "write_file" && o.File == "":
		return errors.New("file_path is missing, for example references/api.md")
	case o.Action == "write_file" && o.FileContent == "" && o.Content == "":
		return errors.New("file_content is missing: the whole text of the file; use remove_file to remove it")
	case o.Action == "remove_file" && o.File == "":
		return errors.New("file_path is missing: name the file of the skill")
	}
	return nil
}

func (o operation) text() string { return cmp.Or(o.Content, o.FileContent) }

// report describes an outcome for the model.
func (o operation) report(out hermes.SkillOutcome) done {
	d := done{Action: o.Action, Name: o.Name, Path: out.Path, Pending: out.Pending, Hints: out.Notes}
	if out.Trial != nil {
		d.Replay = out.Trial.Line()
	}
	switch {
	case out.Pending != "":
		d.Note = "nothing is changed yet: the user must approve it with /skills approve " + out.Pending + "; tell them, and do not repeat the change"
	case o.Action == "create":
		d.Note = "it is in the prompt's list of skills from the next session on; skill_view finds it now"
	case o.Action == "delete":
		d.Note = "restore it with: hermes curator restore " + o.Name
	}
	return d
}

// patched replaces a passage of a file, found the way the patch tool finds it.
func patched(ctx context.Context, c *hermes.Call, lib hermes.SkillLibrary, o operation) (hermes.SkillOutcome, error) {
	if o.Old == "" {
		return hermes.SkillOutcome{}, errors.New("old_string is missing: the passage to replace, as skill_view shows it")
	}
	now, err := lib.View(ctx, o.Name, o.File)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	r, err := patch.Replace(now.Content, o.Old, o.New, o.All)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	if r.Text == now.Content {
		return hermes.SkillOutcome{Path: now.File, Notes: []string{"the file already has this change"}}, nil
	}
	file := now.File
	if file == "SKILL.md" {
		file = ""
	}
	return save(ctx, c, lib, hermes.SkillEdit{Name: now.Skill.Name, File: file, Content: r.Text, Base: now.Hash})
}

func remove(ctx context.Context, c *hermes.Call, lib hermes.SkillLibrary, r hermes.SkillRemoval) (hermes.SkillOutcome, error) {
	who := c.Host.Session()
	r.Agent, r.Session, r.Provenance, r.Propose = true, who.ID, who.Provenance, c.Propose
	return lib.Remove(ctx, r)
}

// save makes the change, and asks the user if it looks dangerous.
func save(ctx context.Context, c *hermes.Call, lib hermes.SkillLibrary, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	who := c.Host.Session()
	e.Agent, e.Session, e.Provenance, e.Propose = true, who.ID, who.Provenance, c.Propose
	out, err := lib.Save(ctx, e)
	doubt, ok := errors.AsType[*hermes.SkillDoubt](err)
	if !ok {
		return out, err
	}
	a := hermes.ApprovalRequest{CallID: c.ID, Tool: c.Name, Subject: "write the skill " + e.Name + ":\n" + e.Content}
	for _, f := range doubt.Findings {
		a.Risks = append(a.Risks, hermes.Risk{Key: "dangerous-skill", Reason: f, NoRemember: true})
	}
	decision, askErr := c.Host.Approve(ctx, a)
	if askErr != nil {
		return out, askErr
	}
	if !decision.Allowed() {
		return out, fmt.Errorf("%w; the user did not allow it: omit that part", err)
	}
	e.Granted = true
	return lib.Save(ctx, e)
}
