package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/session"
	"hermes/internal/skill"
)

type library struct {
	approval bool
	pending  []skill.Pending
	done     []string
	dir      string
}

func (*library) List(context.Context) ([]hermes.Skill, error) {
	return []hermes.Skill{
		{Name: "build", Category: "dev", Description: strings.Repeat("x", 80), Source: hermes.SkillBundled},
		{Name: "mine", Description: "My own", Source: hermes.SkillUser},
	}, nil
}

func (*library) View(_ context.Context, name, _ string) (hermes.SkillText, error) {
	if name != "build" {
		return hermes.SkillText{}, fmt.Errorf("there is no skill %q: %w", name, hermes.ErrNotFound)
	}
	return hermes.SkillText{Skill: hermes.Skill{Name: "build"}, Content: "The steps."}, nil
}

func (l *library) Call(_ context.Context, dir, line string) ([]hermes.Part, bool, error) {
	l.dir = dir
	if !strings.HasPrefix(line, "/build") && !strings.HasPrefix(line, "/he ") {
		return nil, false, nil
	}
	return []hermes.Part{{Text: "The steps.", Hidden: true}, {Text: line}}, true, nil
}

func (l *library) Waiting() (ids []string, err error) {
	for _, p := range l.pending {
		ids = append(ids, p.ID)
	}
	return ids, nil
}

func (l *library) Proposals() ([]skill.Pending, error) { return l.pending, nil }
func (l *library) Diff(id string) (string, error)      { return "+new " + id + "\n", nil }
func (l *library) Reject(id string) error              { l.done = append(l.done, "-"+id); return nil }
func (l *library) Approval() bool                      { return l.approval }

func (l *library) Approve(_ context.Context, id string) (hermes.SkillOutcome, error) {
	l.done = append(l.done, "+"+id)
	return hermes.SkillOutcome{Path: "/p"}, nil
}

func (l *library) SetApproval(_ context.Context, on bool) error { l.approval = on; return nil }

func TestSkillsCommand(t *testing.T) {
	t.Parallel()
	l := &library{pending: []skill.Pending{{ID: "x1", Edit: &hermes.SkillEdit{Name: "a", New: true}}, {ID: "x2", Removal: &hermes.SkillRemoval{Name: "b"}}}}
	for _, c := range []struct{ line, want, fail string }{
		{"/skills", "- `/build` " + strings.Repeat("x", 57) + "...\n", ""},
		{"/skills list", "`/mine` My own (user)", ""},
		{"/skills", "2 pending changes: `/skills pending`", ""},
		{"/skills view build", "The steps.", ""},
		{"/skills view nope", "", "no skill"},
		{"/skills pending", "`x1` create the skill a\n- `x2` remove the skill b", ""},
		{"/skills diff x1", "+new x1", ""},
		{"/skills approve x1", "Applied `x1`: `/p`", ""},
		{"/skills reject all", "Rejected `x1`.\n\nRejected `x2`.", ""},
		{"/skills approval on", "need your approval", ""},
		{"/skills approval off", "without asking", ""},
		{"/skills install x", "", "hermes skills"},
		{"/skills approve", "", "/skills approve ID"},
	} {
		r, err := command.Run(t.Context(), c.line, command.Call{Session: &fake{}, Where: command.Terminal, Skills: l})
		if c.fail == "" && (err != nil || !strings.Contains(r.Text, c.want)) || c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) {
			t.Errorf("%s: %q, %v", c.line, r.Text, err)
		}
	}
	if got := strings.Join(l.done, " "); got != "+x1 -x1 -x2" {
		t.Errorf("done: %s", got)
	}
	if _, err := command.Run(t.Context(), "/skills", command.Call{Where: command.Terminal}); err == nil {
		t.Error("no library, no error")
	}
}

func TestASkillIsCalledByItsName(t *testing.T) {
	t.Parallel()
	l := &library{}
	f := &fake{state: session.State{Row: hermes.Session{Dir: "/work"}}}
	for line, want := range map[string]bool{
		"/build the thing": true,  // a skill
		"/help":            false, // a command wins over a skill
		"/he x":            true,  // a skill wins over a prefix of a command
		"/ti":              false, // a prefix of a command
	} {
		r, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Terminal, Skills: l})
		if err != nil || (len(r.Message) > 0) != want {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
		if want && (l.dir != "/work" || !r.Message[0].Hidden || r.Message[1].Text != line) {
			t.Errorf("%s: %+v in %q", line, r.Message, l.dir)
		}
	}
	if _, err := command.Run(t.Context(), "/nope", command.Call{Session: f, Where: command.Terminal, Skills: l}); err == nil {
		t.Error("an unknown name is no error")
	}
	single := &fake{state: f.state, err: session.ErrNoReview}
	for _, line := range []string{"/learn docs/", "/learn", "/refine", "/refine tests"} {
		r, err := command.Run(t.Context(), line, command.Call{Session: single, Where: command.Terminal})
		if err != nil || len(r.Message) < 2 || r.Message[1].Text != line {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
}
