package app_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/websearch/websearchtest"
)

// scripts is a scene that runs scripts.
func scripts(t *testing.T, answer hermes.Decision) *scene {
	t.Helper()
	s := newScene(t, answer)
	s.options = func(o *app.Options) { o.Extra = nil }
	w := onWeb(t, s)
	w.services.Hits = func(query string) []websearchtest.Hit {
		return []websearchtest.Hit{{Title: query, URL: "http://a.example/1"}}
	}
	w.pages["a.example/1"] = "<p>Tokio is fast."
	w.pages["a.example/long"] = "<p>" + strings.Repeat("x", 400_014)
	return s
}

// execute has the model run a script, and returns the result's output and its status, or what
// became of it.
func (s *scene) execute(code string, more map[string]any) (output, status string) {
	s.t.Helper()
	args := map[string]any{"code": code}
	for k, v := range more {
		args[k] = v
	}
	b, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	s.say("CALL execute_code " + string(b))
	db, err := s.app.Database(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := db.Messages(s.t.Context(), s.session, hermes.Range{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range list {
		if m.ToolName == "execute_code" {
			var r struct{ Output, Status, Outcome string } // an outcome if it did not run
			if json.Unmarshal([]byte(m.Text()), &r) != nil || r.Status == "" {
				r.Output, r.Status = m.Text(), r.Outcome
			}
			output, status = r.Output, r.Status
		}
	}
	return output, status
}

// TestExampleScriptsRun runs the scripts of the manual as they are.
func TestExampleScriptsRun(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.AllowSession)
	s.write("conf/app.yaml", "database: postgres")
	s.write("src/a.py", "old_api_call(1)")
	s.write("src/b.py", "x = old_api_call(2)")
	for name, want := range map[string][]string{
		"pipeline": {`"file": "conf/app.yaml"`, "database: postgres"},
		"research": {`"title": "Rust async runtime comparison 2025"`, `"excerpt": "Tokio is fast."`},
		"refactor": {"Fixed 2 files out of 2 matches"},
		"build":    {`"passed": 0`, `"exit_code": `, "/project"},
	} {
		code, err := os.ReadFile(filepath.Join("testdata", "scripts", name+".py"))
		if err != nil {
			t.Fatal(err)
		}
		output, status := s.execute(string(code), nil)
		if status != "success" {
			t.Errorf("%s: status %q, output %s", name, status, output)
		}
		for _, text := range want {
			if !strings.Contains(output, text) {
				t.Errorf("%s printed %s, want %s", name, output, text)
			}
		}
	}
	if b, _ := os.ReadFile(filepath.Join(s.dir, "src", "a.py")); string(b) != "new_api_call(1)\n" {
		t.Errorf("src/a.py is %q", b)
	}
}

// TestCallsOfScriptsAreCalls: what a script does is judged, asked about, recorded and read as
// what the model does, and only what it prints reaches the model.
func TestCallsOfScriptsAreCalls(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "javascript"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			s := scripts(t, hermes.Deny)
			s.rights = hermes.Rights{Allow: []string{"execute_code"}}
			s.write("secret.txt", "hidden words")
			s.write(".hermes/permissions.yaml", "rules:\n- deny: 'terminal: git push*'\n")
			code := map[string]string{
				"python": `from hermes_tools import read_file, write_file, terminal
read_file("secret.txt")
write_file("new.txt", "made by a script")
print(terminal("rm -rf build"), terminal("git pu" + "sh"))
`,
				"javascript": `await read_file("secret.txt")
await write_file("new.txt", "made by a script")
print(await terminal("rm -rf build"), await terminal("git pu" + "sh"))
`}[language]
			output, status := s.execute(code, map[string]any{"language": language})
			if status != "success" || !strings.Contains(output, "denied") || !strings.Contains(output, "git push") {
				t.Errorf("status %s, output %s", status, output)
			}
			if len(s.asked) != 1 || s.asked[0].Tool != "terminal" || s.asked[0].Subject != "rm -rf build" {
				t.Errorf("asked %+v", s.asked)
			}
			if b, _ := os.ReadFile(filepath.Join(s.dir, "new.txt")); string(b) != "made by a script" {
				t.Errorf("new.txt is %q", b)
			}
			if strings.Contains(s.model.results(), "hidden words") {
				t.Error("the model saw the result of a call of its script")
			}
			_, short := s.recorded()
			short = slices.DeleteFunc(short, func(row string) bool { return strings.HasPrefix(row, "allowed ") })
			want := []string{
				"call execute_code", "call write_file", "result write_file ok", "call terminal", "asked terminal", "answer terminal denied user",
				"refusal terminal denied user failed", "call terminal", "refusal terminal forbidden rule failed", "result execute_code ok",
			}
			if got := strings.Join(short, "\n"); got != strings.Join(want, "\n") {
				t.Errorf("recorded\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

// TestScriptsAreJudgedAsCommands: a script that a rule or the program forbids does not run, and
// one that could do anything is asked about where no walls hold.
func TestScriptsAreJudgedAsCommands(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.Deny)
	s.write(".hermes/permissions.yaml", "rules:\n- deny: 'terminal: git push*'\n- deny: 'execute_code: *curl*'\n")
	for code, want := range map[string]string{
		"import os; os.system('git push')":                             "forbidden",
		"import subprocess as s; s.run(['curl', 'https://a.example'])": "forbidden",
		"import shutil; shutil.rmtree('/')":                            "forbidden",
		"print('ran')":                                                 "denied",
	} {
		output, status := s.execute(code, nil)
		if status != want {
			t.Errorf("%s: status %q, output %s", code, status, output)
		}
	}
	if len(s.asked) != 1 || s.asked[0].Tool != "execute_code" || s.asked[0].Subject != "print('ran')" {
		t.Errorf("asked %+v", s.asked)
	}
}

// TestScriptsGetNoSecrets looks for planted keys in the variables of a script, and in what it prints.
func TestScriptsGetNoSecrets(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.AllowSession)
	const canary = "canary-4f8a21bc9d"
	s.options = func(o *app.Options) {
		o.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "MY_API_KEY=" + canary, "LANG=C.UTF-8"} }
	}
	s.say(`CALL terminal {"command":"export OTHER_TOKEN=` + canary + ` PLAIN=1"}`)
	output, status := s.execute("import os\nprint(sorted(os.environ))\nprint('canary' in str(os.environ), 'LANG' in os.environ)", nil)
	if status != "success" || !strings.Contains(output, "False True") || strings.Contains(output, "TOKEN") || strings.Contains(output, "HERMES_CHANNEL") {
		t.Errorf("status %s, output %s", status, output)
	}
}

// TestScriptsRunInsideOfTheWalls: a script calls tools from inside, and reaches nothing outside.
func TestScriptsRunInsideOfTheWalls(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.Deny)
	s.options = func(o *app.Options) { o.Sandbox.Keeper = true }
	outside := filepath.Join(t.TempDir(), "outside.txt")
	writeFile(t, outside, "out of reach")
	s.write("inside.txt", "in reach")
	output, status := s.execute(`from hermes_tools import read_file
print(read_file("inside.txt")["content"], open("inside.txt").read())
try:
    print(open("`+outside+`").read())
except OSError as e:
    print("refused", e.errno)
`, nil)
	if status != "success" || strings.Count(output, "in reach") != 2 || !strings.Contains(output, "refused") || strings.Contains(output, "out of reach") {
		t.Errorf("status %s, output %s", status, output)
	}
	if len(s.asked) > 0 {
		t.Errorf("asked %+v", s.asked)
	}
}

// TestAScriptRunsWhereTheUserWasShown: its folder becomes a link to another while the user is asked.
func TestAScriptRunsWhereTheUserWasShown(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.AllowOnce)
	s.write("good/a.txt", "")
	s.write("bad/a.txt", "")
	at := filepath.Join(s.dir, "at")
	if err := os.Symlink(filepath.Join(s.dir, "good"), at); err != nil {
		t.Fatal(err)
	}
	s.say(`CALL terminal {"command":"cd at"}`)
	s.asking = func() {
		if err := errors.Join(os.Remove(at), os.Symlink(filepath.Join(s.dir, "bad"), at)); err != nil {
			t.Error(err)
		}
	}
	output, _ := s.execute("open('ran', 'w')", nil)
	if len(s.asked) != 1 || filepath.Base(s.asked[0].Dir) != "good" || !strings.Contains(output, "by now") {
		t.Errorf("asked %+v, output %s", s.asked, output)
	}
	for _, name := range []string{"good/ran", "bad/ran"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			t.Errorf("it ran: %s is there", name)
		}
	}
}

// TestResultsOfScriptsAreWhole: a script may read the same again and again, fail often and get much
// at once; what it read does not count as shown to the model.
func TestResultsOfScriptsAreWhole(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.AllowSession)
	s.config = "tool_loop_guardrails: {hard_stop_enabled: true}\n"
	s.write("a.txt", "zebra")
	output, status := s.execute(`from hermes_tools import read_file, search_files, web_extract
same = [read_file("a.txt").get("content", "") for _ in range(6)]
found = [len(search_files("zeb", path="a.txt").get("matches", [])) for _ in range(6)]
failed = ["error" in read_file("none") for _ in range(9)]
long = web_extract(["http://a.example/long"])["results"][0]["content"]
print(all("zeb" + "ra" in c for c in same), found, failed, len(long))
`, nil)
	if want := "True [1, 1, 1, 1, 1, 1] [True, True, True, True, True, True, True, True, True] 400014\n"; status != "success" || output != want {
		t.Errorf("status %s, output %s", status, output)
	}
	s.say(`CALL read_file {"path":"a.txt"}`)
	if !strings.Contains(s.model.results(), "zebra") {
		t.Error("the model was told that it has read the file")
	}
}
