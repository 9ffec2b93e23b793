package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/plugin"
	"hermes/internal/plugin/source"
	"hermes/internal/plugin/upstream"
)

// withPython is a scene with one of the example plugins of the Python Hermes, installed as it is and
// enabled as a command does it.
func withPython(t *testing.T, name string, g upstream.Grants) *scene {
	t.Helper()
	needsPython(t)
	s := newScene(t, hermes.AllowOnce)
	s.options = func(o *app.Options) {
		o.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} }
	}
	from, err := source.Parse(filepath.Join("..", "plugin", "upstream", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	from.Python = &g
	o := app.Options{Home: s.home, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }}
	s.options(&o)
	a := app.New(o)
	defer a.Close()
	i, err := a.PluginInstaller(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	staged, err := i.Stage(t.Context(), from)
	if err == nil {
		err = i.Put(staged, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(s.home, "plugins")
	dir := filepath.Join(folder, name)
	offer, err := a.LookAtPlugin(t.Context(), dir, staged.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := plugin.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := plugin.PinsIn(folder).Set(t.Context(), name, plugin.Pin{Digest: digest, Offer: offer}); err != nil {
		t.Fatal(err)
	}
	s.config = "plugins: {enabled: [" + name + "]}\n"
	return s
}

// reads fails unless the model read each text.
func (s *scene) reads(texts ...string) {
	s.t.Helper()
	got := s.model.results()
	for _, want := range texts {
		if !strings.Contains(got, want) {
			s.t.Errorf("the model does not read %q in\n%s", want, got)
		}
	}
}

// TestToolsOfThePythonHermesRunUnchanged: with their schemas, relative imports, files beside them,
// variables, and async handlers; a handler that raises fails alone.
func TestToolsOfThePythonHermesRunUnchanged(t *testing.T) {
	t.Parallel()
	s := withPython(t, "tides", upstream.Grants{Variables: map[string]string{"TIDES_UNIT": "m"}})
	s.say(`CALL tide_at {"harbour":"emden"}`, `CALL tide_at {"harbour":"rome"}`, `CALL tide_at {"harbour":"atlantis"}`, `CALL tide_sum {"heights":[1,2.5]}`, `CALL tide_radar {}`)
	s.reads(`{"harbour": "emden", "height": 3.1, "unit": "m", "session": true}`, `unknown harbour rome`, `RuntimeError: it has sunk`, `{"sum": 3.5}`, "check_fn")
}

// TestHooksOfThePythonHermesRunUnchanged: each event reaches them with its fields, and what they
// return holds. One that raises before a call refuses it, any other one is left out.
func TestHooksOfThePythonHermesRunUnchanged(t *testing.T) {
	t.Parallel()
	s := withPython(t, "watchman", upstream.Grants{})
	s.write("plan.txt", "the secret plan")
	s.say("hello watchman", `CALL write_file {"path":"a.txt","content":"forbidden"}`, `CALL write_file {"path":"b.txt","content":"a typo"}`,
		`CALL write_file {"path":"c.txt","content":"broken"}`, `CALL read_file {"path":"plan.txt"}`)
	s.reads("that word is not written here", "the watchman has fallen asleep", "the [plan]", "The watchman is awake.", "Nothing is written at night.", "not from the user")
	if got := s.model.results(); strings.Contains(got, "secret plan") {
		t.Error("a result is not changed:", got)
	}
	for name, want := range map[string]string{"a.txt": "", "b.txt": "a type", "c.txt": ""} {
		if data, err := os.ReadFile(filepath.Join(s.dir, name)); string(data) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	s.asked = nil
	s.say(`CALL write_file {"path":"d.txt","content":"careful"}`, `CALL watchman_log {}`)
	asked := false
	for _, a := range s.asked {
		for _, r := range a.Risks {
			asked = asked || strings.Contains(r.Reason, "careful was said")
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "d.txt")); err != nil || !asked {
		t.Errorf("the user was asked: %v, %v", asked, err)
	}
	s.say(`CALL watchman_log {}`)
	s.reads(`["on_session_start", "cli"]`, `["pre_llm_call", true, "cli", 1]`, `["pre_llm_call", false, "cli", 3]`, `["pre_tool_call", "write_file", true]`,
		`["post_tool_call", "read_file", "ok"]`, `["post_llm_call", true, true]`)
	if strings.Contains(s.model.results(), `["never"]`) {
		t.Error("a hook ran without a field that it wants")
	}
}

// TestTheContextOfThePythonHermesIsServed: sections, skills, other tools, models and messages, each
// as far as the user allows it.
func TestTheContextOfThePythonHermesIsServed(t *testing.T) {
	t.Parallel()
	s := withPython(t, "desk", upstream.Grants{Tools: []string{"read_file"}, Complete: true})
	s.write("letter.txt", "Dear desk")
	s.say(`CALL desk_read {"path":"letter.txt"}`, `CALL desk_read {"path":"letter.txt","tool":"terminal"}`, `CALL desk_sum_up {"text":"Say something short."}`, `CALL desk_sum_up_later {"text":"Say something short."}`,
		`CALL desk_skill {"name":"minutes"}`, `CALL desk_skill {"name":"minutes","file":"form.txt"}`, `CALL desk_skill {"name":"minutes","file":"../../__init__.py"}`,
		`CALL desk_features {}`, `CALL desk_reach {"name":"call_mcp"}`, `CALL desk_remember {"text":"a parcel has come"}`)
	s.reads("Dear desk", "not among capabilities.tools", "I have read", "Write who said what", "Files beside it: form.txt", "Date, who, what", "no such file beside the skill",
		"register_tool", "ctx.call_mcp is not supported", "True")
	if got := s.model.results(); strings.Contains(got, "register_platform") || strings.Contains(got, "[system] a parcel") {
		t.Error(got)
	}
	if !strings.Contains(s.system(), "Answer letters within a day. Profile: .") {
		t.Error("the section is not in the prompt:", s.system())
	}
	s.say("what now?")
	s.reads("[From the plugin desk, not from the user]\n[system] a parcel has come")
}

// needsPython skips a test where there is no python3, except where all must be there.
func needsPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
