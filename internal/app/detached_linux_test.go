//go:build linux && (amd64 || arm64)

package app_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/chatserver"
)

// detaching is a script that starts a program which leaves its group, its session and its parent,
// has no variables and ignores every request to end. It writes its id to a file, and is there when
// the script ends.
func detaching(file string) string {
	return fmt.Sprintf(`trap '' TERM HUP INT
setsid sh -c '(setsid env -i PATH="$PATH" sh -c "echo \$\$ > %[1]s.new; mv %[1]s.new %[1]s; exec sleep 1000" </dev/null >/dev/null 2>&1 &)' </dev/null >/dev/null 2>&1
while ! [ -s %[1]s ]; do sleep 0.01; done
`, file)
}

// detached waits until such a program runs, and returns its id. The test ends it in any case.
func detached(t *testing.T, file string) (pid int) {
	t.Helper()
	eventually(t, 30*time.Second, func() (err error) {
		if pid, err = written(file); err == nil && !sleeping(pid) {
			err = fmt.Errorf("what was to be detached does not run: %d", pid)
		}
		return err
	})
	t.Cleanup(func() {
		if sleeping(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return pid
}

// written reads the id of a process from a file.
func written(file string) (pid int, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

// sleeping reports whether it is the program of detaching that has an id. The shell writes the id
// first; while it is being replaced by the program (execve), its command line reads as empty.
func sleeping(pid int) bool {
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && string(words) == "sleep\x001000\x00"
}

func mustEnd(t *testing.T, what string, pid int) {
	t.Helper()
	eventually(t, 20*time.Second, func() error {
		if sleeping(pid) {
			return fmt.Errorf("%s: process %d still runs", what, pid)
		}
		return nil
	})
}

// TestWhatAServerDetachesEndsWithIt, when it is removed and when the program ends, while what
// another server left running goes on until its own end.
func TestWhatAServerDetachesEndsWithIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config = "mcp_servers:\n" + toolServer(t, "box", "plain", "") + toolServer(t, "other", "plain", "")
	withoutWalls(s)
	s.say("hello") // servers start with the first turn
	var pids []int
	for _, name := range []string{"box", "other"} {
		server, err := s.app.MCPNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Ready(t.Context()); err != nil {
			t.Fatalf("%v: %+v", err, server.State())
		}
		file := filepath.Join(s.dir, "pid-"+name)
		s.write(name+".sh", detaching(file))
		s.boxed(name, "sh "+filepath.Join(s.dir, name+".sh"))
		pids = append(pids, detached(t, file))
	}
	config, err := os.ReadFile(filepath.Join(s.home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(s.home, "config.yaml"), strings.Replace(string(config), toolServer(t, "box", "plain", ""), "", 1))
	if changes, notes, err := s.app.ReloadMCP(false); err != nil {
		t.Fatal(changes, notes, err)
	}
	mustEnd(t, "a server was removed", pids[0])
	if !sleeping(pids[1]) {
		t.Error("what the other server left was ended, too")
	}
	if err := s.app.Close(); err != nil {
		t.Error(err)
	}
	mustEnd(t, "the program ended", pids[1])
}

// detachingPlugin detaches what a script says when it starts.
const detachingPlugin = `
import subprocess
from hermes_plugin import Plugin
plugin = Plugin("loose", "1")
subprocess.run(["sh", %q], check=True)
@plugin.tool("Do nothing.", {"type": "object", "properties": {}}, effect="none")
def loose_nothing(call): return "nothing"
plugin.run()
`

// loose is a scene with a plugin that detaches a program.
func loose(t *testing.T) (s *scene, file string) {
	t.Helper()
	at := t.TempDir()
	file = filepath.Join(at, "pid-plugin")
	script := filepath.Join(at, "detach.sh")
	writeFile(t, script, detaching(file))
	s = withPlugin(t, hermes.AllowOnce, false, "loose", fmt.Sprintf(detachingPlugin, script), "name: loose\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [tools]\n")
	eventually(t, 10*time.Second, func() error { // to enable it starts it
		pid, err := written(file)
		if err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return err
	})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	withoutWalls(s)
	return s, file
}

// TestWhatAPluginDetachesEndsWithIt when the program ends.
func TestWhatAPluginDetachesEndsWithIt(t *testing.T) {
	t.Parallel()
	s, file := loose(t)
	s.say(`CALL loose_nothing {}`)
	pid := detached(t, file)
	if err := s.app.Close(); err != nil {
		t.Error(err)
	}
	mustEnd(t, "the program ended", pid)
}

// TestWhatAHookDetachesEndsWithTheSession, and goes on until then.
func TestWhatAHookDetachesEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, "hooks: {UserPromptSubmit: [{hooks: [{command: \"sh ./detach.sh\"}]}]}\n")
	withoutWalls(s)
	file := filepath.Join(s.dir, "pid")
	s.write("detach.sh", detaching(file))
	s.say("hello")
	pid := detached(t, file)
	s.say("hello again")
	if !sleeping(pid) {
		t.Error("it was ended within the session")
	}
	if err := s.app.Close(); err != nil {
		t.Error(err)
	}
	mustEnd(t, "the program ended", pid)
}

// TestWhatProgramsDetachedEndsWithAKilledProgram: Hermes cannot clean up when it is killed.
func TestWhatProgramsDetachedEndsWithAKilledProgram(t *testing.T) {
	t.Parallel()
	s, ofPlugin := loose(t)
	web := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: (&obedient{}).decide})
	t.Cleanup(web.Close)
	at := t.TempDir()
	ofHook, ofServer := filepath.Join(at, "pid-hook"), filepath.Join(at, "pid-server")
	writeFile(t, filepath.Join(at, "hook.sh"), detaching(ofHook))
	writeFile(t, filepath.Join(at, "server.sh"), detaching(ofServer))
	writeFile(t, filepath.Join(s.home, "config.yaml"), fmt.Sprintf(`model: {default: m, provider: custom, base_url: '%s/v1'}
terminal: {sandbox: off}
plugins: {enabled: [loose]}
hooks_auto_accept: true
hooks: {UserPromptSubmit: [{hooks: [{command: "sh %s/hook.sh"}]}]}
mcp_servers:
%s`, web.URL, at, toolServer(t, "s", "detaches:"+filepath.Join(at, "server.sh"), "")))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Dir, c.Stderr = at, os.Stderr
	c.Env = append(os.Environ(), serversChild+"="+s.home, serversSay+"=CALL loose_nothing {}", "HOME="+s.home)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pids := map[string]int{"a hook": detached(t, ofHook), "a server": detached(t, ofServer), "a plugin": detached(t, ofPlugin)}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("the program ended with %v", err)
	}
	if line != "connected 1\n" {
		t.Errorf("it said %q", line)
	}
	for what, pid := range pids {
		mustEnd(t, "Hermes was killed; what "+what+" left", pid)
	}
}
