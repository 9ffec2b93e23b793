package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
)

// TestSkillsReachTheNextSession creates a skill as the model does, and checks the
// prompt of the next session, a message that calls it, and the journal that undoes
// it.
func TestSkillsReachTheNextSession(t *testing.T) {
	t.Parallel()
	dir, none := t.TempDir(), func(string) string { return "" }
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}}
	a := app.New(app.Options{Home: filepath.Join(dir, "h"), BaseURL: "http://127.0.0.1:1", BaseModel: "m", Getenv: none})
	t.Cleanup(func() { _ = a.Close() })
	lib, err := a.Skills()
	if err != nil {
		t.Fatal(err)
	}
	before, _, err := a.Measure(t.Context(), run)
	if err != nil || !strings.Contains(before.Text(), "- code-review, debugging, ") || strings.Contains(before.Text(), "deploy-shop") {
		t.Fatalf("the prompt before: %v\n%s", err, before.Text())
	}
	text := "---\nname: deploy-shop\ndescription: Deploy the shop\nrequired_environment_variables: [SHOP_TOKEN]\n---\nRun make deploy.\n"
	if _, err := lib.Save(t.Context(), hermes.SkillEdit{Name: "deploy-shop", New: true, Agent: true, Session: "s1", Content: text}); err != nil {
		t.Fatal(err)
	}
	after, specs, err := a.Measure(t.Context(), run)
	if err != nil || !strings.Contains(after.Text(), "- deploy-shop: Deploy the shop") {
		t.Errorf("the prompt after: %v\n%s", err, after.Text())
	}
	for _, tool := range []string{"skills_list", "skill_view", "skill_manage"} {
		if !slices.ContainsFunc(specs, func(s hermes.Spec) bool { return s.Name == tool }) {
			t.Errorf("%s is not offered", tool)
		}
	}
	parts, ok, err := lib.Call(t.Context(), dir, "/deploy-shop now")
	if err != nil || !ok || !parts[0].Hidden || !strings.Contains(parts[0].Text, "make deploy") || parts[1].Text != "/deploy-shop now" {
		t.Errorf("the call: %+v, %v, %v", parts, ok, err)
	}
	journal, err := a.Changes()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := journal.List(time.Time{})
	if err != nil || len(changes) != 1 || changes[0].Kind != "skill" || changes[0].Actor != "s1" {
		t.Fatalf("the journal: %+v, %v", changes, err)
	}
	if _, err := journal.Undo(t.Context(), changes, "person", false); err != nil {
		t.Fatal(err)
	}
	if gone, _, err := a.Measure(t.Context(), run); err != nil || strings.Contains(gone.Text(), "deploy-shop") {
		t.Errorf("after the undo: %v\n%s", err, gone.Text())
	}
}

func TestPreloadedSkills(t *testing.T) {
	t.Parallel()
	dir, none := t.TempDir(), func(string) string { return "" }
	o := app.Options{Home: filepath.Join(dir, "h"), BaseURL: "http://127.0.0.1:1", BaseModel: "m", Getenv: none}
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}, Prompt: hermes.PromptChoice{Skills: []string{"debugging", "csv-duckdb"}}}
	a := app.New(o)
	t.Cleanup(func() { _ = a.Close() })
	if err := a.CheckSkills(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	p, _, err := a.Measure(t.Context(), run)
	if err != nil || !strings.Contains(p.Text(), `<skill name="debugging">`) || !strings.Contains(p.Text(), `<skill name="csv-duckdb">`) {
		t.Errorf("%v\n%s", err, p.Text())
	}
	run.Prompt.IgnoreRules = true
	if p, _, err := a.Measure(t.Context(), run); err != nil || strings.Contains(p.Text(), "<skill") {
		t.Errorf("in spite of --ignore-rules: %v\n%s", err, p.Text())
	}
	run.Prompt.Skills = []string{"no-such-skill"}
	if err := a.CheckSkills(t.Context(), run); err == nil || !strings.Contains(err.Error(), "--skills") {
		t.Errorf("got %v", err)
	}
}

// TestProjectSkillsNeedTrust keeps the skills of a folder out of the prompt
// until the user trusts them.
func TestProjectSkillsNeedTrust(t *testing.T) {
	t.Parallel()
	dir, none := t.TempDir(), func(string) string { return "" }
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}}
	at := filepath.Join(dir, ".hermes", "skills", "local-way")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte("---\nname: local-way\ndescription: d\n---\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := app.New(app.Options{Home: filepath.Join(dir, "h"), BaseURL: "http://127.0.0.1:1", BaseModel: "m", Getenv: none})
	t.Cleanup(func() { _ = a.Close() })
	lib, err := a.Skills()
	if err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []bool{false, true, false} {
		if _, err := lib.Trust(t.Context(), dir, trusted); err != nil {
			t.Fatal(err)
		}
		p, _, err := a.Measure(t.Context(), run)
		if err != nil || strings.Contains(p.Text(), "local-way") != trusted {
			t.Errorf("trusted %v: %v", trusted, err)
		}
	}
}
