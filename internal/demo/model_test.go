package demo_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hermes/internal/demo"
)

// serve starts the scripted model and creates the project.
func serve(t *testing.T) *client {
	t.Helper()
	needShell(t)
	server := httptest.NewServer(demo.Server(0))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := demo.Project(dir); err != nil {
		t.Fatal(err)
	}
	return &client{dir: dir, url: server.URL + "/v1", tools: allTools()}
}

func mustTurn(t *testing.T, c *client, text string) string {
	t.Helper()
	answer, err := c.turn(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestClientWithoutTodoPlaysToo(t *testing.T) {
	t.Parallel()
	c := serve(t)
	c.tools = demo.Needed()
	if got := mustTurn(t, c, "the tests fail"); !strings.Contains(got, "All 6 tests pass") {
		t.Errorf("got %q", got)
	}
	if got := strings.Join(c.ran, " "); strings.Contains(got, "todo") {
		t.Errorf("called a tool that was not offered: %s", got)
	}
}

// TestEveryInterruptionSurvives stops the conversation after each request, answers the open calls as an
// agent does after an interruption, and sends "go on".
func TestEveryInterruptionSurvives(t *testing.T) {
	t.Parallel()
	for after := 1; after <= 9; after++ {
		c := serve(t)
		c.messages = []message{{Role: "user", Content: demo.Prompt}}
		for n := 1; n <= after; n++ {
			m, err := c.ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n < after {
				c.work(m)
				continue
			}
			for _, call := range m.Calls {
				c.messages = append(c.messages, message{Role: "tool", ToolCallID: call.ID, Content: "interrupted"})
			}
		}
		if got := mustTurn(t, c, "go on"); !strings.Contains(got, "All 6 tests pass") {
			t.Errorf("interrupted at request %d: got %q", after, got)
		}
	}
}

func TestFixedProjectNeedsNoPatch(t *testing.T) {
	t.Parallel()
	c := serve(t)
	mustTurn(t, c, demo.Prompt)
	c.messages, c.ran = nil, nil
	mustTurn(t, c, demo.Prompt)
	if got := strings.Join(c.ran, " "); strings.Contains(got, "patch") {
		t.Errorf("patched a project whose tests pass: %s", got)
	}
}

func TestScriptNeverPretends(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		setUp  func(c *client)
		prompt string
		want   string
	}{
		{"a greeting", func(*client) {}, "hello", "scripted model"},
		{"no tools", func(c *client) { c.tools = nil }, demo.Prompt, "scripted model"},
		{"other tools", func(c *client) { c.tools = []string{"bash"} }, demo.Prompt, "read_file"},
		{"a title", func(c *client) { c.tools = nil }, "Write a title for this conversation.", "Fix the failing log report tests"},
		{
			"another folder", func(c *client) { c.dir = c.dir + "/lib" }, demo.Prompt,
			"did not go as my script expects",
		},
		{
			"tools that change nothing",
			func(c *client) {
				c.answer = func(tool, _ string) (string, bool) { return "patched", tool == "patch" }
			}, demo.Prompt,
			"did not go as my script expects",
		},
	} {
		c := serve(t)
		tt.setUp(c)
		if got := mustTurn(t, c, tt.prompt); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q in it", tt.name, got, tt.want)
		}
	}
}

func TestAfterTheEndTheScriptSaysSo(t *testing.T) {
	t.Parallel()
	c := serve(t)
	mustTurn(t, c, demo.Prompt)
	if got := mustTurn(t, c, "and now write a poem"); !strings.Contains(got, "My script ends here") {
		t.Errorf("got %q", got)
	}
}

func TestServeShowsHowToConnect(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := demo.Serve(ctx, out, demo.Options{})
		out.Close()
		done <- err
	}()

	lines := bufio.NewScanner(in)
	var text, url string
	for !strings.Contains(text, "Ctrl+C") && lines.Scan() {
		text += lines.Text() + "\n"
		if _, after, ok := strings.Cut(lines.Text(), "export OPENAI_BASE_URL="); ok {
			url = after
		}
	}
	res, err := http.Get(url + "/models")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.Contains(text, "curl -sN "+url) {
		t.Errorf("status %d for the address in\n%s", res.StatusCode, text)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("a stop by the user: got %v, want no error", err)
	}
}

func TestPauseEndsWithTheClient(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(demo.Server(time.Hour))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	body := `{"model":"x","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	// The first piece is sent before the pause, and a client that goes away ends it.
	if _, err := res.Body.Read(make([]byte, 16)); err != nil {
		t.Errorf("first piece: %v", err)
	}
	cancel()
}
