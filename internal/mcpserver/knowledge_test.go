package mcpserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/memory"
)

// TestMemoryAndSkillsAreRead without secrets, with where they came from.
func TestMemoryAndSkillsAreRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, dir := range []string{"memories", "skills/deploy/references"} {
		if err := os.MkdirAll(filepath.Join(r.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	by := memory.Origin{By: "agent", Session: "s1", Provenance: "web_extract evil.example"}
	if _, err := r.memory.Change(t.Context(), memory.Notes, []memory.Operation{{Action: "add", Content: "The deploy host is a.example"}}, by); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"memories/USER.md":                   "Prefers tabs\n§\nTheir password is hunter2 on the deploy host\n",
		"skills/deploy/SKILL.md":             "---\nname: deploy\ndescription: Deploy with hunter2\n---\n# Steps\n" + strings.Repeat("Push. ", 5_000),
		"skills/deploy/references/hosts.txt": "a.example",
	} {
		if err := os.WriteFile(filepath.Join(r.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Entries []struct {
			File, Text, From, Provenance string
			Untrusted                    bool
		}
		Next int `json:"next_offset"`
	}
	r.must("memory_read", map[string]any{"file": "user", "limit": 1}, &got)
	if len(got.Entries) != 1 || got.Entries[0].Text != "Prefers tabs" || got.Next != 1 || got.Entries[0].From != "written by hand" {
		t.Errorf("read %+v", got)
	}
	r.must("memory_search", map[string]any{"query": "DEPLOY host"}, &got)
	if len(got.Entries) != 2 || !got.Entries[0].Untrusted || got.Entries[0].Provenance != "web_extract evil.example" || got.Entries[1].Untrusted ||
		got.Entries[1].Text != "Their password is [hidden] on the deploy host" {
		t.Errorf("found %+v", got)
	}
	if err := r.call("memory_read", map[string]any{"file": "../config"}, nil); err == nil {
		t.Error("another file is read")
	}
	var list struct {
		Skills []struct{ Name, Description string }
	}
	r.must("skills_list", map[string]any{"limit": 200}, &list)
	described := ""
	for _, k := range list.Skills {
		if k.Name == "deploy" {
			described = k.Description
		}
	}
	if described != "Deploy with [hidden]" {
		t.Errorf("the skills are %+v", list)
	}
	var text string
	for offset, n := 0, 0; ; n++ {
		var view struct {
			Content string
			Files   []string
			Next    int `json:"next_offset"`
		}
		r.must("skill_view", map[string]any{"name": "deploy", "offset": offset}, &view)
		if text += view.Content; len(view.Content) > 20_000 || len(view.Files) != 1 {
			t.Errorf("a piece has %d bytes, with %v", len(view.Content), view.Files)
		}
		if offset = view.Next; offset == 0 || n > 9 {
			break
		}
	}
	if strings.Count(text, "Push. ") != 5_000 {
		t.Errorf("the pieces make %d bytes", len(text))
	}
	for _, args := range []map[string]any{{"name": "deploy", "file": "../../config.yaml"}, {"name": "nope"}} {
		if err := r.call("skill_view", args, nil); err == nil {
			t.Errorf("%v was read", args)
		}
	}
}

// TestResources hold the same as the tools.
func TestResources(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.stored(hermes.Session{ID: "s1", Platform: "cli", Title: "Fix it"}, hermes.UserText("my password is hunter2"))
	list, err := r.client.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	templates, err := r.client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 3 {
		t.Errorf("%+v, %v", templates, err)
	}
	for argument, want := range map[string]string{"conversation_id=s": "s1", "conversation_id=x": "", "file=u": "user", "file=": "memory,user", "name=no-such-skill": "", "other=": ""} {
		name, value, _ := strings.Cut(argument, "=")
		res, err := r.client.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "hermes://x/{x}"}, Argument: mcp.CompleteParamsArgument{Name: name, Value: value}})
		if err != nil || strings.Join(res.Completion.Values, ",") != want {
			t.Errorf("%s is completed as %+v, %v", argument, res, err)
		}
	}
	for at, want := range map[string]string{
		"hermes://conversations":          `"title": "Fix it"`,
		"hermes://conversations/s1":       `"text": "my password is [hidden]"`,
		"hermes://conversations/Fix%20it": `"conversation_id": "s1"`,
		"hermes://memory/memory":          `"entries": []`,
		"hermes://memory/user":            `"entries": []`,
		"hermes://skills":                 `"skills": [`,
		"hermes://conversations/nope":     "",
		"hermes://memory/other":           "",
		"hermes://skills/nope":            "",
		"hermes://skills/..%2F..":         "",
		"file:///etc/passwd":              "",
	} {
		res, err := r.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: at})
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "not found")):
			t.Errorf("%s: %+v, %v", at, res, err)
		case want != "" && (err != nil || !strings.Contains(res.Contents[0].Text, want)):
			t.Errorf("%s: %v, want %q", at, err, want)
		}
	}
}
