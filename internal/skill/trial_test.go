package skill_test

import (
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/skill"
)

func proven(name string, v hermes.SkillVerdict) hermes.SkillEdit {
	return hermes.SkillEdit{
		Name: name, New: true, Content: doc(name, "d", "body"), Agent: true, Session: "s",
		Trial: &hermes.SkillTrial{
			Verdict: v, Why: "3 steps instead of 6", Session: "s", Turn: 4,
			With: hermes.SkillRun{Reached: true, Steps: 3}, Without: hermes.SkillRun{Reached: true, Steps: 6},
		},
	}
}

func TestAWinningDraftIsKeptWithItsFigures(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := proven("a", hermes.SkillWon)
	if out, err := r.Save(t.Context(), e); err != nil || out.Pending != "" {
		t.Fatalf("%+v, %v", out, err)
	}
	all, err := r.Usages()
	must(t, err)
	u := all["a"]
	if u.Wins != 1 || u.Replays.Won != 1 || u.Replays.Last == nil || *u.Replays.Last != *e.Trial || !r.Own("a") || r.Own("b") {
		t.Errorf("%+v", u)
	}
}

func TestALosingDraftWaitsWithItsFigures(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	out, err := r.Save(t.Context(), proven("a", hermes.SkillLost))
	must(t, err)
	list, err := r.Proposals()
	must(t, err)
	if out.Pending == "" || len(list) != 1 || !strings.Contains(list[0].Why(), "lost its replay: 3 steps instead of 6") {
		t.Fatalf("%+v, %+v", out, list)
	}
	if _, err := r.View(t.Context(), "a", ""); err == nil {
		t.Error("it is there already")
	}
	_, err = r.Approve(t.Context(), out.Pending) // the user decides
	must(t, err)
	all, err := r.Usages()
	must(t, err)
	if u := all["a"]; u.Replays.Lost != 1 || u.Harms != 0 || u.Wins != 0 {
		t.Errorf("%+v", u)
	}
}

func TestAHarmfulSkillIsRetired(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	_, err := r.Save(t.Context(), proven("a", hermes.SkillUndecided))
	must(t, err)
	bad := hermes.SkillTrial{Verdict: hermes.SkillLost, Why: "more failed", With: hermes.SkillRun{Reached: true, Failed: 3}, Without: hermes.SkillRun{Reached: true}}
	for range 3 {
		must(t, r.RecordTrial(t.Context(), "a", bad))
	}
	gone, err := r.Curate(t.Context(), skill.Curation{StaleAfter: time.Hour, ArchiveAfter: 2 * time.Hour}, false)
	must(t, err)
	kept, err := r.ListArchived()
	must(t, err)
	if len(gone.Archived) != 1 || gone.Archived[0].Outcome != "harmful" || len(kept) != 1 || !strings.Contains(kept[0].Why, "misled 3 times") {
		t.Errorf("%+v, %+v", gone, kept)
	}
	if err := r.RecordTrial(t.Context(), "a", bad); err == nil {
		t.Error("a trial of a skill that is gone was recorded")
	}
}
