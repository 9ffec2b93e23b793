package skill_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/skill"
)

const day = 24 * time.Hour

// learn makes a skill as the agent.
func (r *rig) learn(name, body string) {
	r.t.Helper()
	_, err := r.Save(r.t.Context(), hermes.SkillEdit{Name: name, New: true, Agent: true, Content: doc(name, "Release the program", body)})
	must(r.t, err)
}

const steps = "Run the tests. Then tag the commit with the version, push the tag, wait for the build, and write the notes from the change log."

func TestTwinsAreProposedAndNeverRemovedByThemselves(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.learn("release", steps)
	r.learn("publish", steps+" Tell people.")
	r.learn("other", "Look at the logs of the server, find the slow query, explain it, and add the index that is missing there.")
	must(t, r.Count(t.Context(), "release", skill.Helped))
	c := skill.Curation{StaleAfter: 30 * day, ArchiveAfter: 90 * day}
	if got, err := r.Curate(t.Context(), c, false); err != nil || len(got.Twins) != 0 {
		t.Fatalf("not configured: %+v, %v", got, err)
	}
	c.Consolidate = true
	if got, err := r.Curate(t.Context(), c, true); err != nil || len(got.Twins) != 1 || got.Twins[0].Name != "publish" || got.Twins[0].Of != "release" {
		t.Fatalf("a dry run: %+v, %v", got, err)
	}
	_, err := r.Curate(t.Context(), c, false)
	must(t, err)
	wait, err := r.Proposals()
	if err != nil || len(wait) != 1 || wait[0].What() != "remove the skill publish" || !strings.Contains(wait[0].Why(), "the same as release") {
		t.Fatalf("waiting: %+v, %v", wait, err)
	}
	if len(r.names()) != 3 {
		t.Errorf("removed by itself: %v", r.names())
	}
	// What is rejected does not come again, until one of the two changes.
	must(t, r.Reject(wait[0].ID))
	if got, err := r.Curate(t.Context(), c, false); err != nil || len(got.Twins) != 0 {
		t.Errorf("proposed again: %+v, %v", got, err)
	}
	change := func(text string) {
		t.Helper()
		_, err := r.Save(t.Context(), hermes.SkillEdit{Name: "publish", Content: doc("publish", "Release the program", steps+text)})
		must(t, err)
	}
	change(" Tell everybody.")
	_, err = r.Curate(t.Context(), c, false)
	must(t, err)
	wait, err = r.Proposals()
	if err != nil || len(wait) != 1 {
		t.Fatalf("after a change: %+v, %v", wait, err)
	}
	change(" Drink tea.")
	_, err = r.Approve(t.Context(), wait[0].ID)
	wantErr(t, "something else than was proposed", err, "has changed")
	change(" Tell everybody.")
	_, err = r.Approve(t.Context(), wait[0].ID)
	must(t, err)
	if diff := cmp.Diff([]string{"other user", "release user"}, r.names()); diff != "" {
		t.Error(diff)
	}
}

func TestAPinnedTwinStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.learn("release", steps)
	r.learn("publish", steps)
	must(t, r.Pin(t.Context(), "release", true))
	must(t, r.Pin(t.Context(), "publish", true))
	if got, err := r.Curate(t.Context(), skill.Curation{Consolidate: true, ArchiveAfter: day, StaleAfter: day}, false); err != nil || len(got.Twins) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCopiesOfBundledSkillsGo(t *testing.T) {
	t.Parallel()
	text := doc("built", "It is built in", "Steps.")
	r := newRig(t, func(c *skill.Config) { c.Bundled = fstest.MapFS{"dev/built/SKILL.md": {Data: []byte(text)}} })
	r.put("dev/built/SKILL.md", text)
	c := skill.Curation{StaleAfter: 30 * day, ArchiveAfter: 90 * day, Copies: true}
	must(t, r.OptOut(true))
	if got, err := r.Curate(t.Context(), c, true); err != nil || len(got.Archived) != 0 {
		t.Errorf("the only one there is: %+v, %v", got, err)
	}
	must(t, r.OptOut(false))
	r.put("dev/built/references/own.md", "mine")
	if got, err := r.Curate(t.Context(), c, true); err != nil || len(got.Archived) != 0 {
		t.Errorf("with a file of one's own: %+v, %v", got, err)
	}
	must(t, os.RemoveAll(filepath.Join(r.home.Skills(), "dev", "built", "references")))
	if got, err := r.Curate(t.Context(), c, false); err != nil || len(got.Archived) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"dev/built bundled"}, r.names()); diff != "" {
		t.Error(diff)
	}
}

func TestTheArchiveIsEmptiedWhenConfigured(t *testing.T) {
	t.Parallel()
	var done []string
	r := newRig(t, func(c *skill.Config) {
		c.Record = func(_ context.Context, by, what string, _ []string, write func() error) error {
			done = append(done, by+": "+what)
			return write()
		}
	})
	for _, name := range []string{"a", "b", "c"} {
		r.learn(name, steps+name)
		must(t, r.Archive(t.Context(), name, "by hand"))
		r.now = r.now.Add(10 * day)
	}
	c := skill.Curation{StaleAfter: 30 * day, ArchiveAfter: 90 * day}
	if got, err := r.Curate(t.Context(), c, false); err != nil || len(got.Purged) != 0 {
		t.Fatalf("deleted without a limit: %+v, %v", got, err)
	}
	left := func(want ...string) {
		t.Helper()
		list, err := r.ListArchived()
		must(t, err)
		var got []string
		for _, a := range list {
			got = append(got, a.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	c.ArchiveTTL = 25 * day
	if got, err := r.Curate(t.Context(), c, true); err != nil || len(got.Purged) != 1 {
		t.Errorf("a dry run: %+v, %v", got, err)
	}
	left("c", "b", "a")
	_, err := r.Curate(t.Context(), c, false)
	must(t, err)
	left("c", "b")
	if last := done[len(done)-1]; last != "curator: delete the archived skill a" {
		t.Errorf("recorded as %q", last)
	}
	_, err = r.Purge(t.Context(), 0, []string{"nope"}, false)
	if !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	_, err = r.Purge(t.Context(), 15*day, nil, false)
	must(t, err)
	left("c")
	_, err = r.Purge(t.Context(), 0, []string{"c"}, false)
	must(t, err)
	left()
}

func TestAUsersSkillIsManagedOnceAdopted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.create("mine", "")
	r.put("byhand/SKILL.md", doc("byhand", "d", "b"))
	r.learn("learned", steps)
	list, err := r.Unmanaged(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("got %+v, %v", list, err)
	}
	must(t, r.Adopt(t.Context(), "byhand"))
	c := skill.Curation{StaleAfter: 30 * day, ArchiveAfter: 90 * day}
	if got, err := r.Curate(t.Context(), c, true); err != nil || len(got.Archived) != 0 {
		t.Errorf("at once: %+v, %v", got, err)
	}
	r.now = r.now.Add(91 * day)
	if got, err := r.Curate(t.Context(), c, true); err != nil || len(got.Archived) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if list, err = r.Unmanaged(t.Context()); err != nil || len(list) != 1 || list[0].Name != "mine" {
		t.Errorf("got %+v, %v", list, err)
	}
	wantErr(t, "adopt what is not there", r.Adopt(t.Context(), "nope"), "no skill")
}

func TestARollbackCanBeRolledBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.learn("a", "first")
	first, err := r.Backup(1)
	must(t, err)
	_, err = r.Save(t.Context(), hermes.SkillEdit{Name: "a", Content: doc("a", "d", "second")})
	must(t, err)
	_, err = r.Rollback(t.Context(), strings.TrimSuffix(filepath.Base(first), ".tar.gz"))
	must(t, err)
	says := func(want string) {
		t.Helper()
		if got, err := r.View(t.Context(), "a", ""); err != nil || !strings.Contains(got.Content, want) {
			t.Errorf("got %q, %v, want %q", got.Content, err, want)
		}
	}
	says("first")
	_, err = r.Rollback(t.Context(), "") // the newest: what stood before
	must(t, err)
	says("second")
}
