//go:build unix

package terminal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/tool/terminal"
)

// walled is an environment with walls of a layer, which refuse what a test says.
type walled struct {
	hermes.Environment
	layer   string
	refused []hermes.Refusal
	ran     *[]hermes.Command
}

func (w walled) Describe(ctx context.Context) hermes.Description {
	d := w.Environment.Describe(ctx)
	d.Isolation = hermes.Isolation{Layer: w.layer, Holds: true, Text: "walls"}
	return d
}

func (w walled) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	*w.ran = append(*w.ran, c)
	c.Outside, c.Need = false, nil
	exit, err := w.Environment.Exec(ctx, c)
	exit.Refused = w.refused
	return exit, err
}

func (w walled) Start(ctx context.Context, c hermes.Command, tty bool) (hermes.Process, error) {
	*w.ran = append(*w.ran, c)
	p, err := w.Environment.(hermes.Starter).Start(ctx, c, tty)
	return refusing{p, w.refused}, err
}

type refusing struct {
	hermes.Process
	refused []hermes.Refusal
}

func (r refusing) Wait(ctx context.Context) (hermes.Exit, error) {
	exit, err := r.Process.Wait(ctx)
	exit.Refused = r.refused
	return exit, err
}

// mustWalled puts a fixture inside of walls and returns the commands that ran.
func mustWalled(t *testing.T, c terminal.Config, layer string, refused ...hermes.Refusal) (*fixture, *[]hermes.Command) {
	t.Helper()
	b := mustFixture(t, c)
	ran := &[]hermes.Command{}
	b.host.environment = walled{b.host.environment, layer, refused, ran}
	return b, ran
}

func (b *fixture) assess(arguments map[string]any) []hermes.Risk {
	b.t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tools["terminal"].(hermes.RiskAssessor).AssessRisk(b.t.Context(), &hermes.Call{Name: "terminal", Arguments: text, Host: b.host})
}

// TestWallsAnswerWhatTheyContain: inside, code runs without a question; what damages the
// workspace asks, except in a container, and outside everything asks.
func TestWallsAnswerWhatTheyContain(t *testing.T) {
	t.Parallel()
	for layer, want := range map[string][]bool{"A": {false, false, true}, "B": {false, true, true}, "none": {true, true, true}, "container": {false, false, false}} {
		b, _ := mustWalled(t, terminal.Config{}, layer)
		for i, line := range []string{"python3 -c 'import os; os.system(1)'", "pkill node", "git reset --hard"} {
			if asks := len(b.assess(map[string]any{"command": line})) > 0; asks != want[i] {
				t.Errorf("%s: %q asks %v, want %v", layer, line, asks, want[i])
			}
			keys := b.assess(map[string]any{"command": line, "escalate": "because"})
			if len(keys) < 2 || keys[0].Key != hermes.KeyEscape || !keys[0].Once || !keys[0].NoRemember {
				t.Errorf("%s: outside %q has %v", layer, line, keys)
			}
		}
	}
}

// TestNeedsAreAskedOneByOne, with what holds secrets only once, and Hermes' own home never.
func TestNeedsAreAskedOneByOne(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	state := filepath.Join(home, ".hermes")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "link")
	if err := os.Symlink(state, link); err != nil {
		t.Skip(err)
	}
	b, ran := mustWalled(t, terminal.Config{Home: home, Hermes: state, Declared: func(host, port string) bool { return host == "api.example.org" && port == "443" }}, "A")
	for need, want := range map[string]string{
		"host example.org:443":          "ask sandbox-host:example.org:443",
		"host git.example.org:22":       "once",
		"host api.example.org:443":      "once",
		"host api.example.org:8443":     "ask sandbox-host:api.example.org:8443",
		"host [2001:db8::1]:80":         "ask sandbox-host:[2001:db8::1]:80",
		"read /srv/data":                "ask sandbox-read:/srv/data",
		"write /srv/data":               "ask sandbox-write:/srv/data",
		"read " + home + "/.ssh/id_rsa": "once",
		"read " + home:                  "never",
		"read /":                        "never",
		"read " + home + "/.ssh":        "once",
		"write " + home + "/.bashrc":    "once",
		"write /etc":                    "once",
		"read " + state + "/run/key":    "never",
		"write " + state:                "never",
		"read " + link + "/config.yaml": "never",
		"host Example.org:443":          "",
		"host example.org":              "",
		"host example.org:0443":         "",
		"host *.example.org:443":        "",
		"host example.org.:443":         "",
		"read relative":                 "",
		"read /srv/../etc":              "",
		"read  /srv":                    "",
		"exec /bin/sh":                  "",
		"changed .git/config":           "",
		"host 2130706433:80":            "",
		"host 0x7f.1:80":                "",
		"host [::ffff:7f00:1]:80":       "",
		"host 127.0.0.1:5432":           "ask sandbox-host:127.0.0.1:5432",
		"port 3000":                     "ask sandbox-port:3000",
		"port 80":                       "",
		"port 03000":                    "",
	} {
		in := map[string]any{"command": "true", "need": []string{need}}
		found := b.assess(in)
		got := ""
		if len(found) == 1 {
			r := found[0]
			switch {
			case r.Deny:
				got = "never"
			case r.Once && r.NoRemember:
				got = "once"
			default:
				got = "ask " + r.Key
			}
		}
		if got != want || len(found) > 1 {
			t.Errorf("%q: %v, want %q", need, found, want)
		}
		if _, err := b.call(t.Context(), "terminal", in); want == "" && err == nil {
			t.Errorf("%q ran", need)
		}
	}
	*ran = nil
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.must("terminal", map[string]any{"command": "true", "need": []string{"host a.example:1", "write " + dir}})
	want := []hermes.Need{{Kind: hermes.RefusedHost, Name: "a.example:1"}, {Kind: hermes.RefusedWrite, Name: dir}}
	if len(*ran) != 1 || !slices.Equal((*ran)[0].Need, want) || (*ran)[0].Outside {
		t.Errorf("ran %+v", *ran)
	}
	if _, err := b.call(t.Context(), "terminal", map[string]any{"command": "true", "need": []string{"read " + link}}); err == nil || !strings.Contains(err.Error(), state) {
		t.Errorf("a need through a link: %v", err)
	}
}

// opener is walls that know what needs open.
type opener struct {
	walled
	opens map[string]hermes.Opening
}

func (o opener) Opens(_ context.Context, n hermes.Need) hermes.Opening { return o.opens[n.Name] }

// TestNeedsSayWhatTheyOpen: what is writable already is refused, and what holds protected
// files is asked about each time.
func TestNeedsSayWhatTheyOpen(t *testing.T) {
	t.Parallel()
	b, _ := mustWalled(t, terminal.Config{Home: "/home/u", Hermes: "/home/u/.hermes"}, "A")
	b.host.environment = opener{b.host.environment.(walled), map[string]hermes.Opening{"/srv/w": {Refuse: "it can be written already"}, "/srv/other": {Holds: "/srv/other/.git"}}}
	found := b.assess(map[string]any{"command": "true", "need": []string{"write /srv/w", "write /srv/other", "read /srv/other", "write /srv/plain"}})
	for i, want := range []hermes.Risk{
		{Key: "sandbox-write:/srv/w", Deny: true, Mistake: true, Reason: "write /srv/w: it can be written already"},
		{Key: "sandbox-write:/srv/other", Once: true, NoRemember: true, Reason: "changes /srv/other, which is outside of the sandbox; it opens /srv/other/.git"},
		{Key: "sandbox-read:/srv/other", Once: true, NoRemember: true, Reason: "reads /srv/other, which is outside of the sandbox; it opens /srv/other/.git"},
		{Key: "sandbox-write:/srv/plain", Reason: "changes /srv/plain, which is outside of the sandbox"},
	} {
		if found[i] != want {
			t.Errorf("got %+v, want %+v", found[i], want)
		}
	}
}

func TestEscalation(t *testing.T) {
	t.Parallel()
	c := terminal.Config{Wrote: func(session, line, dir string) []string { return []string{session + " " + line} }}
	b, ran := mustWalled(t, c, "B")
	in := map[string]any{"command": "./deploy", "escalate": "needs docker\u202e \"now\""}
	text, _ := json.Marshal(in)
	s := b.tools["terminal"].(hermes.SubjectNamer).Subject(t.Context(), &hermes.Call{Name: "terminal", Arguments: text, Host: b.host})
	want := "The model's reason: \"needs docker\\u202e \\\"now\\\"\"\nIt would run files that this session wrote:\n  s ./deploy"
	if s.Text != "./deploy" || s.Dir != b.dir || s.Detail != want {
		t.Errorf("the user is shown %+v", s)
	}
	b.must("terminal", in)
	if len(*ran) != 1 || !(*ran)[0].Outside {
		t.Errorf("ran %+v", *ran)
	}
	for _, more := range []map[string]any{{"need": []string{"host a.example:1"}}, {"background": true}} {
		more["command"], more["escalate"] = "true", "x"
		if _, err := b.call(t.Context(), "terminal", more); err == nil {
			t.Errorf("%v ran", more)
		}
	}
	plain := mustFixture(t, terminal.Config{})
	for _, in := range []map[string]any{{"command": "true", "escalate": "x"}, {"command": "true", "need": []string{"host a.example:1"}}} {
		if _, err := plain.call(t.Context(), "terminal", in); err == nil || !strings.Contains(err.Error(), "no sandbox") {
			t.Errorf("without walls: %v", err)
		}
	}
}

// TestRefusalsAreListed in a form that need takes, for all kinds of commands.
// TestOrdinaryCommandsListNoFiles: the search for files of the session is for commands that
// leave the sandbox.
func TestOrdinaryCommandsListNoFiles(t *testing.T) {
	t.Parallel()
	lists := 0
	b, _ := mustWalled(t, terminal.Config{Wrote: func(string, string, string) []string { lists++; return nil }}, "B")
	for _, in := range []map[string]any{{"command": "true"}, {"command": "true", "pty": true}, {"command": "true", "need": []string{"host a.example:1"}}} {
		text, _ := json.Marshal(in)
		b.assess(in)
		b.tools["terminal"].(hermes.SubjectNamer).Subject(t.Context(), &hermes.Call{Name: "terminal", Arguments: text, Host: b.host})
		b.must("terminal", in)
	}
	if lists != 0 {
		t.Errorf("the files were listed %d times", lists)
	}
}

func TestRefusalsAreListed(t *testing.T) {
	t.Parallel()
	refused := []hermes.Refusal{
		{Kind: hermes.RefusedHost, Name: "example.org:443"}, {Kind: hermes.RefusedHost, Name: "example.org:443"},
		{Kind: hermes.RefusedChange, Name: "/w/.git/config", Note: "it was restored"}, {Kind: hermes.OpenedPort, Name: "3000", Note: "open inside"},
	}
	b, _ := mustWalled(t, terminal.Config{}, "B", refused...)
	want := []string{"host example.org:443", "changed /w/.git/config"}
	check := func(a answer, what string) {
		t.Helper()
		if !slices.Equal(a.Blocked, want) || !strings.Contains(a.Advice, "need") || !strings.Contains(a.Advice, "It was restored.") || !strings.Contains(a.Advice, "Port 3000 is open inside.") {
			t.Errorf("%s: %q %q", what, a.Blocked, a.Advice)
		}
	}
	check(b.run("true"), "foreground")
	id := b.start("true", nil).ID
	check(b.process("wait", id, nil), "wait")
	check(b.process("poll", id, nil), "poll")
	check(b.process("log", id, nil), "log")
	id = b.start("true", map[string]any{"notify_on_complete": true}).ID
	<-b.wake
	if got := b.notices()[0]; !strings.Contains(got, "Blocked: host example.org:443") {
		t.Errorf("the notice of %s says %q", id, got)
	}
}

// TestALongListOfRefusalsIsBounded: it is not cut with the end of the result, what matters
// is in it, and the advice counts all.
func TestALongListOfRefusalsIsBounded(t *testing.T) {
	t.Parallel()
	refused := []hermes.Refusal{{Kind: hermes.RefusedChange, Name: "/w/.vscode/big", Note: "NOT restored, tell the user"}}
	for i := range 3000 {
		name := fmt.Sprint(i, strings.Repeat("\x01\"", 2000))
		refused = append(refused, hermes.Refusal{Kind: hermes.RefusedChange, Name: "/w/" + name, Note: "removed again: " + name}, hermes.Refusal{Kind: hermes.OpenedPort, Name: fmt.Sprint(2000 + i), Note: "open inside"})
	}
	refused = append(refused, hermes.Refusal{Kind: hermes.RefusedHost, Name: "example.org:443"})
	b, _ := mustWalled(t, terminal.Config{}, "B", refused...)
	check := func(tool string, arguments map[string]any) {
		t.Helper()
		text, _ := json.Marshal(arguments)
		r, err := b.tools[tool].Run(t.Context(), &hermes.Call{ID: "c", Name: tool, Arguments: text, Host: b.host})
		if err != nil {
			t.Fatal(err)
		}
		blocked, _, _ := strings.Cut(r.Text, `"output":`)
		if len(blocked) > 4000 || !strings.Contains(blocked, "/w/.vscode/big") || !strings.Contains(blocked, "NOT restored") || !strings.Contains(blocked, "call again with need") || !strings.Contains(blocked, "Ports that were opened as well: 2995.") {
			t.Errorf("%s: %d bytes: %.5000s", tool, len(blocked), blocked)
		}
	}
	check("terminal", map[string]any{"command": "printf 'x%.0s' $(seq 5000)"})
	id := b.start("true", nil).ID
	check("process", map[string]any{"action": "wait", "session_id": id})
}

// TestNewsNamesRefusals of background processes that ended without a notice.
func TestNewsNamesRefusals(t *testing.T) {
	t.Parallel()
	b, _ := mustWalled(t, terminal.Config{}, "B", hermes.Refusal{Kind: hermes.RefusedRead, Name: "/secret"})
	b.start("read x", nil)
	id := b.start("read x", nil).ID
	b.set.News("s")
	b.process("submit", id, map[string]any{"data": "go"})
	news := ""
	for news == "" {
		<-time.After(5 * time.Millisecond)
		news = b.set.News("s") // until it has ended
	}
	if !strings.Contains(news, id+" (read x, exit code 1, blocked: read /secret)") && !strings.Contains(news, id+" (read x, exit code 0, blocked: read /secret)") {
		t.Errorf("the news are %q", news)
	}
}

// TestLongReasonsAndNeedsAreRefused before the user is asked.
func TestLongReasonsAndNeedsAreRefused(t *testing.T) {
	t.Parallel()
	b, ran := mustWalled(t, terminal.Config{}, "A")
	for _, in := range []map[string]any{
		{"command": "true", "escalate": strings.Repeat("é", 301)},
		{"command": "true", "need": []string{"read /" + strings.Repeat("a", 500)}},
	} {
		if found := b.assess(in); len(found) != 1 || !found[0].Deny || !strings.Contains(found[0].Reason, "characters") {
			t.Errorf("%+v", found)
		}
		if _, err := b.call(t.Context(), "terminal", in); err == nil || len(*ran) > 0 {
			t.Errorf("it ran: %v", err)
		}
	}
	if found := b.assess(map[string]any{"command": "true", "escalate": strings.Repeat("é", 300)}); len(found) != 1 || found[0].Deny {
		t.Errorf("%+v", found)
	}
}
