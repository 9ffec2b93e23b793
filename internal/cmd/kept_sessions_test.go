package cmd_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/chatserver"
)

// storedPrompt reads the system prompt of a session out of the kept database,
// past the program.
func storedPrompt(t *testing.T, db *sql.DB, session string) (system string) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), `SELECT p.text FROM sessions s JOIN prompts p ON p.id = s.system WHERE s.id = ?`, session).Scan(&system)
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// sent is a request to the model.
type sent struct {
	Messages []any
	Tools    json.RawMessage
}

func TestKeptSessionsGoOnAsTheyWereStored(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	bodies := map[string][]byte{} // by the message that resumes them
	p := withKeptHome(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if r.Offers("clarify") {
			text := r.Messages[len(r.Messages)-1].Text()
			words := strings.Fields(text[max(0, strings.LastIndex(text, "Go on with ")):])
			mu.Lock()
			defer mu.Unlock()
			bodies[words[3]] = r.Body
		}
		return chatserver.Answer{Text: "Done."}, nil
	})...)
	db, err := sql.Open("sqlite", "file:"+keptHome+"/hermes.db?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	body := func(t *testing.T, session string) []byte {
		mu.Lock()
		defer mu.Unlock()
		if bodies[session] == nil {
			t.Fatal("the model was not asked")
		}
		return bodies[session]
	}
	tools := strings.TrimSpace(expected(t, "tools.json"))
	for session, messages := range into[map[string][]any](t, expected(t, "requests.json")) {
		t.Run(session, func(t *testing.T) {
			t.Parallel()
			p := &user{t: t, home: p.home, dir: p.dir, env: p.env}
			p.must("-r", session, "-z", "Go on with "+session)
			now := into[sent](t, string(body(t, session)))
			if d := cmp.Diff(map[string]any{"role": "system", "content": storedPrompt(t, db, session)}, now.Messages[0]); d != "" {
				t.Errorf("system prompt (-stored +sent):\n%s", d)
			}
			if d := cmp.Diff(tools, string(now.Tools)); d != "" {
				t.Errorf("tools, byte for byte (-version 0.1.0 +now):\n%s", d)
			}
			if d := cmp.Diff(messages, now.Messages[1:len(now.Messages)-1]); d != "" {
				t.Errorf("messages (-version 0.1.0 +now):\n%s", d)
			}
		})
	}
	t.Run("a new session has the tools that stored sessions know", func(t *testing.T) {
		t.Parallel()
		p := &user{t: t, home: p.home, dir: p.dir, env: p.env}
		p.must("--toolsets", "all", "-z", "Go on with new")
		now := toolArguments(t, string(into[sent](t, string(body(t, "new"))).Tools))
		for tool, arguments := range toolArguments(t, tools) {
			for _, a := range arguments {
				if !slices.Contains(now[tool], a) {
					t.Errorf("the tool %s had the argument %s, now it has %v", tool, a, now[tool])
				}
			}
		}
	})
}

// toolArguments are the names of the arguments of each tool; of one without
// arguments, the empty name.
func toolArguments(t *testing.T, tools string) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	for _, tool := range into[[]struct {
		Function struct {
			Name       string
			Parameters struct{ Properties map[string]any }
		}
	}](t, tools) {
		f := tool.Function
		names[f.Name] = []string{""}
		for a := range f.Parameters.Properties {
			names[f.Name] = append(names[f.Name], a)
		}
	}
	return names
}

// TestKeptCallsAreTold is about calls that were open when the program died:
// of one that waited for an approval nothing was done, of one that ran the
// outcome is not known. The model is told which.
func TestKeptCallsAreTold(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "Done."}, nil
	})...)
	told := map[string]string{}
	for session, call := range map[string]string{keptWaiting: "call_64_0", keptRunning: "call_65_0"} {
		p.must("-r", session, "-z", "Go on.")
		talk := into[keptTalk](t, p.must("sessions", "show", session, "--json"))
		if len(talk.Messages) != 5 {
			t.Fatalf("%s has %d messages", session, len(talk.Messages))
		}
		result := talk.Messages[2]
		if result.Role != "tool" || result.CallID != call || result.ToolName != "terminal" || !result.Failed || result.text() == "" {
			t.Errorf("%s: the result is %+v", session, result)
		}
		told[session] = result.text()
	}
	if told[keptWaiting] == told[keptRunning] {
		t.Errorf("both are told: %s", told[keptWaiting])
	}
}

// keptTalk is what `sessions show --json` prints, as far as it is looked at.
type keptTalk struct {
	Messages []keptMessage
}

type keptMessage struct {
	Role     string
	CallID   string `json:"call_id"`
	ToolName string `json:"tool_name"`
	Failed   bool
	Outside  string
	Parts    []struct{ Text string }
}

func (m keptMessage) text() string {
	var texts []string
	for _, p := range m.Parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// TestKeptOutsideTextIsRemembered is about sessions that had read text from
// outside: what they remember waits for approval. In another it is stored.
func TestKeptOutsideTextIsRemembered(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Role == "user" {
			return call("memory", map[string]string{"target": "memory", "action": "add", "content": last.Text()}), nil
		}
		return chatserver.Answer{Text: "Done."}, nil
	})...)
	p.must("config", "set", "memory.write_approval", "false")
	p.must("config", "unset", "memory.provider") // it would recall what other sessions read
	got := map[string]string{}
	for _, session := range []string{keptLog, keptSite, keptMorning} {
		p.must("-r", session, "-z", "A fact of "+session)
	}
	waiting, err := filepath.Glob(filepath.Join(p.home, "pending", "memory", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range waiting {
		proposal := into[struct {
			By         struct{ Session, Outside string }
			Operations []struct{ Content string }
		}](t, p.file("pending", "memory", filepath.Base(path)))
		if proposal.Operations[0].Content == "A fact of "+proposal.By.Session { // others waited before
			got[proposal.By.Session] = proposal.By.Outside
		}
	}
	if d := cmp.Diff(map[string]string{
		keptLog:  "read_file app.log; terminal grep -c error app.log; @file:notes.md; terminal rm -rf build",
		keptSite: "project file AGENTS.md",
	}, got); d != "" {
		t.Errorf("what waits, and what was read before (-want +got):\n%s", d)
	}
	if got := p.file("memories", "MEMORY.md"); !strings.HasSuffix(got, "A fact of "+keptMorning+"\n") {
		t.Errorf("MEMORY.md is %q", got)
	}
}
