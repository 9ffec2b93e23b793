//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/chatserver"
)

// editor is an MCP client of the program, such as an editor.
type editor struct {
	t       *testing.T
	session *mcp.ClientSession
	program *exec.Cmd
}

// edits starts `hermes mcp serve` and connects a client. All that the program prints are messages,
// or the client would fail.
func (p *user) edits(args ...string) *editor {
	p.t.Helper()
	c := p.command(append([]string{"mcp", "serve"}, args...)...)
	c.Stderr = os.Stderr
	s, err := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil).Connect(p.t.Context(), &mcp.CommandTransport{Command: c}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = s.Close() })
	return &editor{p.t, s, c}
}

// try calls a tool.
func (e *editor) try(tool string, args map[string]any) (out map[string]any, failed string) {
	e.t.Helper()
	res, err := e.session.CallTool(e.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		e.t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError {
		return nil, res.Content[0].(*mcp.TextContent).Text
	}
	return res.StructuredContent.(map[string]any), ""
}

// call calls a tool that succeeds.
func (e *editor) call(tool string, args map[string]any) map[string]any {
	e.t.Helper()
	out, failed := e.try(tool, args)
	if failed != "" {
		e.t.Fatalf("%s: %s", tool, failed)
	}
	return out
}

// list is a list of what a tool returns.
func list(out map[string]any, name string) (all []map[string]any) {
	items, _ := out[name].([]any)
	for _, x := range items {
		all = append(all, x.(map[string]any))
	}
	return all
}

// waits follows events from a cursor on until one of a type has a text, and returns it.
func (e *editor) waits(cursor any, kind, text string) map[string]any {
	e.t.Helper()
	for late := time.Now().Add(2 * time.Minute); time.Now().Before(late); {
		out := e.call("events_wait", map[string]any{"after_cursor": cursor, "timeout_ms": 5_000})
		for _, event := range list(out, "events") {
			if raw, _ := json.Marshal(event); event["type"] == kind && strings.Contains(string(raw), text) {
				return event
			}
		}
		cursor = out["next_cursor"]
	}
	e.t.Fatalf("no %s with %q came", kind, text)
	return nil
}

// removing is a model that removes the folder old where it is told to.
func removing(r *chatserver.Request) (chatserver.Answer, error) {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case !r.Offers("terminal"): // a title, say
		return chatserver.Answer{Text: "Old notes"}, nil
	case last.Role == "tool" && strings.Contains(last.Text(), "not today"):
		return chatserver.Answer{Text: "Then the folder stays."}, nil
	case last.Role == "tool":
		return chatserver.Answer{Text: "It came back: " + last.Text()}, nil
	case strings.Contains(last.Text(), "remove"):
		return call("terminal", map[string]string{"command": "rm -rf old"}), nil
	}
	return chatserver.Answer{Text: "Hello from the model."}, nil
}

// TestAnMCPClientJoinsAChat of another process: it lists it, speaks to it, sees what it asks, and
// answers only if the user allowed that.
func TestAnMCPClientJoinsAChat(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, removing)...)
	if err := os.Mkdir(filepath.Join(p.dir, "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	chat := p.sit("xterm-256color", "-m", "played")
	chat.shows("played")
	chat.press("hi\r")
	chat.shows("Hello from the model.")

	reading, answering := p.edits(), p.edits("--allow-approvals")
	found := list(reading.call("conversations_list", map[string]any{"running": true}), "conversations")
	if len(found) != 1 || !strings.HasPrefix(found[0]["where"].(string), "terminal ") {
		t.Fatalf("the conversations are %v", found)
	}
	id := found[0]["conversation_id"]
	start := answering.call("events_poll", nil)["next_cursor"]
	sent := reading.call("messages_send", map[string]any{"conversation_id": id, "message": "please remove the folder"})
	chat.shows("please remove the folder")
	chat.shows("rm -rf old")
	event := reading.waits(sent["cursor"], "message", "please remove")
	if m := event["message"].(map[string]any); m["untrusted"] != true || m["provenance"] != "MCP client editor" {
		t.Errorf("the message is %v", m)
	}
	asked := answering.waits(start, "approval_requested", "rm -rf old")["approval"].(map[string]any)
	answer := map[string]any{"conversation_id": id, "permission_id": asked["permission_id"], "decision": "deny", "reason": "not today"}
	if _, failed := reading.try("permissions_respond", answer); !strings.Contains(failed, "--allow-approvals") {
		t.Errorf("answered without the right to: %q", failed)
	}
	answering.call("permissions_respond", answer)
	chat.shows("Then the folder stays.")
	answering.waits(start, "approval_resolved", `"by":"MCP client`)
	reading.waits(sent["cursor"], "message", "Then the folder stays.")
	if _, err := os.Stat(filepath.Join(p.dir, "old")); err != nil {
		t.Error(err)
	}
}

// TestAnMCPClientWakesAConversation that no process runs. What is risky is refused, whatever the
// settings say, and the end of the client ends the session.
func TestAnMCPClientWakesAConversation(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, removing)...)
	if err := os.Mkdir(filepath.Join(p.dir, "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte("approvals: {mode: \"off\", unattended_mode: approve}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 {
		t.Fatal(out, errs)
	}
	e := p.edits()
	found := list(e.call("conversations_list", map[string]any{"source": "oneshot"}), "conversations")
	if len(found) != 1 || found[0]["state"] != "closed" {
		t.Fatalf("the conversations are %v", found)
	}
	id := found[0]["conversation_id"].(string)
	sent := e.call("messages_send", map[string]any{"conversation_id": id, "message": "remove the folder"})
	e.waits(sent["cursor"], "message", "It came back")
	if _, err := os.Stat(filepath.Join(p.dir, "old")); err != nil {
		t.Errorf("a client removed the folder: %v", err)
	}
	if err := e.session.Close(); err != nil {
		t.Errorf("the end: %v", err)
	}
	if !e.program.ProcessState.Success() {
		t.Errorf("the program ended with %v", e.program.ProcessState)
	}
	p.nothingRuns(id)

	e = p.edits() // and once more, which dies
	e.call("messages_send", map[string]any{"conversation_id": id, "message": "hi"})
	if err := e.program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = e.session.Wait()
	p.nothingRuns(id)
	e = p.edits()
	sent = e.call("messages_send", map[string]any{"conversation_id": id, "message": "hi again"})
	e.waits(sent["cursor"], "message", "Hello from the model.")
}

// nothingRuns checks that no process has a session.
func (p *user) nothingRuns(id string) {
	p.t.Helper()
	out, errs, status := p.run("sessions", "list", "--all", "--json")
	if status != 0 || !strings.Contains(out, id) || strings.Contains(out, `"running":`) {
		p.t.Errorf("the sessions are %s%s", out, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(p.home, "run", "*.sock")); len(left) > 1 { // the next owner removes that of one that was killed
		p.t.Errorf("left behind: %v", left)
	}
}

// TestTheMCPEndpoint serves over HTTP with the token of the home, and ends with a signal.
func TestTheMCPEndpoint(t *testing.T) {
	t.Parallel()
	p := newUser(t, append(serve(t, removing), "TOKEN=short")...)
	c := p.command("mcp", "serve", "--http", "127.0.0.1:0")
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 0, 400)
	for !bytes.Contains(said, []byte("\n")) {
		piece := make([]byte, 400)
		n, err := errs.Read(piece)
		if said = append(said, piece[:n]...); err != nil {
			t.Fatalf("it said %s, %v", said, err)
		}
	}
	_, rest, _ := strings.Cut(string(said), "Serving MCP at ")
	address, _, _ := strings.Cut(rest, ". ")
	raw, err := os.ReadFile(filepath.Join(p.home, "run", "mcp-token"))
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := strings.Cut(string(raw), "\n")
	if strings.Contains(string(said), token) {
		t.Error("the token is printed")
	}
	script := `import sys, urllib.request as u
q = u.Request(sys.argv[1], data=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', headers={"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + sys.argv[2]})
print(u.urlopen(q, timeout=60).read().decode())`
	name, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	got, err := exec.CommandContext(t.Context(), name, "-c", script, address, token).Output()
	if err != nil || !strings.Contains(string(got), `"conversations_list"`) {
		t.Errorf("the tools are %s, %v", got, err)
	}
	if err := exec.CommandContext(t.Context(), name, "-c", script, address, token+"x").Run(); err == nil {
		t.Error("a wrong token is taken")
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, errs)
	if err := c.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("it ended with %v, and printed %q", err, out.String())
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--http", "0.0.0.0:0"}, "needs TLS"},
		{[]string{"--http", "127.0.0.1:0", "--token-env", "TOKEN"}, "at least 20 random ones"},
		{[]string{"--http", "127.0.0.1:0", "--allow-origin", "app.example"}, "invalid origin"},
		{[]string{"--new-token"}, "are for --http"},
		{[]string{"--http", "127.0.0.1:0", "--allow-approvals"}, "could answer for itself"},
	} {
		if _, errs, status := p.run(append([]string{"mcp", "serve"}, tt.args...)...); status == 0 || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: %d %s, want %q", tt.args, status, errs, tt.want)
		}
	}
}

// TestMCPClientsGetNoSecrets: what the program masks elsewhere is masked for them.
func TestMCPClientsGetNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "I keep " + secret}, nil
	})...)
	if out, errs, status := p.run("-z", "my key is "+secret, "-m", "played"); status != 0 {
		t.Fatal(out, errs)
	}
	e := p.edits()
	rows, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for tool, args := range map[string]map[string]any{
		"messages_read":      {"conversation_id": rows[0].ID},
		"messages_search":    {"query": "key OR keep"},
		"conversations_list": {"source": "oneshot"},
		"conversation_get":   {"conversation_id": rows[0].ID},
	} {
		raw, _ := json.Marshal(e.call(tool, args))
		if strings.Contains(string(raw), secret) || len(raw) < 50 {
			t.Errorf("%s: %s", tool, raw)
		}
	}
	res, err := e.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "hermes://conversations/" + rows[0].ID})
	if err != nil || strings.Contains(res.Contents[0].Text, secret) {
		t.Errorf("the resource is %+v, %v", res, err)
	}
}
