package transcript_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/transcript"
)

const claude = `{"type":"summary","summary":"Fix the parser","leafUuid":"x"}
{"type":"user","timestamp":"2026-11-01T10:00:00Z","cwd":"/src/app","gitBranch":"main","sessionId":"abc","message":{"role":"user","content":"fix it"}}
{"type":"user","isMeta":true,"message":{"role":"user","content":"caveat"}}
{"type":"assistant","timestamp":"2026-11-01T10:00:05Z","message":{"role":"assistant","model":"claude","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."}]}}
{"type":"assistant","timestamp":"2026-11-01T10:00:06Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a"}}]}}
{"type":"user","timestamp":"2026-11-01T10:00:07Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a b"}],"is_error":true}]}}
{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":"a helper's words"}}
{"type":"assistant","timestamp":"2026-11-01T10:00:09Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}
{"type":"user","timestamp":"2026-11-01T10:01:00Z","message":{"role":"user","content":"tha`

const codex = `{"timestamp":"2026-11-02T10:00:00Z","type":"session_meta","payload":{"id":"r1","cwd":"/src/x","git":{"branch":"dev"}}}
{"timestamp":"2026-11-02T10:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"2026-11-02T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"list files"}]}}
{"timestamp":"2026-11-02T10:00:02Z","type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2026-11-02T10:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}}
{"timestamp":"2026-11-02T10:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a\\nb\",\"metadata\":{}}"}}
{"timestamp":"2026-11-02T10:00:04Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two files."}]}}
{"timestamp":"2026-11-02T10:00:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"nobody","output":"stray"}}
`

func spoken(list []hermes.Message) []string {
	var out []string
	for _, m := range list {
		line := string(m.Role) + ": " + m.Text()
		for _, c := range m.Calls {
			line += " [" + c.Name + " " + c.Arguments + "]"
		}
		out = append(out, line)
	}
	return out
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text    string
		want    []string
		row     hermes.Session
		origin  string
		skipped int
	}{
		"claude": {claude, []string{
			"user: fix it", `assistant: Looking. [Bash {"command":"ls"}] [Read {"file_path":"a"}]`, "tool: a b",
			"tool: the file has no result of this call", "assistant: Done.",
		}, hermes.Session{Title: "Fix the parser", Dir: "/src/app", Branch: "main"}, "abc", 1},
		"codex": {codex, []string{
			"user: list files", `assistant:  [shell {"command":["ls"]}]`, "tool: a\nb", "assistant: Two files.",
		}, hermes.Session{Dir: "/src/x", Branch: "dev"}, "r1", 0},
	} {
		r, err := transcript.File(strings.NewReader(tt.text), "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, spoken(r.Messages)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if r.Session.Title != tt.row.Title || r.Session.Dir != tt.row.Dir || r.Session.Branch != tt.row.Branch || r.Origin != tt.origin || r.Skipped != tt.skipped {
			t.Errorf("%s: %+v, origin %q, skipped %d", name, r.Session, r.Origin, r.Skipped)
		}
		if open := hermes.OpenCalls(r.Messages); len(open) > 0 {
			t.Errorf("%s: open calls %v", name, open)
		}
		if r.Session.Started.IsZero() {
			t.Errorf("%s: no time", name)
		}
	}
}

func TestFilesWithoutAConversationAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hello\n", "{}\n{}\n", `{"type":"summary","summary":"x"}`} {
		if _, err := transcript.File(strings.NewReader(text), ""); !errors.Is(err, transcript.ErrEmpty) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(claude)
	f.Add(codex)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := transcript.File(strings.NewReader(text), "")
		if err != nil {
			return
		}
		if open := hermes.OpenCalls(r.Messages); len(open) > 0 {
			t.Errorf("open calls %v", open)
		}
	})
}

// cutStore is a store in which the import of the messages is cut.
type cutStore struct {
	hermes.Store
	cut    context.CancelFunc
	killed bool // nothing is done after it
}

func (s *cutStore) Commit(ctx context.Context, _ hermes.Lease, _ hermes.Change) (hermes.Committed, error) {
	s.cut()
	return hermes.Committed{}, ctx.Err()
}

func (s *cutStore) DeleteSession(ctx context.Context, id string) error {
	if s.killed || ctx.Err() != nil {
		return errors.New("not deleted")
	}
	return s.Store.DeleteSession(ctx, id)
}

// TestACutImportCanBeRepeated: after Ctrl+C nothing is left of it, and what is left when the
// program is killed is replaced.
func TestACutImportCanBeRepeated(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"stopped": false, "killed": true} {
		store := hermestest.NewStore()
		r, err := transcript.File(strings.NewReader(claude), "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cut := context.WithCancel(t.Context())
		row, err := transcript.Store(ctx, &cutStore{store, cut, killed}, r, "a.jsonl", time.Now())
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := store.FindSession(t.Context(), row.ID); errors.Is(err, hermes.ErrNotFound) == killed {
			t.Errorf("%s: the session is found: %v", name, err)
		}
		for i, already := range []bool{false, true} {
			row, err := transcript.Store(t.Context(), store, r, "a.jsonl", time.Now())
			if (err != nil) != already {
				t.Errorf("%s: import %d: %v", name, i, err)
			}
			list, err := store.Messages(t.Context(), row.ID, hermes.Range{})
			if err != nil || len(list) != len(r.Messages) {
				t.Errorf("%s: import %d stored %d of %d messages: %v", name, i, len(list), len(r.Messages), err)
			}
		}
	}
}
