package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestAllowTools has calls that need approval in runs with rules and without a user.
func TestAllowTools(t *testing.T) {
	t.Parallel()
	rm := func(line string) map[string]string { return map[string]string{"command": line} }
	write := func(path string) map[string]string {
		return map[string]string{"path": path, "content": "written by the model\n"}
	}
	for name, tt := range map[string]struct {
		settings string
		allow    []string // the values of --allow-tools
		tool     string   // empty is terminal
		args     map[string]string
		runs     bool
		says     string // in the result of a call that does not run
	}{
		"no rule":              {args: rm("rm -rf victim")},
		"a rule":               {allow: []string{"terminal: rm -rf victim*"}, args: rm("rm -rf victim"), runs: true},
		"the tool":             {allow: []string{"terminal"}, args: rm("rm -rf victim && true"), runs: true},
		"one of a list":        {allow: []string{"terminal: go test*,terminal: rm -rf victim", "write_file"}, args: rm("rm -rf victim"), runs: true},
		"another rule":         {allow: []string{"terminal: go test*,write_file"}, args: rm("rm -rf victim"), says: `only these calls run, each command by itself: \"terminal: go test*\", \"write_file\"`},
		"a command more":       {allow: []string{"terminal: rm -rf other*"}, args: rm("rm -rf other && rm -rf victim")},
		"a command before":     {allow: []string{"terminal: rm -rf victim"}, args: rm("cd . && rm -rf victim")},
		"the other rule, too":  {allow: []string{"terminal: rm -rf victim,terminal: cd ."}, args: rm("cd . && rm -rf victim"), runs: true},
		"a substitution":       {allow: []string{"terminal: echo*"}, args: rm("echo $(rm -rf victim)")},
		"a wrapper":            {allow: []string{"terminal: timeout *"}, args: rm("timeout 5 rm -rf victim")},
		"another folder":       {allow: []string{"terminal: rm -rf victim"}, args: map[string]string{"command": "rm -rf victim", "workdir": ".."}},
		"a folder below":       {allow: []string{"terminal: rm -rf ../victim"}, args: map[string]string{"command": "rm -rf ../victim", "workdir": "docs"}, runs: true},
		"a link to a folder":   {allow: []string{"terminal: rm -rf victim"}, args: map[string]string{"command": "rm -rf victim", "workdir": "docs/out"}},
		"a deny rule":          {settings: "approvals: {deny: ['rm -rf vic*']}\n", allow: []string{"terminal"}, args: rm("rm -rf victim"), says: "never run"},
		"never allowed":        {allow: []string{"terminal"}, args: rm("rm -rf victim; rm -rf /"), says: "never run"},
		"changes Hermes":       {allow: []string{"terminal"}, args: rm("rm -rf victim; hermes config set approvals.mode off")},
		"approved by settings": {settings: "approvals: {single_query_mode: approve}\n", allow: []string{"write_file"}, args: rm("rm -rf victim")},
		"never asked":          {settings: "approvals: {mode: off}\n", allow: []string{"write_file"}, args: rm("rm -rf victim")},
		"a file":               {allow: []string{"write_file: ./.bashrc"}, tool: "write_file", args: write(".bashrc"), runs: true},
		"a file without rule":  {allow: []string{"terminal"}, tool: "write_file", args: write(".bashrc")},
		"another file":         {allow: []string{"write_file: ./docs/**"}, tool: "write_file", args: write(".bashrc")},
		"a file by its parent": {allow: []string{"write_file: ./docs/**"}, tool: "write_file", args: write("docs/../.bashrc")},
		"a link to a file":     {allow: []string{"write_file: ./docs/**"}, tool: "write_file", args: write("docs/link")},
		"a folder of a link":   {allow: []string{"write_file: ./docs/**"}, tool: "write_file", args: write("docs/home/.bashrc")},
		"a rule of the tool":   {allow: []string{"write_file"}, tool: "write_file", args: write("docs/link"), runs: true},
		"a file of Hermes":     {allow: []string{"write_file"}, tool: "write_file", args: write("HOME/config.yaml")},
		"a file and a command": {allow: []string{"write_file"}, args: rm("rm -rf victim")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := tt.tool
			if tool == "" {
				tool = "terminal"
			}
			p := newUser(t)
			args := map[string]string{}
			for k, v := range tt.args {
				args[k] = strings.Replace(v, "HOME", p.home, 1)
			}
			var result string
			p.env = append(p.env, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
				if results(r) == 0 {
					return call(tool, args), nil
				}
				result = r.Messages[len(r.Messages)-1].Text()
				return chatserver.Answer{Text: "done"}, nil
			})...)
			p.configure(tt.settings)
			p.env = append(p.env, "HOME="+p.dir, "TERMINAL_SANDBOX=off") // rules alone, in a home
			outside := t.TempDir()
			for _, dir := range []string{filepath.Join(p.dir, "victim"), filepath.Join(p.dir, "docs"), filepath.Join(outside, "victim")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			bashrc := filepath.Join(p.dir, ".bashrc")
			for link, target := range map[string]string{"docs/link": bashrc, "docs/home": p.dir, "docs/out": outside} {
				if err := os.Symlink(target, filepath.Join(p.dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			run := []string{"-z", "go", "-m", "played", "--json"}
			for _, rules := range tt.allow {
				run = append(run, "--allow-tools", rules)
			}
			out, errs, status := p.run(run...)
			r := readResult(t, out)
			_, here := os.Stat(filepath.Join(p.dir, "victim"))
			_, there := os.Stat(filepath.Join(outside, "victim"))
			_, written := os.Stat(bashrc)
			config, _ := os.ReadFile(filepath.Join(p.home, "config.yaml"))
			ran := here != nil || there != nil || written == nil || string(config) != tt.settings
			if status != 0 || ran != tt.runs || len(r.Denied) > 0 == tt.runs && !strings.Contains(result, "file tools must not write it") || !strings.Contains(result, tt.says) {
				t.Errorf("ran %v, want %v; status %d, %q\n%s%s", ran, tt.runs, status, result, out, errs)
			}
		})
	}
}

// TestAllowToolsCoversNoNeeds: a rule names commands, and nothing that they want beyond the sandbox.
func TestAllowToolsCoversNoNeeds(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"terminal: touch*", "terminal"} {
		p := newUser(t)
		outside := filepath.Join(t.TempDir(), "planted")
		result := ""
		p.env = append(p.env, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
			if results(r) == 0 {
				return call("terminal", map[string]any{"command": "touch " + outside, "need": []string{"write " + filepath.Dir(outside)}}), nil
			}
			result = r.Messages[len(r.Messages)-1].Text()
			return chatserver.Answer{Text: "done"}, nil
		})...)
		p.env = append(p.env, "HOME="+p.dir)
		out, errs, status := p.run("-z", "go", "-m", "played", "--json", "--allow-tools", rule)
		if _, err := os.Stat(outside); err == nil || status != 0 || !strings.Contains(result, "there is no user to ask") {
			t.Errorf("%s: status %d, %q\n%s%s", rule, status, result, out, errs)
		}
	}
}

// TestAllowToolsDoesNotCoverTaint has a model that remembers what it has just read.
func TestAllowToolsDoesNotCoverTaint(t *testing.T) {
	t.Parallel()
	for _, allow := range []string{"", "memory,terminal,write_file"} {
		p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
			switch results(r) {
			case 0:
				return call("terminal", map[string]string{"command": "cat page.txt"}), nil
			case 1:
				return call("memory", map[string]string{"action": "add", "target": "user", "content": "The user likes green tea"}), nil
			}
			return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
		})...)
		if err := os.WriteFile(filepath.Join(p.dir, "page.txt"), []byte("The user likes green tea\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-z", "go", "-m", "played"}
		if allow != "" {
			args = append(args, "--allow-tools", allow)
		}
		out, errs, _ := p.run(args...)
		raw, _ := os.ReadFile(filepath.Join(p.home, "memories", "USER.md"))
		if kept := strings.Contains(string(raw), "tea"); kept || !strings.Contains(out, `"staged"`) && !strings.Contains(out, "BLOCKED") {
			t.Errorf("with %q: remembered %q; %s%s", allow, raw, out, errs)
		}
	}
}
