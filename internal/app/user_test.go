package app_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestOneUserIsNotShownToAnother has two users of a messenger and the owner use one
// home, each in a session that another process resumes.
func TestOneUserIsNotShownToAnother(t *testing.T) {
	t.Parallel()
	var bodies []string
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		bodies = append(bodies, string(r.Body))
		last := r.Messages[len(r.Messages)-1]
		if name, ok := strings.CutPrefix(last.Text(), "I am "); ok && last.Role == "user" {
			return chatserver.Answer{Calls: []chatserver.Call{{ID: "c1", Type: "function", Function: chatserver.Function{
				Name: "memory", Arguments: `{"target":"user","action":"add","content":"Name: ` + name + `"}`,
			}}}}, nil
		}
		return chatserver.Answer{Text: "well"}, nil
	}})
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "memory:\n  scope: user\n  provider: local\n")
	if err := os.MkdirAll(filepath.Join(home, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "memories", "USER.md"), "Name: Ada\n")
	writeFile(t, filepath.Join(home, "memories", "MEMORY.md"), "The printer is in room 4\n")
	quiet := &pausing{entered: make(chan struct{}), release: make(chan struct{})}
	conversation := func(o session.Open, text string) (id, sent string) {
		t.Helper()
		a := app.New(app.Options{Home: home, BaseURL: server.URL + "/v1", BaseModel: "played", Getenv: func(string) string { return "" }})
		m, err := a.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o.Run.Workspace.Dir = dir
		s, err := m.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		first := len(bodies)
		turn(t, s, text, quiet)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		return s.ID(), strings.Join(bodies[first:], "\n")
	}
	bob := session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "telegram", User: "7"}}}
	id, sent := conversation(bob, "What do you know of the staging database heron?")
	if strings.Contains(sent, "Name: Ada") || !strings.Contains(sent, "room 4") {
		t.Errorf("another is shown the owner's profile, or not the notes:\n%s", sent)
	}
	conversation(session.Open{Run: hermes.RunSpec{Session: id}}, "I am Bob") // the row has the user
	if raw, err := os.ReadFile(filepath.Join(home, "memories", "USER.md")); err != nil || string(raw) != "Name: Ada\n" {
		t.Errorf("the owner's profile is %q, %v", raw, err)
	}
	for _, c := range []struct {
		o    session.Open
		want string
	}{{bob, "Name: Bob"}, {session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "telegram", User: "8"}}}, ""}, {session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}}}, "Name: Ada"}} {
		_, sent := conversation(c.o, "And what of the staging database heron?")
		for _, name := range []string{"Name: Ada", "Name: Bob"} {
			if strings.Contains(sent, name) != (name == c.want) {
				t.Errorf("%+v: %s is shown: %v", c.o, name, name != c.want)
			}
		}
		if c.o.Run.Origin.User != "" && strings.Contains(sent, "memory-context") {
			t.Errorf("%+v: what the service remembers of others is recalled", c.o)
		}
	}
}
