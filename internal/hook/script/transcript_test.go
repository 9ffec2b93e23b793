package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/hook/script"
)

// talk is a stored conversation, with a hook that is run by end.
type talk struct {
	t        *testing.T
	messages []hermes.Message
	read     int // messages that were read
	asked    []string
	folder   string
	hooks    *hook.Hooks
	at       *stage
	session  *script.Session
	now      time.Time
	removed  int64     // messages up to this id were hidden by a compaction, which has inserted one before the next
	grows    time.Time // until then, each reading finds new messages
}

func newTalk(t *testing.T, section string) *talk {
	t.Helper()
	entries, _, problems := parse(t, section)
	if len(problems) > 0 {
		t.Fatalf("%+v", problems)
	}
	k := &talk{t: t, folder: filepath.Join(t.TempDir(), "files"), at: &stage{answers: map[string]said{"a": {}}}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	k.session = script.NewSession(script.Config{
		Dir: "/work", Session: script.About{ID: "s1"}, Consents: script.NewConsents(filepath.Join(t.TempDir(), "c.json"), nil), Accept: true, Now: func() time.Time { return k.now },
		Ask: func(context.Context, script.Question) (string, error) {
			k.asked = append(k.asked, "x")
			return `{"ok": true}`, nil
		},
		Transcripts: script.Transcripts{Folder: k.folder, Version: "1.0.0", Read: k.stored}, Mask: func(s string) string { return strings.ReplaceAll(s, "secret", "***") },
	}, script.Set{Entries: entries, Open: func(context.Context, script.Needs) (script.Place, error) { return k.at, nil }})
	k.hooks = hook.New(nil, k.session.Hook())
	t.Cleanup(func() { _ = k.session.Close() })
	return k
}

func (k *talk) stored(_ context.Context, _ string, r hermes.Range) (list []hermes.Message, _ error) {
	for time.Now().Before(k.grows) && len(list) < r.First {
		m := hermes.UserText("more")
		m.ID = r.After + int64(len(list)) + 1
		list = append(list, m)
	}
	for _, m := range k.messages {
		if m.ID <= k.removed && !r.Raw {
			continue
		}
		if m.ID == k.removed+1 && !r.Raw {
			list = append(list, hermes.UserText("a summary"))
		}
		if m.ID > r.After && (r.First == 0 || len(list) < r.First) {
			list = append(list, m)
		}
	}
	k.read += len(list)
	return list, nil
}

func (k *talk) add(m hermes.Message) {
	m.ID = 1
	if n := len(k.messages); n > 0 {
		m.ID = k.messages[n-1].ID + 1
	}
	k.messages = append(k.messages, m)
}

// end runs the hook and returns the lines of the file that it is told of.
func (k *talk) end() (path string, lines []string) {
	k.t.Helper()
	k.hooks.TurnEnd(k.t.Context(), hermes.SessionRef{ID: "s1", Dir: "/work"}, hermes.OutcomeDone, nil)
	path, _ = k.at.inputs[len(k.at.inputs)-1]["transcript_path"].(string)
	raw, err := os.ReadFile(path)
	if err != nil {
		k.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if !json.Valid([]byte(line)) {
			k.t.Fatalf("no JSON: %.200s", line)
		}
		lines = append(lines, line)
	}
	return path, lines
}

// TestOnlyWhatIsNewIsReadForAHook of a long conversation.
func TestOnlyWhatIsNewIsReadForAHook(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}]}]`)
	for range 1000 {
		k.add(hermes.UserText("words"))
	}
	if _, lines := k.end(); len(lines) != 1000 {
		t.Fatalf("%d lines", len(lines))
	}
	k.read = 0
	k.add(hermes.UserText("the newest"))
	if _, lines := k.end(); len(lines) != 1001 || !strings.Contains(lines[1000], "the newest") || k.read > 2 {
		t.Errorf("%d lines, %d messages were read", len(lines), k.read)
	}
	k.messages = k.messages[:500] // an undo
	if _, lines := k.end(); len(lines) != 500 {
		t.Errorf("after an undo %d lines", len(lines))
	}
	k.messages = k.messages[:400] // an undo, and something else was said before the hook runs again
	said := hermes.UserText("something else")
	said.ID = 2000
	k.messages = append(k.messages, said)
	if _, lines := k.end(); len(lines) != 401 || !strings.Contains(lines[400], "something else") {
		t.Errorf("after an undo and a message %d lines", len(lines))
	}
}

// TestWhatACompactionRemovedIsInTheFileOfAConversation.
func TestWhatACompactionRemovedIsInTheFileOfAConversation(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}]}]`)
	for _, text := range []string{"the first", "the second", "the third"} {
		k.add(hermes.UserText(text))
	}
	k.removed = 2
	if _, lines := k.end(); len(lines) != 3 || !strings.Contains(lines[0], "the first") || !strings.Contains(lines[2], "the third") {
		t.Errorf("the file has %q", lines)
	}
}

// TestTheTimeOfAHookIsAlsoForTheFileOfTheConversation: if it is over before that is written, there is no file.
func TestTheTimeOfAHookIsAlsoForTheFileOfTheConversation(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a, timeout: 0.05}]}]`)
	k.grows = time.Now().Add(10 * time.Second)
	k.hooks.TurnEnd(t.Context(), hermes.SessionRef{ID: "s1", Dir: "/work"}, hermes.OutcomeDone, nil)
	if path := k.at.inputs[0]["transcript_path"]; path != "" || !time.Now().Before(k.grows) {
		t.Errorf("the hook was told of %v", path)
	}
}

// TestNothingIsWrittenOrAskedAfterTheEndOfASession, by a hook that goes on.
func TestNothingIsWrittenOrAskedAfterTheEndOfASession(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}, {type: prompt, prompt: x}]}]`)
	k.end()
	if err := k.session.Close(); err != nil {
		t.Fatal(err)
	}
	asked := len(k.asked)
	k.hooks.TurnEnd(t.Context(), hermes.SessionRef{ID: "s1", Dir: "/work"}, hermes.OutcomeDone, nil)
	if list, err := os.ReadDir(k.folder); err != nil || len(list) > 0 || len(k.at.ran) != 1 || asked != 1 || len(k.asked) != 1 {
		t.Errorf("there are %v, %v; ran %q, asked %d", list, err, k.at.ran, len(k.asked))
	}
}

// TestNoHookRunsForWhatIsOver: the one during which it ended is the last.
func TestNoHookRunsForWhatIsOver(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `PostToolUse: [{hooks: [{command: a}, {command: a}]}]`)
	ctx, end := context.WithCancel(t.Context())
	k.at.during = end
	k.session.Hook().AfterTool(ctx, call("terminal", `{"command":"ls"}`), &hermes.Result{})
	if len(k.at.ran) != 1 {
		t.Errorf("ran %q", k.at.ran)
	}
}

// TestTheFileOfAConversationIsBounded: it keeps the first message and the newest ones.
func TestTheFileOfAConversationIsBounded(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}]}]`)
	k.add(hermes.UserText("the first"))
	long := strings.Repeat("0123456789", 10_000)
	for range 300 {
		k.add(hermes.UserText(long + " the end"))
	}
	calls := make([]hermes.ToolCall, 100)
	for i := range calls {
		calls[i] = hermes.ToolCall{ID: "c", Name: "write_file", Arguments: `{"path":"a","content":"` + long + `"}`}
	}
	k.add(hermes.Message{Role: hermes.RoleAssistant, Calls: calls})
	k.add(hermes.UserText("the last"))
	path, lines := k.end()
	info, err := os.Stat(path)
	if err != nil || info.Size() > 9<<20 || info.Size() < 2<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	last := len(lines) - 1
	if !strings.Contains(lines[0], "the first") || !strings.Contains(lines[last], "the last") || len(lines[last-1]) > 1<<10 || !strings.Contains(lines[last-2], "the end") || len(lines[last-2]) > 70<<10 {
		t.Errorf("%d lines: %.200s … %.200s, %.200s", len(lines), lines[0], lines[last-1], lines[last])
	}
}

// TestSecretsAreHiddenInTheFileOfAConversation, also in the arguments of calls.
func TestSecretsAreHiddenInTheFileOfAConversation(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}]}]`)
	k.add(hermes.UserText("my secret"))
	k.add(hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "the secret"}, {Text: "recalled", Hidden: true}}, Calls: []hermes.ToolCall{{ID: "c1", Name: "terminal", Arguments: `{"command":"echo \u0073ecret"}`}}})
	k.add(hermes.Message{Role: hermes.RoleTool, CallID: "c1", Parts: []hermes.Part{{Text: "secret"}}})
	_, lines := k.end()
	if all := strings.Join(lines, ""); strings.Contains(all, "secret") || strings.Contains(all, "recalled") || strings.Count(all, "***") != 4 {
		t.Errorf("the file has %s", all)
	}
}

// TestAFileOfAConversationThatWasLeftIsRemoved after a month, and that of a session whose program was killed with its
// next one.
func TestAFileOfAConversationThatWasLeftIsRemoved(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}]}]`)
	old, young := filepath.Join(k.folder, "old"), filepath.Join(k.folder, "young")
	live := filepath.Join(k.folder, "live") // of a session that is long open: only its file changes
	write(t, filepath.Join(live, "live.jsonl"), "{}\n")
	if err := os.Chtimes(filepath.Join(live, "live.jsonl"), k.now, k.now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(old, "old.jsonl"), "{}\n")
	if err := os.Chtimes(filepath.Join(old, "old.jsonl"), k.now, k.now.Add(-31*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for path, age := range map[string]time.Duration{old: 31 * 24 * time.Hour, live: 31 * 24 * time.Hour, young: time.Hour} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, k.now.Add(-age), k.now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(k.folder, "s1", "s1.jsonl")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, bytes.Repeat([]byte("{}\n"), 9), 0o600); err != nil {
		t.Fatal(err)
	}
	k.add(hermes.UserText("hello"))
	path, lines := k.end()
	if path != left || len(lines) != 1 {
		t.Errorf("%s has %q", path, lines)
	}
	if err := k.session.Close(); err != nil {
		t.Fatal(err)
	}
	var names []string
	list, err := os.ReadDir(k.folder)
	for _, e := range list {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Equal(names, []string{"live", "young"}) {
		t.Errorf("there are %q, %v", names, err)
	}
}

// TestASampleHasAConversation too, so that scripts which read it can be tried.
func TestASampleHasAConversation(t *testing.T) {
	t.Parallel()
	k := newTalk(t, `Stop: [{hooks: [{command: a}]}]`)
	var read []byte
	k.at.during = func() {
		path, _ := k.at.inputs[len(k.at.inputs)-1]["transcript_path"].(string)
		read, _ = os.ReadFile(path)
	}
	if _, err := k.session.Try(t.Context(), "Stop", ""); err != nil || bytes.Count(read, []byte("\n")) != 2 || !bytes.Contains(read, []byte(`"type":"assistant"`)) {
		t.Errorf("read %s, %v", read, err)
	}
}
