package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/demo"
)

// message is one message as a client of the protocol keeps it.
type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	Calls      []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// client is a minimal agent that can play the scenario: it asks over HTTP and has tools of a few lines
// each.
type client struct {
	dir, url string
	tools    []string
	messages []message
	ran      []string                                    // tools in the order of their calls
	answer   func(tool, arguments string) (string, bool) // replaces a tool's result; may be nil
	kept     kept                                        // what is kept between sessions
}

func allTools() []string {
	return append(demo.Needed(), "todo", "memory", "skill_manage", "skill_view", "session_search")
}

// ask makes one request and appends the answer.
func (c *client) ask(ctx context.Context) (message, error) {
	type tool struct {
		Type     string            `json:"type"`
		Function map[string]string `json:"function"`
	}
	var tools []tool
	for _, name := range c.tools {
		tools = append(tools, tool{"function", map[string]string{"name": name}})
	}
	body, err := json.Marshal(map[string]any{"model": demo.ModelName, "messages": c.messages, "tools": tools})
	if err != nil {
		return message{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return message{}, err
	}
	defer res.Body.Close()
	var answer struct {
		Choices []struct{ Message message }
		Error   struct{ Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return message{}, err
	}
	if len(answer.Choices) == 0 {
		return message{}, errors.New(answer.Error.Message)
	}
	c.messages = append(c.messages, answer.Choices[0].Message)
	return answer.Choices[0].Message, nil
}

// turn sends a message and runs tools until the model asks for no more.
func (c *client) turn(ctx context.Context, text string) (string, error) {
	c.messages = append(c.messages, message{Role: "user", Content: text})
	for range 40 {
		m, err := c.ask(ctx)
		if err != nil {
			return "", err
		}
		if len(m.Calls) == 0 {
			return m.Content, nil
		}
		c.work(m)
	}
	return "", errors.New("the model does not stop")
}

func (c *client) work(m message) {
	for _, call := range m.Calls {
		c.ran = append(c.ran, call.Function.Name)
		c.messages = append(c.messages, message{Role: "tool", ToolCallID: call.ID, Content: c.run(call)})
	}
}

func (c *client) run(call call) string {
	if c.answer != nil {
		if text, ok := c.answer(call.Function.Name, call.Function.Arguments); ok {
			return text
		}
	}
	var in struct {
		Command, Pattern, Path string
		OldString              string `json:"old_string"`
		NewString              string `json:"new_string"`
	}
	if err := json.Unmarshal([]byte(call.Function.Arguments), &in); err != nil {
		return "error: " + err.Error()
	}
	if text, ok := c.kept.run(call); ok {
		return text
	}
	switch call.Function.Name {
	case "terminal":
		return c.shell(in.Command)
	case "search_files":
		return c.shell("grep -rn " + in.Pattern + " .")
	case "read_file":
		text, err := os.ReadFile(filepath.Join(c.dir, in.Path))
		return fmt.Sprint(string(text), err)
	case "patch":
		name := filepath.Join(c.dir, in.Path)
		text, err := os.ReadFile(name)
		if err != nil || strings.Count(string(text), in.OldString) != 1 {
			return "error: the old string was not found once"
		}
		err = os.WriteFile(name, []byte(strings.Replace(string(text), in.OldString, in.NewString, 1)), 0o644)
		return fmt.Sprint("patched ", err)
	}
	return "ok"
}

func (c *client) shell(command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = c.dir
	text, err := cmd.CombinedOutput()
	return fmt.Sprint(string(text), err)
}

// Run makes the client a Runner that starts a new session.
func (c *client) Run(ctx context.Context, task demo.Task) (demo.Answer, error) {
	c.dir, c.url, c.messages = task.Dir, task.BaseURL, nil
	if prompt := c.kept.prompt(); prompt != "" {
		c.messages = append(c.messages, message{Role: "system", Content: prompt})
	}
	text, err := c.turn(ctx, task.Prompt)
	c.kept.sessions = append(c.kept.sessions, text)
	return demo.Answer{Session: fmt.Sprint("20261120-demo-", len(c.kept.sessions)), Text: text}, err
}

func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no sh on the PATH: the demo's project needs one")
		}
		t.Skip("no sh on the PATH")
	}
}

func TestDemoFixesTheProjectAndRemembers(t *testing.T) {
	needShell(t)
	t.Setenv("TMPDIR", t.TempDir())
	agent := &client{tools: allTools()}
	var out bytes.Buffer
	if err := demo.Run(t.Context(), agent, &out, demo.Options{Fast: true}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	want := "todo terminal todo search_files read_file patch todo terminal patch terminal todo terminal memory skill_manage " +
		"skill_view session_search session_search terminal terminal"
	if got := strings.Join(agent.ran, " "); got != want {
		t.Errorf("tools:\n got %s\nwant %s", got, want)
	}
	if got := agent.kept.sessions[0]; !strings.Contains(got, "All 6 tests pass") {
		t.Errorf("last words of the first session: %q", got)
	}
	last := agent.kept.sessions[1]
	for _, want := range []string{"20261120-demo-1", "> 1. `count_errors` compared", "> 2. `error_rate` divided", "all 6 tests passed", "rate of 0 percent"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last words of the second session lack %q: %q", want, last)
		}
	}
	if got := agent.shell("sh tests/run.sh"); !strings.Contains(got, "all 6 tests passed") {
		t.Errorf("after the demo the project's tests say:\n%s", got)
	}
	diff, err := demo.Diff(agent.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-\t\tif [ \"$status\" -gt 400 ]; then", "+\t\tif [ \"$status\" -ge 400 ]; then", "+\tif [ \"$total\" -eq 0 ]; then"} {
		if !strings.Contains(diff, want) {
			t.Errorf("the project lacks the change %q:\n%s", want, diff)
		}
	}
	shown := strings.Join(strings.Fields(out.String()), " ") // whatever the width is
	for _, want := range []string{
		"The model is scripted", demo.Prompt, demo.Again, filepath.Dir(agent.dir), "lib/stats.sh, 5 lines added, 1 removed",
		"HERMES_HOME=" + filepath.Join(filepath.Dir(agent.dir), "home"),
		"hermes sessions show 20261120-demo-1", "hermes sessions search", "hermes memory list", "hermes skills show fix-failing-tests",
		"OPENAI_BASE_URL", "OPENROUTER_API_KEY", "hermes model",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the demo does not show %q:\n%s", want, out.String())
		}
	}
}

// TestDemoFailsWhereNothingIsRemembered removes, one after another, what the second session needs: the
// script must not contain the answers.
func TestDemoFailsWhereNothingIsRemembered(t *testing.T) {
	needShell(t)
	t.Setenv("TMPDIR", t.TempDir())
	refuse := func(tool string) func(*client) {
		return func(c *client) {
			c.answer = func(name, _ string) (string, bool) { return `{"error":"no"}`, name == tool }
		}
	}
	for _, tt := range []struct {
		name string
		lose func(c *client)
		says string
	}{
		{"the prompt has no memory", func(c *client) { c.kept.noMemory = true }, "a note on this project"},
		{"the prompt lists no skill", func(c *client) { c.kept.noSkills = true }, "a skill for failing tests"},
		{"the skill cannot be loaded", refuse("skill_view"), "the steps of the skill"},
		{"the search finds nothing", refuse("session_search"), "did not go as my script expects"},
		{"memory does not keep", func(c *client) { c.kept.broken = "memory" }, "a note on this project"},
		{"the skill is not kept", func(c *client) { c.kept.broken = "skill_manage" }, "a skill for failing tests"},
	} {
		agent := &client{tools: allTools()}
		tt.lose(agent)
		err := demo.Run(t.Context(), agent, io.Discard, demo.Options{Fast: true})
		if err == nil || !strings.Contains(err.Error(), "did not find what the first one kept; see the answer above") {
			t.Errorf("%s: got %v", tt.name, err)
			continue
		}
		if got := agent.kept.sessions[1]; !strings.Contains(got, tt.says) {
			t.Errorf("%s: the model says %q, want %q in it", tt.name, got, tt.says)
		}
	}
}

func TestNarrowTerminalIsNotOverrun(t *testing.T) {
	needShell(t)
	t.Setenv("TMPDIR", "/tmp") // a short path, so that it is the text that is measured
	var out bytes.Buffer
	agent := &client{tools: allTools()}
	if err := demo.Run(t.Context(), agent, &out, demo.Options{Fast: true, Width: 52}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(agent.dir)) })
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(line)); n > 52 && !strings.HasPrefix(line, "  ") {
			t.Errorf("%d cells: %q", n, line)
		}
	}
}

func TestDemoThatChangesNothingSaysSo(t *testing.T) {
	needShell(t)
	t.Setenv("TMPDIR", t.TempDir())
	err := demo.Run(t.Context(), &client{}, io.Discard, demo.Options{Fast: true})
	if err == nil || !strings.Contains(err.Error(), "without a change in the sample project; see the answer above") {
		t.Errorf("got %v", err)
	}
}

func TestProjectStaysAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := demo.Project(dir); err != nil {
		t.Fatal(err)
	}
	if diff, err := demo.Diff(dir); diff != "" || err != nil {
		t.Errorf("diff of an untouched project: %q, %v", diff, err)
	}
	if err := demo.Project(dir); !errors.Is(err, os.ErrExist) {
		t.Errorf("creating it twice: got %v, want a refusal", err)
	}
}

// TestProjectRunsInEveryShell keeps the sample within POSIX, since shells differ in what they accept.
func TestProjectRunsInEveryShell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := demo.Project(dir); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, shell := range []string{"sh", "dash", "bash --posix", "bash", "busybox sh", "ksh", "zsh --emulate sh"} {
		words := strings.Fields(shell)
		if _, err := exec.LookPath(words[0]); err != nil {
			continue
		}
		tried++
		cmd := exec.Command(words[0], append(words[1:], "tests/run.sh")...)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: got %v, want exit status 1", shell, err)
		}
		want := "not ok 3 - counts a status of 400 as an error: got [2], want [3]\n"
		if !strings.HasSuffix(string(text), want) {
			t.Errorf("%s: got\n%s\nwant it to end with %q", shell, text, want)
		}
	}
	if tried == 0 {
		needShell(t)
	}
}
