package skill_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestARollbackHidesNoSkill: since the backup, a category has become a skill, or a
// skill a category.
func TestARollbackHidesNoSkill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, now, names string }{
		{"tools/x/SKILL.md", "tools/SKILL.md", "tools"},
		{"tools/SKILL.md", "tools/x/SKILL.md", "x"},
	} {
		r := newRig(t, nil)
		r.learn("other", "first")
		r.put(tt.before, doc(filepath.Base(filepath.Dir(tt.before)), "d", "old"))
		_, err := r.Backup(1)
		must(t, err)
		must(t, os.RemoveAll(filepath.Join(r.home.Skills(), "tools")))
		r.put(tt.now, doc(tt.names, "d", "new"))
		must(t, os.WriteFile(filepath.Join(r.home.Skills(), "other", "SKILL.md"), []byte(doc("other", "d", "second")), 0o600))
		before := r.names()
		_, err = r.Rollback(t.Context(), "")
		wantErr(t, "a rollback over "+tt.now, err, "nothing was restored")
		if got := r.names(); !slices.Equal(got, before) {
			t.Errorf("got %q, before %q", got, before)
		}
		if got, err := r.View(t.Context(), "other", ""); err != nil || got.Content != doc("other", "d", "second") {
			t.Errorf("a part was restored: %q, %v", got.Content, err)
		}
	}
}

// TestARollbackKeepsTheRecordsOfNewSkills: the curator manages only what the model made.
func TestARollbackKeepsTheRecordsOfNewSkills(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.learn("a", "first")
	_, err := r.Backup(1)
	must(t, err)
	r.learn("b", "second")
	must(t, r.Pin(t.Context(), "a", true))
	r.put(".trusted.json", "{}")
	_, err = r.Backup(0)
	must(t, err)
	r.put(".trusted.json", `{"/x":"h"}`)
	all, err := r.Backups()
	must(t, err)
	_, err = r.Rollback(t.Context(), all[len(all)-1])
	must(t, err)
	usages, err := r.Usages()
	if err != nil || !usages["b"].Agent || !usages["a"].Agent || usages["a"].Pinned {
		t.Errorf("got %+v, %v", usages, err)
	}
	raw, err := os.ReadFile(filepath.Join(r.home.Skills(), ".trusted.json"))
	if err != nil || string(raw) != `{"/x":"h"}` {
		t.Errorf("trusted projects: %q, %v", raw, err)
	}
}
