//go:build unix

package terminal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/tool/terminal"
)

func (b *fixture) inputCall(id, data string) *hermes.Call {
	b.t.Helper()
	text, err := json.Marshal(map[string]any{"action": "submit", "session_id": id, "data": data})
	if err != nil {
		b.t.Fatal(err)
	}
	return &hermes.Call{Name: "process", Arguments: text, Host: b.host}
}

// TestInputInPiecesIsJudgedAsOne sends a shell a dangerous command that no single
// piece of input holds.
func TestInputInPiecesIsJudgedAsOne(t *testing.T) {
	t.Parallel()
	for name, pieces := range map[string][]string{
		"one line":      {"r", "m -r", "f build"},
		"a continued":   {"rm \\\n", "-rf \\\n", "build"},
		"a quoted one":  {"eval 'rm -r\n", "f build'"},
		"by a name":     {"alias clean='rm -rf build'\n", "clean"},
		"by a function": {"clean() {\n rm -rf \"$1\"\n", "}\n", "clean /home"},
		"elsewhere":     {"cd /\n", "rm -rf *"},
		"in a folder":   {"cd /home/ada\n", "echo x > .bashrc"},
		"by a new name": {"alias l=rm\n", "l -rf x"},
		"by arguments":  {"f() { rm \"$@\"; }\n", "f -rf x"},
	} {
		b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
		id := b.start("sleep 3000; bash", nil).ID
		tool := b.tools["process"]
		asked := false
		for i, piece := range pieces {
			call := b.inputCall(id, piece)
			if len(tool.(hermes.RiskAssessor).AssessRisk(t.Context(), call)) > 0 {
				asked = true
				begins := map[string]string{"one line": "rm -r", "a continued": "rm \\\n-rf"}[name]
				if text := tool.(hermes.SubjectNamer).Subject(t.Context(), call).Text; !strings.HasPrefix(text, begins) {
					t.Errorf("%s: the user is shown %q", name, text)
				}
				break
			}
			if i+1 < len(pieces) {
				b.process("write", id, map[string]any{"data": piece})
			}
		}
		if !asked {
			t.Errorf("%s: %q is sent without a question", name, pieces)
		}
	}
}

// TestInputIsRememberedOnlySoFar: a process may be sent a lot.
func TestInputIsRememberedOnlySoFar(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	id := b.start("cat >/dev/null", nil).ID
	b.process("write", id, map[string]any{"data": strings.Repeat("x", 30_000)})
	text := b.tools["process"].(hermes.SubjectNamer).Subject(t.Context(), b.inputCall(id, "end")).Text
	if n := strings.Count(text, "x"); n != 16<<10 || !strings.Contains(text, "xend\n") {
		t.Errorf("%d bytes of the line are shown", n)
	}
}

// TestGrantForInputIsForOneProcess has the same input for two programs.
func TestGrantForInputIsForOneProcess(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	var texts []string
	for _, command := range []string{"sleep 3000; bash", "sleep 3000; ssh production"} {
		call := b.inputCall(b.start(command, nil).ID, "rm -rf build")
		texts = append(texts, b.tools["process"].(hermes.SubjectNamer).Subject(t.Context(), call).Text)
	}
	if texts[0] == texts[1] || !strings.Contains(texts[1], "ssh production") {
		t.Errorf("the subjects are %q", texts)
	}
}

// TestSubjectHasTheFolderThatALinkLeadsTo points a link elsewhere after the user
// has allowed a command in its folder.
func TestSubjectHasTheFolderThatALinkLeadsTo(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	for _, name := range []string{"one", "two"} {
		target := filepath.Join(root, name)
		if err := os.Mkdir(target, 0o700); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(link) // none at first
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
		text, _ := json.Marshal(map[string]any{"command": "rm -rf *", "workdir": link})
		s := b.tools["terminal"].(hermes.SubjectNamer).Subject(t.Context(), &hermes.Call{Name: "terminal", Arguments: text, Host: b.host})
		if s.Dir != target {
			t.Errorf("%s: the folder is %q", name, s.Dir)
		}
	}
}

// TestInputThatEditsItsLineIsAskedAbout: what a terminal makes of keys is not what the text shows.
func TestInputThatEditsItsLineIsAskedAbout(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	tool := b.tools["process"]
	for _, tt := range []struct {
		command string
		pty     bool
		asks    []string
		runs    []string
	}{
		{"sleep 3000; bash", true, []string{"touch eX\x7fvil\n", "\x7fvil\n", "to\x08uch x\n", "\x01touch \n", "\x1b[A\n", "x\x17touch a\n", "a\x15touch b\n", "ls ev\t\n", "!!\n", "!to\n", "^a^b\n", "echo a\n^a^b\n", "\x1b_", "a\u009bA\n"},
			[]string{"ls\n", "\x03", "\x04", "ls -l\r", "[ ! -f x ] && ls\n", "test a != b\n", "echo 'ä'\n"}},
		{"sleep 3000; bash", false, []string{"touch eX\x7fvil\n", "\x1b[A\n"}, []string{"ls\n", "printf 'a\tb'\n", "\x03"}},
		{"sleep 3000; python3", true, []string{"import oX\x7fs\n"}, []string{"q", "\x1b[A", "\x7f", "import os\n", "\x03", "a\tb\n"}},
	} {
		id := b.start(tt.command, map[string]any{"pty": tt.pty}).ID
		unclear := func(data string) bool {
			return slices.ContainsFunc(tool.(hermes.RiskAssessor).AssessRisk(t.Context(), b.inputCall(id, data)), func(r hermes.Risk) bool { return r.Unclear && r.NoRemember })
		}
		for _, data := range tt.asks {
			if !unclear(data) {
				t.Errorf("%s, terminal %v: %q is sent without a question", tt.command, tt.pty, data)
			}
		}
		for _, data := range tt.runs {
			if unclear(data) {
				t.Errorf("%s, terminal %v: %q is asked about", tt.command, tt.pty, data)
			}
		}
	}
}

// TestRulesReadWhatIsTyped: the line that the input ends, in a terminal also by a carriage return, with what gave its names a
// meaning, and not what else the user is shown.
func TestRulesReadWhatIsTyped(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	id := b.start("sleep 3000; bash", map[string]any{"pty": true}).ID
	read := func(data string) []string {
		return b.tools["process"].(hermes.SubjectNamer).Subject(t.Context(), b.inputCall(id, data)).Commands
	}
	if diff := cmp.Diff([]string{"true\ntouch a\n"}, read("true\rtouch a\r")); diff != "" {
		t.Error(diff)
	}
	b.process("write", id, map[string]any{"data": "alias t=touch\rt"})
	if diff := cmp.Diff([]string{"t evil\n", "alias t=touch\nt evil\n"}, read(" evil\n")); diff != "" {
		t.Error(diff)
	}
	poll := &hermes.Call{Name: "process", Arguments: []byte(`{"action":"poll","session_id":"` + id + `"}`), Host: b.host}
	if got := b.tools["process"].(hermes.SubjectNamer).Subject(t.Context(), poll).Commands; got == nil || len(got) != 0 {
		t.Errorf("a rule reads %q of a call that types nothing", got)
	}
}
