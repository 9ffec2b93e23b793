package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes"
)

// shed is an environment in Python: a folder of this machine.
const shed = `
import base64, os, queue, subprocess, threading
from hermes_plugin import Plugin
plugin = Plugin("shed", "1")
FOLDER = "DIR"
inputs, lock = {}, threading.Lock()

def parts(call):
    with lock: return inputs.setdefault(call, queue.Queue())

@plugin.serves("environment/input")
def take(call, params):  # it may come before the script runs
    parts(params["call"]).put(b"" if params.get("end") else base64.b64decode(params["data"]))

@plugin.serves("environment/exec")
def run(call, params):
    p = subprocess.Popen(["sh", "-c", params["script"]], cwd=FOLDER, start_new_session=True,
        env={"PATH": os.environ["PATH"], "HOME": FOLDER, "TMPDIR": FOLDER, "PLACE": params["place"]}, stdin=subprocess.PIPE if params["stdin"] else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if params["merged"] else subprocess.PIPE)
    def feed():
        try:
            for part in iter(parts(params["call"]).get, b""): p.stdin.write(part); p.stdin.flush()
        except OSError: pass
        finally: p.stdin.close()
    def pump(stream, name):
        for part in iter(lambda: stream.read1(65536), b""):
            if call.cancelled: return
            call.request("environment/output", stream=name, data=base64.b64encode(part).decode())
    if params["stdin"]: threading.Thread(target=feed, daemon=True).start()
    pumps = [threading.Thread(target=pump, args=a, daemon=True) for a in ((p.stdout, "stdout"), (p.stderr, "stderr")) if a[0]]
    for t in pumps: t.start()
    for t in pumps: t.join()
    code = p.wait()
    return {"exit_code": code if code >= 0 else 128 - code}

@plugin.serves("environment/close")
def close(call, params): open(os.path.join(FOLDER, "closed"), "a").write(params["place"])

plugin.run()
`

// TestAPluginRunsTheCommandsOfASession: the commands and files of a session with this backend are those
// of the plugin's place, also when it is resumed; without the plugin nothing runs anywhere.
func TestAPluginRunsTheCommandsOfASession(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the place needs sh")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, walls := range []bool{false, true} {
		folder := t.TempDir()
		s := withPlugin(t, hermes.AllowOnce, walls, "shed", strings.Replace(shed, "DIR", folder, 1),
			"name: shed\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [environment]\ncapabilities: {write: ["+folder+"]}\n")
		enabled := s.config
		s.config = enabled + "terminal: {backend: 'plugin:shed', cwd: '" + folder + "'}\n"
		s.say(`CALL terminal {"command":"pwd; echo made > made.txt; export KEPT=yes; echo \"place=$PLACE\""}`, `CALL terminal {"command":"echo kept=$KEPT"}`,
			`CALL write_file {"path":"written.txt","content":"by the file tool"}`, `CALL read_file {"path":"made.txt"}`)
		got := s.model.results()
		for _, want := range []string{folder, "kept=yes", "place=" + s.session, "made"} {
			if !strings.Contains(got, want) {
				t.Errorf("walls %v: the model does not read %q in\n%.3000s", walls, want, got)
			}
		}
		if data, err := os.ReadFile(filepath.Join(folder, "written.txt")); err != nil || !strings.HasPrefix(string(data), "by the file tool") {
			t.Errorf("walls %v: written %q, %v", walls, data, err)
		}
		if _, err := os.Stat(filepath.Join(s.dir, "made.txt")); err == nil {
			t.Error("it ran on this machine")
		}
		if !strings.Contains(s.system(), "plugin shed") {
			t.Errorf("walls %v: the prompt does not say where commands run", walls)
		}
		id := s.session
		s.quit()
		if data, err := os.ReadFile(filepath.Join(folder, "closed")); err != nil || string(data) != id {
			t.Errorf("walls %v: the end of the session told the plugin %q, %v", walls, data, err)
		}
		s.config = enabled // a resumed session stays where it is
		s.say(`CALL terminal {"command":"cat made.txt; pwd"}`)
		if got := s.model.results(); strings.Count(got, folder) < 2 {
			t.Errorf("walls %v: resumed, it reads\n%.3000s", walls, got)
		}
		s.quit()
	}
}

// TestABackendThatIsNoPluginRunsNothing.
func TestABackendThatIsNoPluginRunsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: 'plugin:gone'}\n"
	s.enter()
	if _, err := s.app.CheckBackend(t.Context()); err == nil || !strings.Contains(err.Error(), `no plugin "gone" that runs commands is enabled`) {
		t.Error(err)
	}
}
