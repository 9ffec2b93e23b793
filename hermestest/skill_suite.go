package hermestest

import (
	"errors"
	"strings"
	"testing"

	"hermes"
)

// RunSkillLibrary is the contract suite of [hermes.SkillLibrary]. open returns a
// new, empty library for each test.
func RunSkillLibrary(t *testing.T, open func(t *testing.T) hermes.SkillLibrary) {
	t.Helper()
	t.Run("what is saved is listed and viewed", func(t *testing.T) { savedSkill(t, open(t)) })
	t.Run("a failed change leaves everything as it was", func(t *testing.T) { failedSkill(t, open(t)) })
	t.Run("a stale change is refused", func(t *testing.T) { staleSkill(t, open(t)) })
	t.Run("what is missing wraps ErrNotFound", func(t *testing.T) { missingSkill(t, open(t)) })
}

// skillDoc is a SKILL.md.
func skillDoc(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nSteps.\n"
}

func savedSkill(t *testing.T, l hermes.SkillLibrary) {
	for _, name := range []string{"b", "a"} {
		if _, err := l.Save(t.Context(), hermes.SkillEdit{Name: name, New: true, Content: skillDoc(name, "Does "+name)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Save(t.Context(), hermes.SkillEdit{Name: "a", File: "references/r.md", Content: "details"}); err != nil {
		t.Fatal(err)
	}
	list, err := l.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" || list[0].Description != "Does a" || list[0].Source != hermes.SkillUser {
		t.Fatalf("listed %+v, %v", list, err)
	}
	got, err := l.View(t.Context(), "a", "")
	if err != nil || got.File != "SKILL.md" || got.Content != skillDoc("a", "Does a") || got.Hash == "" || len(got.Files) != 1 || got.Files[0] != "references/r.md" {
		t.Errorf("viewed %+v, %v", got, err)
	}
	if more, err := l.View(t.Context(), "a", "references/r.md"); err != nil || more.Content != "details" {
		t.Errorf("viewed %+v, %v", more, err)
	}
	if _, err := l.Remove(t.Context(), hermes.SkillRemoval{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if list, err := l.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("after the removal %+v, %v", list, err)
	}
}

func failedSkill(t *testing.T, l hermes.SkillLibrary) {
	good := skillDoc("a", "Good")
	if _, err := l.Save(t.Context(), hermes.SkillEdit{Name: "a", New: true, Content: good}); err != nil {
		t.Fatal(err)
	}
	for what, e := range map[string]hermes.SkillEdit{
		"a second of the name": {Name: "a", New: true, Content: skillDoc("a", "Other")},
		"no frontmatter":       {Name: "a", Content: "nothing"},
		"another name":         {Name: "a", Content: skillDoc("b", "Other")},
		"a name that climbs":   {Name: "../a", New: true, Content: skillDoc("a", "Other")},
		"a file that climbs":   {Name: "a", File: "references/../../x", Content: "x"},
		"a place for no file":  {Name: "a", File: "x.md", Content: "x"},
	} {
		if _, err := l.Save(t.Context(), e); err == nil {
			t.Errorf("%s was saved", what)
		}
	}
	list, err := l.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("listed %+v, %v", list, err)
	}
	if got, err := l.View(t.Context(), "a", ""); err != nil || got.Content != good || len(got.Files) != 0 {
		t.Errorf("viewed %+v, %v", got, err)
	}
}

func staleSkill(t *testing.T, l hermes.SkillLibrary) {
	if _, err := l.Save(t.Context(), hermes.SkillEdit{Name: "a", New: true, Content: skillDoc("a", "One")}); err != nil {
		t.Fatal(err)
	}
	first, err := l.View(t.Context(), "a", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Save(t.Context(), hermes.SkillEdit{Name: "a", Content: skillDoc("a", "Two"), Base: first.Hash}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Save(t.Context(), hermes.SkillEdit{Name: "a", Content: skillDoc("a", "Three"), Base: first.Hash}); err == nil {
		t.Error("a change of old content was made")
	}
	if got, err := l.View(t.Context(), "a", ""); err != nil || !strings.Contains(got.Content, "Two") {
		t.Errorf("viewed %+v, %v", got, err)
	}
}

func missingSkill(t *testing.T, l hermes.SkillLibrary) {
	_, view := l.View(t.Context(), "nope", "")
	_, save := l.Save(t.Context(), hermes.SkillEdit{Name: "nope", Content: skillDoc("nope", "x")})
	_, remove := l.Remove(t.Context(), hermes.SkillRemoval{Name: "nope"})
	for what, err := range map[string]error{"view": view, "save": save, "remove": remove} {
		if !errors.Is(err, hermes.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
