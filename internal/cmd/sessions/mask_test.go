package sessions_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/redact"
)

const (
	formed = "sk-" + "proj-aB3dE6gH9jK2mN5pQ8sT1vW4xY7z"
	phrase = "violet-anchor-canary" // only its value is known
)

// leaky is a store with one session that has secrets everywhere.
func leaky(t *testing.T) *hermestest.Store {
	t.Helper()
	s := hermestest.NewStore()
	s.Now = func() time.Time { return now }
	row := hermes.Session{ID: "20261120_090000_aaaaaa", Platform: "cli", Title: "About " + phrase, System: "Note " + formed, Started: now.Add(-time.Hour), Ended: now.Add(-time.Minute),
		Run: hermes.StoredRun{Origin: hermes.Origin{Platform: "cli", Provenance: "terminal curl -u bob:hunter2 https://x.example",
			Task: hermes.TaskOrigin{Failure: "refused " + formed, Schema: `{"const":"` + phrase + `"}`}}, Prompt: hermes.PromptChoice{Extra: "Use " + formed}}}
	if err := s.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	arguments, err := json.Marshal(map[string]string{"command": "curl -u bob:hunter2 -H 'X-Api-Key: " + formed + "' https://x.example/?a=1 # \"" + phrase + "\""})
	if err != nil {
		t.Fatal(err)
	}
	list := []hermes.Message{
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "zebra: use " + formed + " or " + phrase}, {Image: &hermes.Image{URL: "https://x.example/a.png?api_key=" + formed}}}},
		{Role: hermes.RoleAssistant, Reasoning: []hermes.Reasoning{{Text: "the key is " + formed, Signature: "signed-1"}, {Text: "no secret here", Signature: "signed-2"}},
			Calls: []hermes.ToolCall{{ID: "c", Name: "terminal", Arguments: string(arguments), Signature: "signed-3"}, {ID: "d", Name: "terminal", Arguments: `{"command":"ls"}`, Signature: "signed-4"}}},
		{Role: hermes.RoleTool, CallID: "c", ToolName: "terminal", Parts: []hermes.Part{{Text: "DB_PASSWORD=hunter2\n" + phrase}}, Provenance: "terminal curl -u bob:hunter2 https://x.example"},
		{Role: hermes.RoleTool, CallID: "d", ToolName: "terminal", Parts: []hermes.Part{{Text: "a b"}}},
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "e " + phrase, Name: "no_such_" + phrase, Arguments: `{}`, Signature: "signed-5"}}},
		{Role: hermes.RoleTool, CallID: "e " + phrase, ToolName: "no_such_" + phrase, Parts: []hermes.Part{{Text: "There is no such tool."}}},
		{Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{{Text: "[IMPORTANT: Background process] " + formed}}},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "Done with " + phrase}}},
	}
	for i := range list {
		list[i].Time = now.Add(-time.Hour + time.Duration(i)*time.Second)
	}
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: row.ID}, hermes.Change{Append: list}); err != nil {
		t.Fatal(err)
	}
	return s
}

// leaks lists the secrets in a text.
func leaks(text string) (found []string) {
	for _, secret := range []string{formed, "aB3dE6gH9jK2", phrase, "hunter2"} {
		if strings.Contains(text, secret) {
			found = append(found, secret)
		}
	}
	return found
}

func TestTranscriptsAreShownAndExportedWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"export", "-"}, {"export", "-", "--redact"}, {"export", "-", "--format", "md"}, {"export", "-", "--format", "html"}, {"export", "-", "--format", "trajectory"},
		{"export", "-", "--only", "user-prompts"}, {"show", "latest"}, {"show", "latest", "--full"}, {"show", "latest", "--json"},
		{"search", "zebra"}, {"search", "zebra", "--json"}, {"search", "zebra", "--context", "3"}, {"search", "done", "--context", "9", "--json"}, {"list"}, {"list", "--json"},
		{"prune", "--older-than", "1s", "--dry-run"}, {"delete", "latest"}, {"branch", "latest"}, {"show", "about"},
	} {
		s := leaky(t)
		d := on(s)
		d.Mask = redact.New(redact.Options{Known: []string{phrase}}).Text
		d.Shown = d.Mask
		d.Terminal = func() bool { return true } // delete asks
		out, errs, err := runWith(t, d, "", args...)
		if refused := args[0] == "delete" || slices.Contains(args, "about"); err != nil && !refused {
			t.Fatalf("%v: %v", args, err)
		} else if refused {
			out += errs + err.Error()
		}
		if found := leaks(out); len(found) > 0 || len(out) < 20 {
			t.Errorf("%v shows %q:\n%s", args, found, out)
		}
	}
}

// marking marks the word that was searched for as the database does, within a secret too.
type marking struct{ *hermestest.Store }

func (m marking) Search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error) {
	hits, err := m.Store.Search(ctx, q)
	for i, h := range hits {
		hits[i].Snippet = strings.ReplaceAll(h.Message.Visible(), q.Text, ">>>"+q.Text+"<<<")
	}
	return hits, err
}

// TestWhatIsCutIsMaskedBefore looks at texts that are shown in part, or with marks in
// them, so that less than a whole secret may be there.
func TestWhatIsCutIsMaskedBefore(t *testing.T) {
	t.Parallel()
	s := leaky(t)
	long := hermes.Session{ID: "20261120_100000_bbbbbb", Platform: "cli", Started: now.Add(-time.Hour)}
	if err := s.CreateSession(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: long.ID}, hermes.Change{Append: []hermes.Message{hermes.UserText("For the shop, which has its own password, take " + phrase)}}); err != nil {
		t.Fatal(err)
	}
	d := on(marking{s})
	d.Mask = redact.New(redact.Options{Known: []string{phrase}}).Text
	d.Shown = d.Mask
	for _, args := range []string{"list", "search anchor", "search anchor --json"} {
		out, _, err := runWith(t, d, "", strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out, "violet-") || !strings.Contains(out, "20261120_100000_bbbbbb") {
			t.Errorf("%s shows\n%s", args, out)
		}
	}
}

// TestMaskedArgumentsAreJSONWhateverTheMaskDoes because imports and providers refuse
// others.
func TestMaskedArgumentsAreJSONWhateverTheMaskDoes(t *testing.T) {
	t.Parallel()
	s := leaky(t)
	d := on(s)
	d.Mask = func(text string) string { return strings.ReplaceAll(text, `"`, "") }
	d.Shown = d.Mask
	out, _, err := runWith(t, d, "", "export", "-")
	var doc struct{ Messages []hermes.Message }
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range doc.Messages[1].Calls {
		if c.Arguments != `{"masked":true}` {
			t.Errorf("arguments %s", c.Arguments)
		}
	}
}

func TestAQuestionIsShownWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := leaky(t)
	l, err := s.Acquire(t.Context(), "20261120_090000_aaaaaa", hermes.Owner{Name: "test"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: "ask", Name: "clarify"}); err != nil {
		t.Fatal(err)
	}
	q := hermes.Question{Text: "Which key, " + formed + "?", Choices: []string{"this: " + formed, "none"}}
	if err := s.SavePending(t.Context(), l, "ask", hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: q}}}); err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, s, "show", "latest")
	if found := leaks(strings.ReplaceAll(out, phrase, "")); len(found) > 0 || !strings.Contains(out, "2. none") {
		t.Errorf("shows %q:\n%s", found, out)
	}
}

func TestExportsKeepWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	export := func(args ...string) (out string) {
		t.Helper()
		return mustRun(t, leaky(t), append([]string{"export", "-"}, args...)...)
	}
	whole := export("--redact=false")
	for _, want := range []string{formed, phrase, "signed-1", "signed-2", "signed-3", "signed-4"} {
		if !strings.Contains(whole, want) {
			t.Errorf("--redact=false lost %q", want)
		}
	}
	usual := export()
	for want, there := range map[string]bool{"signed-1": false, "signed-2": true, "signed-3": false, "signed-4": true} {
		if strings.Contains(usual, want) != there {
			t.Errorf("the usual export has %s: %v", want, !there)
		}
	}
	if strict := export("--redact"); strings.Contains(strict, "signed-") {
		t.Errorf("--redact keeps what cannot be read:\n%s", strict)
	}
	var doc struct{ Messages []hermes.Message }
	if err := json.Unmarshal([]byte(usual), &doc); err != nil || !json.Valid([]byte(doc.Messages[1].Calls[0].Arguments)) {
		t.Errorf("the arguments are no longer JSON: %v\n%s", err, usual)
	}
}

func TestTheSettingDecidesWhatTheUserIsShown(t *testing.T) {
	t.Parallel()
	s := leaky(t)
	d := on(s)
	d.Shown = func(text string) string { return text }
	for args, want := range map[string]bool{"show latest": true, "export -": true, "export - --redact": false} {
		out, _, err := runWith(t, d, "", strings.Fields(args)...)
		if err != nil || strings.Contains(out, formed) != want || strings.Contains(out, "bob:hunter2") != want {
			t.Errorf("%s with redact_secrets off shows the key: %v, %v", args, !want, err)
		}
	}
}
