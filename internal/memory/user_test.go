package memory_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/memory"
)

func perUser(c *memory.Config) { c.PerUser = true }

// says calls the tool on behalf of a user.
func (h fixture) says(t *testing.T, platform, user string, args map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	r, err := memory.Builtin{File: h.File}.Tools()[0].Run(t.Context(), &hermes.Call{Name: "memory", Arguments: raw,
		Host: host{ref: hermes.SessionRef{ID: "s", Platform: platform, User: user}}})
	must(t, err)
	return r.Text
}

func (h fixture) texts(t *testing.T, b *memory.File, target memory.Target) string {
	t.Helper()
	s, err := b.Read(target)
	must(t, err)
	return strings.Join(s.Texts(), "|")
}

func TestEachUserHasAProfileOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := newFixture(t, perUser)
	add := func(platform, user, target, text string) {
		h.says(t, platform, user, map[string]any{"target": target, "action": "add", "content": text})
	}
	add("cli", "", "user", "Name: Ada")
	add("telegram", "7", "user", "Name: Bob")
	add("signal", "7", "user", "Name: Cem")
	add("telegram", "../../7", "user", "Name: Dan")
	add("telegram", "7", "memory", "the printer is in room 4")
	for _, c := range []struct{ platform, user, want string }{
		{"cli", "", "Name: Ada"}, {"telegram", "", "Name: Ada"}, {"telegram", "7", "Name: Bob"}, {"signal", "7", "Name: Cem"},
		{"telegram", "../../7", "Name: Dan"}, {"telegram", "8", ""},
	} {
		b := h.For(hermes.SessionRef{Platform: c.platform, User: c.user})
		if got := h.texts(t, b, memory.User); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.platform, c.user, got, c.want)
		}
		if got := h.texts(t, b, memory.Notes); got != "the printer is in room 4" {
			t.Errorf("%s %s: the notes are %q", c.platform, c.user, got)
		}
		block, err := b.Block(t.Context(), memory.User)
		must(t, err)
		if strings.Contains(block, "Name:") != (c.want != "") || !strings.Contains(block, c.want) {
			t.Errorf("%s %s: the prompt says %q", c.platform, c.user, block)
		}
		if got := h.says(t, c.platform, c.user, map[string]any{"target": "user", "action": "read"}); c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%s %s: the tool says %s", c.platform, c.user, got)
		}
	}
	if got := h.file(t, "USER.md"); got != "Name: Ada\n" {
		t.Errorf("the owner's file: %q", got)
	}
	who, err := h.Users()
	must(t, err)
	if diff := cmp.Diff([]string{"signal:7", "telegram:../../7", "telegram:7"}, who); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(h.path("users"))
	if err != nil || len(entries) != 3 {
		t.Errorf("folders: %v, %v", entries, err)
	}
}

func TestOneProfileIsSharedByDefault(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.says(t, "telegram", "7", map[string]any{"target": "user", "action": "add", "content": "Name: Bob"})
	if got := h.file(t, "USER.md"); got != "Name: Bob\n" || h.For(hermes.SessionRef{Platform: "signal", User: "9"}) != h.File {
		t.Errorf("got %q", got)
	}
}

func TestApprovalChangesTheRightUsersFile(t *testing.T) {
	t.Parallel()
	h := newFixture(t, perUser, func(c *memory.Config) { c.Approval = true })
	h.says(t, "telegram", "7", map[string]any{"target": "user", "action": "add", "content": "Name: Bob"})
	list, err := h.Proposals()
	must(t, err)
	if len(list) != 1 || list[0].Describe() != "add to user of telegram:7: Name: Bob" {
		t.Fatalf("waiting: %+v", list)
	}
	_, err = h.Approve(t.Context(), list[0].ID) // by the owner
	must(t, err)
	if got := h.texts(t, h.For(hermes.SessionRef{Platform: "telegram", User: "7"}), memory.User); got != "Name: Bob" || h.file(t, "USER.md") != "" {
		t.Errorf("got %q, the owner's file is %q", got, h.file(t, "USER.md"))
	}
}

func TestListsOfOtherAgentsAreImported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"a list under headings", "# Memory\n\n## Tools\n- uses uv\n- tabs, not spaces\n", "uses uv|tabs, not spaces"},
		{"words between and entries of several lines", "# Project\n\nThis is the shop.\nIt is old.\n\n- build with make\n  (not ninja)\n1. deploy on Monday\n\nAsk Ada.\n",
			"This is the shop.\nIt is old.|build with make\n(not ninja)|deploy on Monday|Ask Ada."},
		{"code stays whole", "- run this:\n```\nmake x\n\n- y\n```\n- z\n", "run this:\n```\nmake x\n\n- y\n```|z"},
		{"JSON texts", `["one", " two "]`, "one|two"},
		{"JSON objects", `[{"content":"one","id":3},{"text":"two"},{"memory":"three"}]`, "one|two|three"},
		{"words alone", "likes tea\nand cake", "likes tea\nand cake"},
	} {
		h := newFixture(t)
		if _, err := h.Import(t.Context(), strings.NewReader(c.in), memory.Notes); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, h.texts(t, h.File, memory.Notes)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for _, bad := range []string{`[1]`, `[{"x":1}]`, `["one"`, `[]`} {
		h := newFixture(t)
		if n, err := h.Import(t.Context(), strings.NewReader(bad), memory.Notes); err == nil || h.file(t, "MEMORY.md") != "" {
			t.Errorf("%s was taken: %d", bad, n)
		}
	}
}

// TestASessionSaysWhoseMemoryItHas: what a session says goes before the setting.
func TestASessionSaysWhoseMemoryItHas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		perUser bool
		scope   string
		own     bool
	}{
		"shared": {false, "", false}, "own": {true, "", true},
		"own against the setting": {false, memory.ScopeUser, true}, "shared against the setting": {true, memory.ScopeShared, false},
		"unknown is not shared": {false, "mine", true},
	} {
		h := newFixture(t, func(c *memory.Config) { c.PerUser = tt.perUser })
		bob := hermes.SessionRef{ID: "s", Platform: "telegram", User: "7", MemoryScope: tt.scope}
		raw := json.RawMessage(`{"target":"user","action":"add","content":"Name: Bob"}`)
		_, err := memory.Builtin{File: h.File}.Tools()[0].Run(t.Context(), &hermes.Call{Name: "memory", Arguments: raw, Host: host{ref: bob}})
		must(t, err)
		if got := h.texts(t, h.File, memory.User) == ""; got != tt.own || (h.For(bob) != h.File) != tt.own {
			t.Errorf("%s: the memory is their own: %v", name, got)
		}
		for _, user := range []string{"", "7"} {
			bob.User = user
			external := memory.OwnersOnly(oneTool{}, tt.perUser)
			_, err := external.Tools()[0].Run(t.Context(), &hermes.Call{Name: "recall", Arguments: json.RawMessage(`{}`), Host: host{ref: bob}})
			if (err != nil) != (tt.own && user != "") {
				t.Errorf("%s: the service for %q: %v", name, user, err)
			}
		}
	}
}

// oneTool is an external service with one tool.
type oneTool struct{ hermes.MemoryProvider }

func (oneTool) Tools() []hermes.Tool {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "recall"}, func(context.Context, *hermes.Call, struct{}) (hermes.Result, error) {
		return hermes.Result{Text: "what it knows"}, nil
	})}
}
