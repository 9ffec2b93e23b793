package skill_test

import (
	"testing"

	"hermes"
	"hermes/internal/skill"
)

func TestAProposedChangeWaitsWhateverIsConfigured(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(*skill.Config) {})
	from := "read_file notes.md"
	out, err := r.Save(t.Context(), hermes.SkillEdit{Name: "a", New: true, Agent: true, Propose: true, Provenance: from, Content: doc("a", "d", "b")})
	must(t, err)
	waiting, err := r.Waiting()
	must(t, err)
	if out.Pending == "" || len(r.names()) > 0 || len(waiting) != 1 || waiting[0].Provenance() != from {
		t.Fatalf("%+v, waiting %+v", out, waiting)
	}
	_, err = r.Approve(t.Context(), out.Pending)
	must(t, err)
	usage, err := r.Usages()
	if err != nil || usage["a"].Provenance != from || len(r.names()) != 1 {
		t.Errorf("the source is lost: %+v, %v", usage, err)
	}
	out, err = r.Remove(t.Context(), hermes.SkillRemoval{Name: "a", Agent: true, Propose: true, Provenance: from})
	if err != nil || out.Pending == "" || len(r.names()) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if r.Waits(t.Context(), "a") || r.Waits(t.Context(), "new") {
		t.Error("a change would wait in any case")
	}
	r.SetApproval(true)
	if !r.Waits(t.Context(), "a") || !r.Waits(t.Context(), "new") {
		t.Error("no change would wait")
	}
}

func TestOthersSkillsAreUntrusted(t *testing.T) {
	t.Parallel()
	for source, want := range map[hermes.SkillSource]string{
		hermes.SkillUser: "", hermes.SkillBundled: "", hermes.SkillHub: "hub skill a", hermes.SkillProject: "project skill a", hermes.SkillExternal: "external skill a",
	} {
		if got := (hermes.Skill{Name: "a", Source: source}).Provenance(); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
