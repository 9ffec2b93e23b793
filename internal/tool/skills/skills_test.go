package skills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/tool/skills"
)

// shelf is an in-memory library.
type shelf struct {
	texts   map[string]string // name or name/file to content
	pending bool
	doubt   bool
	edits   []hermes.SkillEdit
}

func (s *shelf) List(context.Context) ([]hermes.Skill, error) {
	return []hermes.Skill{{Name: "a", Description: "Does a", Category: "dev", Source: hermes.SkillUser}, {Name: "b", Description: "Does b", Category: "ops", Source: hermes.SkillBundled}}, nil
}

func (s *shelf) View(_ context.Context, name, file string) (hermes.SkillText, error) {
	key := name
	if file != "" && file != "SKILL.md" {
		key += "/" + file
	} else {
		file = "SKILL.md"
	}
	text, ok := s.texts[key]
	if !ok {
		return hermes.SkillText{}, fmt.Errorf("there is no skill %q: %w", key, hermes.ErrNotFound)
	}
	return hermes.SkillText{Skill: hermes.Skill{Name: name}, File: file, Content: text, Hash: "h-" + text, Files: []string{"references/r.md"}}, nil
}

func (s *shelf) Save(_ context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	if s.doubt && !e.Granted {
		return hermes.SkillOutcome{}, &hermes.SkillDoubt{Findings: []string{"deletes everything"}}
	}
	s.edits = append(s.edits, e)
	if s.pending {
		return hermes.SkillOutcome{Pending: "x1"}, nil
	}
	return hermes.SkillOutcome{Path: "/p"}, nil
}

func (s *shelf) Remove(_ context.Context, r hermes.SkillRemoval) (hermes.SkillOutcome, error) {
	if !r.Agent {
		return hermes.SkillOutcome{}, fmt.Errorf("not marked as the agent's")
	}
	return hermes.SkillOutcome{Path: "/p/" + r.Name + r.File}, nil
}

type host struct {
	hermes.Host
	decision hermes.Decision
	asked    []hermes.ApprovalRequest
}

func (*host) Session() hermes.SessionRef { return hermes.SessionRef{ID: "s1", Dir: "/work"} }

func (h *host) Approve(_ context.Context, a hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	h.asked = append(h.asked, a)
	return hermes.ApprovalAnswer{Decision: h.decision}, nil
}

// call runs a tool over the shelf.
func call(t *testing.T, s *shelf, h *host, tool, args string) (string, error) {
	t.Helper()
	used := []string{}
	set := skills.New(skills.Config{
		Library: func(of hermes.SessionRef) hermes.SkillLibrary {
			if of.Dir != "/work" {
				t.Errorf("the library of %q was asked for", of.Dir)
			}
			return s
		},
		Used: func(_ context.Context, name string) { used = append(used, name) },
	})
	tools, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tools, func(x hermes.Tool) bool { return x.Spec().Name == tool })
	r, err := tools[at].Run(t.Context(), &hermes.Call{Name: tool, Arguments: json.RawMessage(args), Host: h})
	if tool == "skill_view" && err == nil && len(used) != 1 && !strings.Contains(args, "file_path") {
		t.Errorf("uses recorded: %v", used)
	}
	return r.Text, err
}

func TestToolsStaySmall(t *testing.T) {
	t.Parallel()
	tools, err := skills.New(skills.Config{}).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, x := range tools {
		s := x.Spec()
		raw, err := json.Marshal(map[string]any{"name": s.Name, "description": s.Description, "parameters": s.Schema})
		if err != nil {
			t.Fatal(err)
		}
		size += len(raw)
	}
	if size > 1600 {
		t.Errorf("the three tools take %d bytes of every request, want at most 1600", size)
	}
}

func TestListAndView(t *testing.T) {
	t.Parallel()
	s := &shelf{texts: map[string]string{"a": "body of a", "a/references/r.md": "details"}}
	for _, c := range [][4]string{
		{"skills_list", `{}`, `"count":2`, ""},
		{"skills_list", `{"category":"ops"}`, `"name":"b"`, ""},
		{"skills_list", `{"category":"x"}`, "", "the categories are: dev, ops"},
		{"skill_view", `{"name":"a"}`, "Other files of this skill: references/r.md", ""},
		{"skill_view", `{"name":"a","file_path":"references/r.md"}`, "details", ""},
		{"skill_view", `{"name":"zz"}`, "", "no skill"},
	} {
		got, err := call(t, s, &host{}, c[0], c[1])
		if c[3] == "" && (err != nil || !strings.Contains(got, c[2])) || c[3] != "" && (err == nil || !strings.Contains(err.Error(), c[3])) {
			t.Errorf("%s %s: %q, %v", c[0], c[1], got, err)
		}
	}
}

func TestManage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, text, fail string }{
		{`{"action":"create","name":"n","content":"x","category":"dev"}`, `"path":"/p"`, ""},
		{`{"action":"edit","name":"a","content":"x"}`, `"path":"/p"`, ""},
		{`{"action":"patch","name":"a","old_string":"one","new_string":"two"}`, `"path":"/p"`, ""},
		{`{"action":"patch","name":"a","old_string":"nowhere to be found","new_string":"two"}`, "", "not found"},
		{`{"action":"patch","name":"twice","old_string":"same","new_string":"x"}`, "", ""},
		{`{"action":"patch","name":"twice","old_string":"same","new_string":"x","replace_all":true}`, `"path"`, ""},
		{`{"action":"patch","name":"a"}`, "", "old_string is missing"},
		{`{"action":"patch","name":"zz","old_string":"x"}`, "", "no skill"},
		{`{"action":"write_file","name":"a","file_path":"references/x.md","file_content":"x"}`, `"path"`, ""},
		{`{"action":"write_file","name":"a"}`, "", "file_path is missing"},
		{`{"action":"remove_file","name":"a"}`, "", "file_path is missing"},
		{`{"action":"remove_file","name":"a","file_path":"references/x.md"}`, "/p/areferences/x.md", ""},
		{`{"action":"delete","name":"a"}`, "hermes curator restore a", ""},
		{`{"action":"delete","name":"a","file_path":"references/x.md"}`, "", "use remove_file"},
		{`{"action":"delete","name":"a","file_path":"SKILL.md"}`, "", "use remove_file"},
		{`{"action":"edit","name":"a","file_path":"references/x.md","content":"x"}`, "", "use write_file"},
		{`{"action":"edit","name":"a","file_path":"./SKILL.md","content":"x"}`, `"path":"/p"`, ""},
		{`{"action":"create","name":"n","file_path":"references/x.md","content":"x"}`, "", "use write_file"},
		{`{"action":"write_file","name":"a","file_path":"references/x.md"}`, "", "file_content is missing"},
		{`{"action":"remove_file","name":"a","file_path":" "}`, "", "file_path is missing"},
		{`{"action":"jump","name":"a"}`, "", "is not an action"},
		{`{"action":"delete"}`, "", "name is missing"},
		{`{}`, "", "action is missing"},
		{`{"operations":[{"action":"delete","name":"a"},{"action":"create","name":"b","content":"x"}]}`, `"done":[`, ""},
		{`{"operations":"[{\"action\":\"delete\",\"name\":\"a\"}]"}`, `"action":"delete"`, ""},
		{`{"operations":[{"action":"delete","name":"a"},{"action":"jump","name":"b"}]}`, "", "operation 2 of 2"},
		{`{"operations":[` + strings.TrimSuffix(strings.Repeat(`{},`, 21), ",") + `]}`, "", "at most 20"},
	} {
		s := &shelf{texts: map[string]string{"a": "line one\nline\n", "twice": "same\nsame\n"}}
		got, err := call(t, s, &host{}, "skill_manage", c.args)
		switch {
		case c.text != "" && (err != nil || !strings.Contains(got, c.text)):
			t.Errorf("%s: %q, %v", c.args, got, err)
		case c.text == "" && (err == nil || !strings.Contains(err.Error(), c.fail)):
			t.Errorf("%s: %q, %v, want %q", c.args, got, err, c.fail)
		}
		for _, e := range s.edits {
			if !e.Agent || e.Session != "s1" {
				t.Errorf("%s: not marked as the agent's: %+v", c.args, e)
			}
			if strings.Contains(c.args, `"patch"`) && !strings.HasPrefix(e.Base, "h-") {
				t.Errorf("%s: the patch is not bound to what was read: %+v", c.args, e)
			}
		}
	}
}

func TestPendingChangesAreReported(t *testing.T) {
	t.Parallel()
	got, err := call(t, &shelf{pending: true}, &host{}, "skill_manage", `{"action":"create","name":"n","content":"x"}`)
	if err != nil || !strings.Contains(got, "/skills approve x1") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDoubtAsksTheUser(t *testing.T) {
	t.Parallel()
	for decision, written := range map[hermes.Decision]bool{hermes.AllowOnce: true, hermes.Deny: false, hermes.TimedOut: false} {
		s, h := &shelf{doubt: true}, &host{decision: decision}
		_, err := call(t, s, h, "skill_manage", `{"action":"create","name":"n","content":"rm all"}`)
		if (err == nil) != written || (len(s.edits) > 0) != written {
			t.Errorf("%s: %v, %+v", decision, err, s.edits)
		}
		if len(h.asked) != 1 || !strings.Contains(h.asked[0].Subject, "rm all") || h.asked[0].Risks[0].Reason != "deletes everything" {
			t.Errorf("asked %+v", h.asked)
		}
	}
}

func TestOnlyChangesThatDoNotWaitPersist(t *testing.T) {
	t.Parallel()
	tools, err := skills.New(skills.Config{Waits: func(name string) bool { return name == "bundled" }}).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tools, func(x hermes.Tool) bool { return x.Spec().Name == "skill_manage" })
	persists := tools[at].Spec().Persists
	for arguments, want := range map[string]string{
		`{"action":"create","name":"n"}`:      "skill",
		`{"action":"patch","name":"bundled"}`: "",
		`{"operations":[{"action":"patch","name":"bundled"},{"action":"delete","name":"mine"}]}`: "skill",
		`{"operations":"[{\"action\":\"delete\",\"name\":\"mine\"}]"}`:                           "skill",
		`{"action":7}`:       "skill",
		`{"name":"mine"}`:    "skill",
		`{"name":"bundled"}`: "",
		`{}`:                 "skill",
	} {
		if got := persists(json.RawMessage(arguments)); got != want {
			t.Errorf("%s persists as %q, want %q", arguments, got, want)
		}
	}
	for _, x := range tools {
		if name := x.Spec().Name; name != "skill_manage" && x.Spec().Persists != nil {
			t.Errorf("%s says that it persists something", name)
		}
	}
}
