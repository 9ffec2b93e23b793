package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
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
	setCalling(t, home, "denial_breaker_threshold: 0", calls)
	if err := os.MkdirAll(filepath.Join(home, "skills"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := readAll(t, home)
	runUnattended(t, home, dir)
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
