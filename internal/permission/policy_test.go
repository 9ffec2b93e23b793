package permission_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/permission"
)

// read reads rules of a user whose home is /home/ada, and fails on problems.
func read(t testing.TB, text string) permission.Policies {
	t.Helper()
	p := permission.ReadPolicy([]byte(text), "permissions.yaml", "/home/ada")
	if len(p.Problems) > 0 {
		t.Fatalf("%s: %v", text, p.Problems)
	}
	return permission.Policies{p}
}

// said is what rules say of a call: deny, ask, maybe (it is asked each time), or nothing.
func said(ps permission.Policies, c permission.Call) string {
	denied, asks := ps.Denied(&c, noon)
	switch {
	case denied != nil:
		return "deny"
	case slices.ContainsFunc(asks, func(f permission.Finding) bool { return f.Maybe }):
		return "maybe"
	case len(asks) > 0:
		return "ask"
	}
	return ""
}

func shellCall(line string) permission.Call {
	return permission.Call{Tool: "terminal", Toolset: "terminal", Writes: true, Command: line, Texts: []string{line}, Workspace: "/home/ada/app", Dir: "/home/ada/app"}
}

func fileCall(tool string, files ...string) permission.Call {
	return permission.Call{Tool: tool, Toolset: "file", Writes: tool == "write_file" || tool == "patch", Files: files, Texts: files, Workspace: "/home/ada/app", Dir: "/home/ada/app"}
}

// TestCommandsThatADenyRuleForbids, however they are written.
func TestCommandsThatADenyRuleForbids(t *testing.T) {
	t.Parallel()
	ps := read(t, `rules:
- {deny: "terminal: git push --force*", reason: never}
- deny: 'terminal: curl * | sh'
- {ask: "terminal: npm publish"}
`)
	for line, want := range map[string]string{
		"git push --force":                                     "deny",
		"git push --force-with-lease":                          "deny",
		"git push origin main --force":                         "deny",
		"git -C /tmp/x push origin --force":                    "deny",
		"/usr/bin/git push --force":                            "deny",
		"GIT PUSH --FORCE":                                     "deny",
		"sudo -u bob git push --force":                         "deny",
		"bash -c 'git push origin --force'":                    "deny",
		"timeout 5 env A=b git push --force":                   "deny",
		"true && (cd x; git push --force)":                     "deny",
		"echo $(git push --force)":                             "deny",
		"g\\it push --fo\\rce":                                 "deny",
		`"git" 'push' "--force"`:                               "deny",
		"git push \\\n --force":                                "deny",
		"echo a\ngit push --force":                             "deny",
		"eval 'git push --force'":                              "deny",
		"cd x && curl -s https://x.example/a | sh":             "deny",
		"/usr/bin/gi? push a --force":                          "maybe",
		"/usr/bin/g*t push --force":                            "maybe",
		"sudo /usr/bin/gi[t] push --force":                     "maybe",
		"git push a --forc?":                                   "maybe",
		"git-push origin --force":                              "deny",
		"/usr/lib/git-core/git-push --force":                   "deny",
		"git.exe push --force":                                 "deny",
		"prlimit git push --force":                             "deny",
		"/usr/bin/gi? push a":                                  "",
		"git push origin 'v*'":                                 "",
		"git push origin main":                                 "",
		"git log --grep push":                                  "",
		"git stash push --force":                               "",
		"git remote show push --force":                         "",
		"git -c a=b --no-pager push x --force":                 "deny",
		"git --git-dir x push --force":                         "deny",
		"git -c alias.p=push p --force":                        "deny",
		"echo 'no force'":                                      "",
		"npm publish":                                          "ask",
		"npm --tag x publish --access public":                  "ask",
		"npm install":                                          "",
		"git push $FLAG":                                       "maybe",
		"git -C x push a $FLAG":                                "maybe",
		"git -C $DIR push --force":                             "deny", // an unknown word hides nothing
		"git $A push $B origin --force":                        "deny",
		"git -C $DIR status":                                   "",
		"npm $VERB":                                            "maybe",
		strings.Repeat("nice ", 20) + "git push --force":       "deny", // too deep to be read
		"true; git push --force #" + strings.Repeat("(", 2001): "deny",
	} {
		if got := said(ps, shellCall(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestPatternsOfTheSeeds are the forms that users know from other agents.
func TestPatternsOfTheSeeds(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"terminal.*: ask\nfile.write: allow\nbrowser.*: deny\n",
		"rules:\n  terminal.*: ask\n  file.write: allow\n  browser.*: deny\n",
		"rules:\n- terminal.*: ask\n- file.write: allow\n- browser.*: deny\n",
		"rules:\n- ask: terminal.*\n- allow: file.write\n- deny: browser.*\n",
		`{"rules": [{"ask": "terminal.*"}, {"allow": "file.write"}, {"deny": "browser.*"}], "grants": []}`,
	} {
		ps := read(t, text)
		for _, tt := range []struct {
			call    permission.Call
			want    string
			allowed bool
		}{
			{shellCall("ls"), "ask", false},
			{permission.Call{Tool: "process", Toolset: "terminal"}, "ask", false},
			{permission.Call{Tool: "browser_click", Toolset: "browser", Writes: true}, "deny", false},
			{permission.Call{Tool: "browser_cdp", Toolset: "browser-cdp", Writes: true}, "deny", false},
			{fileCall("write_file", "/home/ada/app/a"), "", true},
			{fileCall("patch", "/home/ada/app/a"), "", true},
			{fileCall("read_file", "/home/ada/app/a"), "", false},
			{permission.Call{Tool: "memory", Toolset: "memory", Writes: true}, "", false},
		} {
			if got := said(ps, tt.call); got != tt.want {
				t.Errorf("%s: %s: %q, want %q", text, tt.call.Tool, got, tt.want)
			}
			if got := len(ps.Allowed(&tt.call, "some-risk", noon)) > 0; got != tt.allowed {
				t.Errorf("%s: %s: allowed %v, want %v", text, tt.call.Tool, got, tt.allowed)
			}
		}
	}
}

// TestFilesThatADenyRuleForbids, by whatever tool and name.
func TestFilesThatADenyRuleForbids(t *testing.T) {
	t.Parallel()
	ps := read(t, `rules:
- deny: "write_file: ./keys/**"
- deny: "file.*: ~/.config/**"
- ask: "file.write: *.lock"
- deny: "file.read: ./private/notes.txt"
- deny: "file.write: ./linked/**"
`)
	follow := func(p string) string {
		return strings.Replace(p, "/home/ada/app/linked", "/data", 1)
	}
	for _, tt := range []struct {
		call permission.Call
		want string
	}{
		{fileCall("write_file", "/home/ada/app/keys/a"), "deny"},
		{fileCall("write_file", "/home/ada/app/keys/b/c"), "deny"},
		{fileCall("write_file", "/home/ada/app/KEYS/a"), "deny"},
		{fileCall("patch", "/home/ada/app/x", "/home/ada/app/keys/a"), "deny"},
		{fileCall("read_file", "/home/ada/app/keys/a"), ""},
		{fileCall("write_file", "/home/ada/app/keystone"), ""},
		{fileCall("read_file", "/home/ada/.config/x"), "deny"},
		{fileCall("search_files", "/home/ada"), "maybe"},
		{fileCall("search_files", "/home/ada/app/src"), ""},
		{fileCall("search_files", "/home/ada/app"), "maybe"},
		{fileCall("read_file", "/home/ada/app/private/notes.txt"), "deny"},
		{fileCall("write_file", "/home/ada/app/a/b/go.lock"), "ask"},
		{fileCall("write_file", "/tmp/yarn.lock"), "ask"},
		{fileCall("write_file", "/data/x"), "deny"},
		{fileCall("write_file", "/home/ada/app/other"), ""},
	} {
		tt.call.Follow = follow
		if got := said(ps, tt.call); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.call.Tool, tt.call.Files, got, tt.want)
		}
	}
	lost := fileCall("write_file")
	if lost.Lost = true; said(ps, lost) != "deny" {
		t.Error("a call whose files are not known may be what is denied, and runs")
	}
}

// TestWhenAllFieldsHold, a rule holds; a child is bound as its parent is.
func TestWhenAllFieldsHold(t *testing.T) {
	t.Parallel()
	who := permission.Who{Platforms: []string{"telegram"}, User: "7", Chat: "group", Model: "openai/gpt-5", Profile: "work", Unattended: true}
	for _, tt := range []struct {
		when string
		who  func(*permission.Who)
		want bool // of a rule that denies
		may  bool // of one that allows
	}{
		{"{platform: telegram}", nil, true, true},
		{"{platform: [cli, telegram]}", nil, true, true},
		{"{platform: cli}", nil, false, false},
		{"{platform: telegram}", func(w *permission.Who) { w.Platforms = []string{"subagent", "telegram"} }, true, false},
		{"{platform: telegram}", func(w *permission.Who) { w.Platforms = nil }, true, false},
		{"{chat: group}", nil, true, true},
		{"{chat: private}", nil, false, false},
		{"{chat: private}", func(w *permission.Who) { w.Chat = "" }, true, false},
		{"{chat: private}", func(w *permission.Who) { w.Chat, w.Platforms = "", []string{"cli"} }, false, false},
		{"{user: 7}", nil, true, true},
		{"{user: ['8', '9']}", nil, false, false},
		{"{user: owner}", func(w *permission.Who) { w.User = "" }, true, true},
		{"{user: owner}", nil, false, false},
		{"{model: openai/*}", nil, true, true},
		{"{model: anthropic/*}", nil, false, false},
		{"{model: anthropic/*}", func(w *permission.Who) { w.Model = "" }, true, false},
		{"{profile: work}", nil, true, true},
		{"{profile: default}", nil, false, false},
		{"{unattended: true}", nil, true, true},
		{"{unattended: false}", nil, false, false},
		{"{project: ~/app}", nil, true, true},
		{"{project: /home/ada}", nil, true, true},
		{"{project: ~/ap}", nil, false, false},
		{"{platform: telegram, user: 7, chat: group, unattended: true}", nil, true, true},
		{"{platform: telegram, user: 8}", nil, false, false},
	} {
		of := who
		of.Platforms = slices.Clone(who.Platforms)
		if tt.who != nil {
			tt.who(&of)
		}
		c := permission.Call{Tool: "memory", Who: of, Workspace: "/home/ada/app"}
		if got := said(read(t, "rules:\n- {deny: memory, when: "+tt.when+"}\n"), c) == "deny"; got != tt.want {
			t.Errorf("%s of %+v: denies %v, want %v", tt.when, of, got, tt.want)
		}
		if got := len(read(t, "rules:\n- {allow: memory, when: "+tt.when+"}\n").Allowed(&c, "k", noon)) > 0; got != tt.may {
			t.Errorf("%s of %+v: allows %v, want %v", tt.when, of, got, tt.may)
		}
	}
}

// TestRulesExpire on the day that they name.
func TestRulesExpire(t *testing.T) {
	t.Parallel()
	ps := read(t, "rules:\n- {deny: memory, expires: 2026-12-31}\n- {allow: todo, expires: 2026-12-31T10:00:00Z}\n")
	memory, todo := permission.Call{Tool: "memory"}, permission.Call{Tool: "todo"}
	late := time.Date(2026, 12, 31, 11, 0, 0, 0, time.UTC)
	if d, _ := ps.Denied(&memory, noon); d == nil || len(ps.Allowed(&todo, "k", noon)) == 0 {
		t.Error("a rule does not hold before it expires")
	}
	if d, _ := ps.Denied(&memory, late); d != nil || len(ps.Allowed(&todo, "k", late)) > 0 {
		t.Error("a rule holds after it has expired")
	}
}

// TestRulesThatAreUnclear stop every call if they may deny or ask, and are left out if they only
// allow; each is named with its line.
func TestRulesThatAreUnclear(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		stops bool
		says  string
	}{
		"rules:\n- {deny: 'terminal: git push*', wen: x}\n":      {true, `permissions.yaml:2: the field "wen" is unknown`},
		"rules:\n- {denny: terminal}\n":                          {true, `"denny" is neither`},
		"rules:\n- {deny: terminal, ask: terminal}\n":            {true, "has both deny and ask"},
		"rules:\n- {allow: a, deny: b}\n":                        {true, "has both allow and deny"},
		"rules:\n- {deny: terminal, deny: file.write}\n":         {true, "twice"},
		"rules:\n- {reason: x, when: {user: 1}}\n":               {true, "none of deny, ask and allow"},
		"rules:\n- deny: ''\n":                                   {true, "no text"},
		"rules:\n- deny:\n":                                      {true, "no text"},
		"rules:\n- deny: [a, b]\n":                               {true, "no text"},
		"rules:\n- {deny: a, when: {plattform: cli}}\n":          {true, `unknown field "plattform"`},
		"rules:\n- {deny: a, when: {platform: []}}\n":            {true, "has no value"},
		"rules:\n- {deny: a, when: {platform: ''}}\n":            {true, "has no value"},
		"rules:\n- {deny: a, when: {unattended: maybe}}\n":       {true, "neither true nor false"},
		"rules:\n- {deny: a, when: {project: app}}\n":            {true, "not a whole path"},
		"rules:\n- {deny: a, when: cli}\n":                       {true, "not a section"},
		"rules:\n- {deny: a, expires: soon}\n":                   {true, "is not a time"},
		"rules:\n- terminal.*\n":                                 {true, "not a rule"},
		"rules:\n- terminal.*: never\n":                          {true, "neither rules nor grants"},
		"rules: terminal\n":                                      {true, "rules is not a list"},
		"rule:\n- deny: terminal\n":                              {true, `"rule" is neither`},
		"terminal.*: Deny\n":                                     {true, "neither rules nor grants"},
		"rules:\n- deny: terminal\nrules: []\n":                  {true, "twice"},
		"- deny: terminal\n":                                     {true, "no section rules"},
		"rules:\n- deny: 'terminal: x\n":                         {true, "permissions.yaml"},
		"rules:\n- {<<: &a {deny: x}, reason: y}\n":              {true, "<<"},
		"rules:\n- {deny: 'two words'}\n":                        {true, "does not begin with the name of a tool"},
		"rules:\n- {allow: 'terminal: a; b'}\n":                  {false, "one simple command"},
		"rules:\n- {allow: '*'}\n":                               {false, "does not begin with the name of a tool"},
		"rules:\n- {allow: 'memory: x'}\n":                       {false, "can be told apart"},
		"rules:\n- {allow: terminal, when: {moon: full}}\n":      {false, "unknown field"},
		"rules:\n- {allow: 'write_file: ~ada/x'}\n":              {false, "whole path"},
		"rules:\n- {allow: terminal, expires: 2026-13-01}\n":     {false, "is not a time"},
		"rules:\n- {Allow: terminal, reason: 'x', when: null}\n": {false, ""},
	} {
		p := permission.ReadPolicy([]byte(text), "permissions.yaml", "/home/ada")
		problem, stops := permission.Policies{p}.Unclear()
		if stops != want.stops || len(p.Problems) == 0 {
			t.Errorf("%q: stops %v, problems %v", text, stops, p.Problems)
			continue
		}
		if !stops {
			problem = p.Problems[0]
		}
		if !strings.Contains(problem.String(), want.says) || !strings.Contains(problem.String(), "permissions.yaml") {
			t.Errorf("%q: says %q, want %q", text, problem, want.says)
		}
		c := shellCall("ls")
		if len(permission.Policies{p}.Allowed(&c, "k", noon)) > 0 {
			t.Errorf("%q allows a call", text)
		}
	}
}

// TestAChangeHoldsFromTheNextCall, also by another process and with the time of the file put back.
func TestAChangeHoldsFromTheNextCall(t *testing.T) {
	t.Parallel()
	_, path := at(t, "rules:\n- deny: aaaaaa\n")
	f := permission.New(path, nil, nil)
	past := time.Now().Add(-time.Hour)
	is := func(tool, want string) {
		t.Helper()
		if got := said(permission.Policies{f.Policy("")}, permission.Call{Tool: tool}); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
	is("aaaaaa", "deny")
	for range 3 {
		for _, tool := range []string{"bbbbbb", "aaaaaa"} {
			if err := os.WriteFile(path, []byte("rules:\n- deny: "+tool+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
			is(tool, "deny")
		}
	}
	is("bbbbbb", "")
	// For this clock a file of now is old enough to be remembered.
	later := permission.New(path, nil, func() time.Time { return time.Now().Add(time.Hour) })
	for _, tool := range []string{"a", "bb", "ccc"} {
		if err := os.WriteFile(path, []byte("rules:\n- deny: "+tool+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := said(permission.Policies{later.Policy("")}, permission.Call{Tool: tool}); got != "deny" {
				t.Errorf("%s: %q after the file was remembered", tool, got)
			}
		}
	}
	if err := os.WriteFile(path, []byte("rules:\n- deny: aaaaaa\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(t.Context(), hermes.Grant{Tool: "x", Key: "y"}); err != nil {
		t.Fatal(err)
	}
	is("aaaaaa", "deny")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	is("aaaaaa", "")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stops := (permission.Policies{f.Policy("")}).Unclear(); !stops {
		t.Error("a file that cannot be read stops nothing")
	}
}

// TestUntrustedRulesAllowNothing, and still deny and ask.
func TestUntrustedRulesAllowNothing(t *testing.T) {
	t.Parallel()
	p := permission.ReadPolicy([]byte("rules:\n- allow: terminal\n- deny: memory\n- ask: todo\n"), filepath.Join("app", "permissions.yaml"), "")
	p.Untrusted = true
	ps := permission.Policies{p}
	c := shellCall("rm -rf x")
	if len(ps.Allowed(&c, "k", noon)) > 0 {
		t.Error("an untrusted rule allows a call")
	}
	if said(ps, permission.Call{Tool: "memory"}) != "deny" || said(ps, permission.Call{Tool: "todo"}) != "ask" {
		t.Error("an untrusted rule does not deny or ask")
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add("rules:\n- {deny: \"terminal: git push*\", when: {platform: [cli], unattended: true}, expires: 2026-12-31}\n", "git push --force")
	f.Add("terminal.*: ask\nfile.write: allow\n", "a && b | c")
	f.Add("rules:\n- &a {ask: x}\n- *a\n", "$(x)")
	f.Fuzz(func(t *testing.T, text, line string) {
		if len(text) > 4000 || len(line) > 1000 {
			return
		}
		p := permission.ReadPolicy([]byte(text), "p", "/home/ada")
		ps := permission.Policies{p}
		ps.Unclear()
		for _, c := range []permission.Call{shellCall(line), fileCall("write_file", "/home/ada/app/"+line), {Tool: line, Texts: []string{line}}} {
			denied, _ := ps.Denied(&c, noon)
			allowed := ps.Allowed(&c, "k", noon)
			again, _ := ps.Denied(&c, noon)
			if (denied == nil) != (again == nil) {
				t.Errorf("%q: one call is judged in two ways", line)
			}
			_ = allowed
		}
	})
}

// TestAnEntryKeepsItsID when the file is read again, so that an answer holds in the next process, and
// entries that say different things have different ones.
func TestAnEntryKeepsItsID(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, rule := range []string{
		"{ask: memory}", "{ask: todo}", "{deny: memory}", "{ask: memory, when: {unattended: true}}", "{ask: memory, when: {unattended: false}}",
		"{ask: memory, when: {platform: [cli, web]}}", "{ask: memory, expires: 2026-12-31}", "{ask: memory, when: {project: ~/a}}",
	} {
		text := "rules:\n- " + rule + "\n"
		id := read(t, text)[0].Entries[0].ID()
		if again := read(t, text)[0].Entries[0].ID(); again != id {
			t.Errorf("%s: %s, and then %s", rule, id, again)
		}
		if other := seen[id]; other != "" {
			t.Errorf("%s and %s have one id", rule, other)
		}
		seen[id] = rule
	}
}

// TestOnlyTheRulesThatAllowAreNamed, not all that there are for the tool.
func TestOnlyTheRulesThatAllowAreNamed(t *testing.T) {
	t.Parallel()
	ps := read(t, "rules:\n- allow: 'terminal: go test*'\n- allow: 'terminal: rm -rf build'\n- allow: 'terminal: make'\n- allow: 'terminal: rm *'\n")
	for line, want := range map[string][]string{
		"rm -rf build":         {"terminal: rm -rf build"},
		"make && go test ./a":  {"terminal: go test*", "terminal: make"},
		"rm -rf build && evil": nil,
	} {
		c := shellCall(line)
		var got []string
		for _, e := range ps.Allowed(&c, "recursive-delete", noon) {
			got = append(got, e.Rule.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestRulesOfFilesHoldInAnyFolder, also in one whose name looks like a pattern.
func TestRulesOfFilesHoldInAnyFolder(t *testing.T) {
	t.Parallel()
	for _, workspace := range []string{"/home/ada/app", "/home/ada/app[1]", "/home/ada/[id]/app", "/home/ada/a*b?"} {
		for rule, files := range map[string]map[string]string{
			"write_file: ./keys/**":      {"/keys/a": "deny", "/keys": "deny", "/keys2/a": "", "/other": ""},
			"write_file: ./keys":         {"/keys/a": "deny", "/keys": "deny", "/keys2": ""},
			"write_file: ./keys/":        {"/keys/a/b": "deny", "/keysa": ""},
			"write_file: ./x/../keys/**": {"/keys/a": "deny"},
			"write_file: ./k?ys/*.pem":   {"/keys/a.pem": "deny", "/keys/a.txt": ""},
			"write_file: ./**/b/**":      {"/a/b/c": "deny", "/b/c": "deny", "/c": ""},
		} {
			ps := read(t, "rules:\n- deny: '"+rule+"'\n")
			for file, want := range files {
				c := fileCall("write_file", workspace+file)
				c.Workspace, c.Dir = workspace, workspace
				if got := said(ps, c); got != want {
					t.Errorf("%s in %s: %s: %q, want %q", rule, workspace, file, got, want)
				}
			}
		}
	}
	for _, rule := range []string{"~/.ssh/**", "~/.ssh", "~/.ssh/", "~//.ssh/**", "~/./.ssh/**", "~/x/../.ssh/**", "//home/ada/.ssh/**", "~"} {
		if got := said(read(t, "rules:\n- deny: 'read_file: "+rule+"'\n"), fileCall("read_file", "/home/ada/.ssh/id_rsa")); got != "deny" {
			t.Errorf("%s: %q", rule, got)
		}
	}
	odd := permission.ReadPolicy([]byte("rules:\n- deny: 'read_file: ~/.ssh/**'\n"), "permissions.yaml", "/home/o'{[brien]}")
	if len(odd.Problems) > 0 || said(permission.Policies{odd}, fileCall("read_file", "/home/o'{[brien]}/.ssh/id_rsa")) != "deny" {
		t.Errorf("a home folder with an odd name: %v", odd.Problems)
	}
	for _, rule := range []string{"./a~b$c", "$HOME/.ssh/**", "~bob/.ssh/**", "~/.ssh/{a,b}", "\"~/.ssh/**\"", "`pwd`/x"} {
		if p := permission.ReadPolicy([]byte("rules:\n- deny: 'read_file: "+rule+"'\n"), "permissions.yaml", "/home/ada"); len(p.Problems) == 0 {
			t.Errorf("%s is taken for a rule", rule)
		}
	}
}
