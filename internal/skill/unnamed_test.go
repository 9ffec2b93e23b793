package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/skill"
)

// tree returns the files below the skills folder with their content, without
// what the library keeps beside the skills.
func (r *rig) tree() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	root := r.home.Skills()
	must(r.t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil || d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		case d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "."):
			raw, err := os.ReadFile(path)
			out[filepath.ToSlash(name)] = string(raw)
			return err
		}
		return nil
	}))
	return out
}

func TestRemovingAFileNeverRemovesTheSkill(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.create("deploy", "ops")
	r.put("ops/deploy/references/a.md", "notes")
	r.put("ops/deploy/references/deep/b.md", "more")
	before := r.tree()
	for _, agent := range []bool{true, false} {
		for _, file := range []string{
			"SKILL.md", "skill.md", "./SKILL.md", " SKILL.md ", "././SKILL.md", "references/../SKILL.md", "Skill.MD",
			".", "./", " ", "references", "references/", "references/deep", "references/.", "..", "/", "",
		} {
			if file == "" && agent {
				continue // the whole skill
			}
			removal := hermes.SkillRemoval{Name: "deploy", File: file, Agent: agent}
			if file == "" {
				removal.Name = "deplo" // not a skill
			}
			if _, err := r.Remove(t.Context(), removal); err == nil {
				t.Errorf("remove file %q: no error", file)
			}
		}
	}
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Error(diff)
	}
	_, err := r.Remove(t.Context(), hermes.SkillRemoval{Name: "deploy", File: "./references/a.md"})
	must(t, err)
	delete(before, "ops/deploy/references/a.md")
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestWritingAFileNeedsItsName(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.create("deploy", "")
	before := r.tree()
	for _, file := range []string{" ", "./", ".", "\t"} {
		_, err := r.Save(t.Context(), hermes.SkillEdit{Name: "deploy", File: file, Content: doc("deploy", "Other", "Gone.")})
		wantErr(t, file, err, "not a path")
	}
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestOneFileInTwoSpellingsIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.create("deploy", "")
	r.put("deploy/references/api.md", "notes")
	_, err := r.Save(t.Context(), hermes.SkillEdit{Name: "deploy", File: "references/API.md", Content: "other"})
	wantErr(t, "other spelling", err, "references/api.md")
	if got := r.tree()["deploy/references/api.md"]; got != "notes" {
		t.Errorf("the file became %q", got)
	}
}

// TestANewSkillIsAlwaysFound checks every way in which a skill comes into the
// library: none puts it below another skill, where no list finds it.
func TestANewSkillIsAlwaysFound(t *testing.T) {
	t.Parallel()
	bundled := fstest.MapFS{"deploy/inner/SKILL.md": {Data: []byte(doc("inner", "Does inner", "Steps."))}}
	r := newRig(t, func(c *skill.Config) { c.Bundled = bundled })
	r.create("deploy", "")
	r.put("folder/SKILL.md", doc("other", "Does other", "Steps.")) // its folder has another name
	before := r.tree()

	for _, category := range []string{"deploy", "folder"} {
		e := hermes.SkillEdit{Name: "web", Category: category, New: true, Content: doc("web", "Does web", "Steps.")}
		_, err := r.Save(t.Context(), e)
		wantErr(t, "create in "+category, err, "another category")
		wantErr(t, "check in "+category, r.Check(t.Context(), e), "another category")
		e.Propose = true
		_, err = r.Save(t.Context(), e)
		wantErr(t, "propose in "+category, err, "another category")
		_, err = r.Install(t.Context(), pack(doc("web", "Does web", "Steps.")), skill.InstallOptions{Category: category})
		wantErr(t, "install in "+category, err, "another category")
	}
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Error(diff)
	}

	// A category that nobody chose here is dropped if it cannot be one.
	_, err := r.Save(t.Context(), hermes.SkillEdit{Name: "inner", Content: doc("inner", "Does inner", "Others.")})
	must(t, err)
	if text, err := r.View(t.Context(), "inner", ""); err != nil || !strings.Contains(text.Content, "Others.") {
		t.Errorf("the changed copy of a bundled skill: %q, %v", text.Content, err)
	}
	_, err = r.Install(t.Context(), pack("---\nname: wish\ndescription: Does wish\ncategory: deploy\n---\nSteps.\n"), skill.InstallOptions{})
	must(t, err)
	if _, err := r.View(t.Context(), "wish", ""); err != nil {
		t.Error(err)
	}
}

func TestARestoredSkillIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.create("web", "deploy")
	must(t, r.Archive(t.Context(), "web", "unused"))
	r.create("deploy", "")
	must(t, r.Restore(t.Context(), "web"))
	if got := strings.Join(r.names(), ", "); got != "deploy user, web user" {
		t.Errorf("skills: %s", got)
	}
}

func TestANewSkillIsNotPutBelowALink(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	target := t.TempDir()
	if err := os.Symlink(target, filepath.Join(r.home.Skills(), "linked")); err != nil {
		t.Skip(err)
	}
	_, err := r.Save(t.Context(), hermes.SkillEdit{Name: "web", Category: "linked", New: true, Content: doc("web", "Does web", "Steps.")})
	wantErr(t, "create", err, "another category")
	if left, _ := os.ReadDir(target); len(left) > 0 {
		t.Errorf("written through the link: %v", left)
	}
}

func TestALinkInASkillNamesNoOtherFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.create("deploy", "")
	r.put("deploy/scripts/run.sh", "true")
	folder := filepath.Join(r.home.Skills(), "deploy")
	for link, to := range map[string]string{"references": ".", "assets": "scripts", "templates": "../deploy"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Skip(err)
		}
	}
	before := r.tree()
	for _, file := range []string{"references/SKILL.md", "references/scripts/run.sh", "assets/run.sh", "templates/SKILL.md"} {
		_, err := r.Remove(t.Context(), hermes.SkillRemoval{Name: "deploy", File: file})
		wantErr(t, "remove "+file, err, "link")
		_, err = r.Save(t.Context(), hermes.SkillEdit{Name: "deploy", File: file, Content: "gone"})
		wantErr(t, "write "+file, err, "link")
	}
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Error(diff)
	}
	// A link to a file is itself what is removed and replaced.
	must(t, os.Symlink("../SKILL.md", filepath.Join(folder, "scripts", "link.md")))
	_, err := r.Save(t.Context(), hermes.SkillEdit{Name: "deploy", File: "scripts/link.md", Content: "text"})
	must(t, err)
	_, err = r.Remove(t.Context(), hermes.SkillRemoval{Name: "deploy", File: "scripts/link.md"})
	must(t, err)
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestRemovingTheLastSkillKeepsTheFolderOfAll(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "own")
	r := newRig(t, func(c *skill.Config) { c.CreateDir = own })
	r.create("deploy", "")
	_, err := r.Remove(t.Context(), hermes.SkillRemoval{Name: "deploy"})
	must(t, err)
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}
