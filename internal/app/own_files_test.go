package app_test

import (
	"encoding/json"
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

// TestNoToolWritesHermesOwnFiles: in an unattended run, where no question is
// answered, neither the shell nor a file tool changes Hermes' own files, by whatever
// name they reach them.
func TestNoToolWritesHermesOwnFiles(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	calls := []chatserver.Function{
		shellCall("ln -s " + home + " h"), shellCall("mkdir sub && ln -s ../h/skills sub/s"), // nothing is wrong with a link
		shellCall("echo 'approvals: {mode: off}' > h/config.yaml"), shellCall("cd h && echo x > permissions.yaml"), shellCall("cp /etc/hostname sub/s/evil.md"),
		shellCall("ln -s " + home + "/permissions.yaml p; echo x > p"), shellCall("ln " + home + "/config.yaml c; echo x > c"), shellCall("sed -i s/custom/evil/ h/config.yaml"),
		shellCall("git init h/plugins/x"), shellCall("python3 -c 'open(\"h/permissions.yaml\", \"w\")'"), shellCall("tee $PWD/h/hooks/x < /etc/hostname"), shellCall("mv h/config.yaml h/config.old"),
		fileCall("h/permissions.yaml"), fileCall("sub/s/evil.md"), fileCall(home + "/config.yaml"), fileCall("h/../" + filepath.Base(home) + "/permissions.yaml"),
		shellCall("echo done > inside"), fileCall("also-inside"),
	}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		done := 0
		for _, m := range r.Messages {
			if m.Role == "tool" {
				done++
			}
		}
		if done == len(calls) {
			return chatserver.Answer{Text: "done"}, nil
		}
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "c", Type: "function", Function: calls[done]}}}, nil
	}})
	defer server.Close()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\napprovals: {denial_breaker_threshold: 0}\n")
	if err := os.MkdirAll(filepath.Join(home, "skills"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := readAll(t, home)
	a := app.New(app.Options{Home: home, Dir: dir, Getenv: func(string) string { return "" }})
	defer a.Close()
	s := mustOpen(t, a, session.Open{Platform: "webhook", Dir: dir})
	events := mustSay(t, s, "go")
	for e := range events {
		if done, ok := e.(hermes.TurnDone); ok {
			if done.Err != nil {
				t.Fatal(done.Err)
			}
			break
		}
	}
	if after := readAll(t, home); after != before {
		t.Errorf("Hermes' own files are\n%s\nbefore they were\n%s", after, before)
	}
	for _, name := range []string{"inside", "also-inside", "h", "sub/s"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("ordinary work was refused: %v", err)
		}
	}
}

func shellCall(command string) chatserver.Function {
	raw, _ := json.Marshal(map[string]string{"command": command})
	return chatserver.Function{Name: "terminal", Arguments: string(raw)}
}

func fileCall(path string) chatserver.Function {
	raw, _ := json.Marshal(map[string]string{"path": path, "content": "x\n"})
	return chatserver.Function{Name: "write_file", Arguments: string(raw)}
}

// readAll is the content of the files that say what Hermes may do.
func readAll(t *testing.T, home string) string {
	t.Helper()
	var all []string
	for _, name := range []string{"config.yaml", "config.old", "permissions.yaml", "skills", "skills/evil.md", "plugins", "hooks"} {
		data, err := os.ReadFile(filepath.Join(home, name))
		if info, statErr := os.Stat(filepath.Join(home, name)); statErr == nil && info.IsDir() {
			err = nil
		}
		if err == nil {
			all = append(all, name+": "+string(data))
		}
	}
	return strings.Join(all, "\n")
}
