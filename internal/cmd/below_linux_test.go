package cmd_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/chatserver"
)

// workplace is a user whose agent runs scripts that call the program. Every command
// of the agent is approved, so that only the program itself can refuse.
type workplace struct {
	*user
	program string // a name of the test binary that makes it the program in any environment
}

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	w := &workplace{}
	w.user = newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		asked := r.Messages[len(r.Messages)-1].Text()
		if lastIs(r, "user") && strings.HasPrefix(asked, "run ") {
			return call("terminal", map[string]string{"command": strings.TrimPrefix(asked, "run ")}), nil
		}
		return chatserver.Answer{Text: "The answer to: " + asked}, nil
	})...)
	// Without a sandbox, in which commands reach neither the home nor a session.
	w.env = append(w.env, "HERMES_YOLO_MODE=1", "TERMINAL_SANDBOX=off")
	w.program = w.link("hermes")
	return w
}

// link makes a name of the test binary. Names that begin with hermes make it the
// program.
func (w *workplace) link(name string) string {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.dir, name)
	if err := os.Symlink(self, path); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// agent makes the agent run a script and returns the result that the model got.
// In the script $H is the program, and $KEEP are the variables without which the
// program does not find the home.
func (w *workplace) agent(script string) string {
	w.t.Helper()
	w.write("script.sh", w.head()+script)
	out, errs, status := w.run("-z", "run sh ./script.sh", "-m", "played")
	if status != 0 {
		w.t.Fatalf("the agent: status %d: %s%s", status, out, errs)
	}
	return out
}

// head begins a script.
func (w *workplace) head() string {
	return "H='" + w.program + "'\nKEEP='HOME=" + w.dir + " HERMES_HOME=" + w.home + " GORACE=atexit_sleep_ms=0'\n"
}

func (w *workplace) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// kept is what the home holds besides sessions, records, logs and caches: path and content.
func (w *workplace) kept() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	passing := regexp.MustCompile(`^(hermes\.db.*|logs|cache|run|audit|checkpoints)(/|$)`)
	err := filepath.WalkDir(w.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.home, path)
		switch {
		case err != nil:
			return err
		case passing.MatchString(filepath.ToSlash(rel)) && e.IsDir():
			return fs.SkipDir
		case passing.MatchString(filepath.ToSlash(rel)) || e.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		files[rel] = string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

// mode is the setting approvals.mode as the user reads it.
func (w *workplace) mode() string {
	w.t.Helper()
	out, errs, status := w.run("config", "get", "approvals.mode")
	if status != 0 {
		w.t.Fatal(out, errs)
	}
	return strings.TrimSpace(out)
}

// needs skips a test whose script calls a program that is not installed.
func needs(t *testing.T, script string) {
	t.Helper()
	for _, name := range []string{"make", "tmux", "bash", "setsid"} {
		_, err := exec.LookPath(name)
		if err == nil || !strings.Contains(script, name+" ") {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("needs %s", name)
		}
		t.Skipf("needs %s", name)
	}
}

// closeAll is a line of bash that closes all descriptors but the standard streams.
const closeAll = `for f in /proc/$$/fd/* /dev/fd/*; do n=${f##*/}; case $n in [3-9]|[1-9]?*) eval "exec $n>&-";; esac; done`

// orphan makes the script middle. It runs its arguments without a parent, without
// variables and without descriptors.
const orphan = `mkfifo ready
cat >inner <<'END'
while kill -0 $1 2>/dev/null; do :; done
shift
` + closeAll + `
env -i "$@" >out 2>&1
echo $? >ready
END
cat >middle <<END
setsid bash inner \$\$ $KEEP "\$@" &
END
`

// TestAgentCannotSwitchApprovalsOff runs a command that the user may run, in the
// ways in which a script of an agent might.
func TestAgentCannotSwitchApprovalsOff(t *testing.T) {
	t.Parallel()
	const set = ` config set approvals.mode off`
	for name, script := range map[string]string{
		"plain":                `"$H"` + set,
		"in a shell":           `sh -c "exec '$H'` + set + `"`,
		"in a Makefile":        `printf 'all:\n\t@"%s"` + set + `\n' "$H" >Makefile; make -s 2>&1`,
		"a copy":               `cp -L "$H" hermes-copy; ./hermes-copy` + set,
		"an empty environment": `env -i $KEEP "$H"` + set,
		"a closed descriptor":  `exec 3>&- 4>&- 5>&- 9>&-; "$H"` + set,
		"all closed":           `bash -c '` + closeAll + `; exec "$0"` + set + `' "$H"`,
		"all closed and empty": `bash -c '` + closeAll + `; exec env -i $1 "$0"` + set + `' "$H" "$KEEP"`,
		"nohup":                `nohup "$H"` + set + ` </dev/null`,
		"setsid":               `setsid -w "$H"` + set,
		"another home":         `HERMES_HOME="$PWD/other" "$H"` + set,
		"another profile":      `"$H" -p default` + set,
		"the variable unset":   `for v in $(env | sed -n 's/^\(HERMES_[A-Z_]*\)=.*/\1/p'); do [ $v = HERMES_HOME ] || [ $v = HERMES_TEST_AS_PROGRAM ] || unset $v; done; "$H"` + set,
		"an orphan":            `mkfifo ready; (sh -c '"$0"` + set + ` >out 2>&1; echo $? >ready' "$H" &) ; read status <ready; cat out; exit $status`,
		"an orphan, setsid":    `mkfifo ready; (setsid sh -c 'exec env -i $1 "$0"` + set + `' "$H" "$KEEP" >out 2>&1; echo $? >ready) & read status <ready; cat out; exit $status`,
		"background":           `"$H"` + set + ` >out 2>&1 & wait $!; status=$?; cat out; exit $status`,
		"tmux":                 `mkfifo ready; tmux -S sock -f /dev/null new-session -d "'$H'` + set + ` >out 2>&1; echo \$? >ready"; read status <ready; cat out; exit $status`,
		"all of it":            orphan + `sh middle "$H"` + set + `; read status <ready; cat out; exit $status`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			needs(t, script)
			before := w.mode()
			said := w.agent(script)
			if got := w.mode(); got != before {
				t.Errorf("approvals.mode is %q; the agent was told %s", got, said)
			}
			if !strings.Contains(said, "an agent's command") || !strings.Contains(said, `"exit_code":1`) && name != "in a Makefile" {
				t.Errorf("the agent was told %s", said)
			}
			if !strings.Contains(w.logged(), "config set") {
				t.Errorf("the log of the home: %s", w.logged())
			}
		})
	}
}

// logged is the log of the home.
func (w *workplace) logged() string {
	text, _ := os.ReadFile(filepath.Join(w.home, "logs", "agent.log")) // "" if there is none
	return string(text)
}

// TestEachWayFindsTheAgent closes all ways but one.
func TestEachWayFindsTheAgent(t *testing.T) {
	t.Parallel()
	const set = ` config set approvals.mode off`
	for name, tt := range map[string]struct{ script, found string }{
		"the variable": {`bash -c '` + closeAll + `; exec "$0"` + set + `' "$BLIND"`, "(found by the variable HERMES_STARTED_BY_AGENT)"},
		"the file":     {`env -i $KEEP "$BLIND"` + set, "(found by an inherited file)"},
		"the parents":  {`bash -c '` + closeAll + `; exec env -i $1 "$0"` + set + `' "$H" "$KEEP"`, "(found by the parent process hermes-agent "},
		"an orphan's":  {orphan + `sh middle "$H"` + set + `; read status <ready; cat out; exit $status`, "(found by the parent process hermes-agent "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			said := w.agent("BLIND='" + w.link(blind) + "'\n" + tt.script)
			if !strings.Contains(said, tt.found) {
				t.Errorf("the agent was told %s, want %s", said, tt.found)
			}
		})
	}
}

// TestAgentMayNotChatAsItsUser starts a chat in the terminal of a command: there the
// agent would confirm its own calls.
func TestAgentMayNotChatAsItsUser(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "OPENAI_BASE_URL=") })
	w.env = append(w.env, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		switch results(r) {
		case 0:
			return call("terminal", map[string]any{"command": w.program + " chat -m played", "pty": true, "background": true}), nil
		case 1:
			id := regexp.MustCompile(`proc_\w+`).FindString(r.Messages[len(r.Messages)-1].Text())
			return call("process", map[string]any{"action": "wait", "session_id": id, "timeout": 60}), nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	})...)
	out, errs, _ := w.run("-z", "chat with yourself", "-m", "played")
	if !strings.Contains(out, "must not answer questions") || !strings.Contains(out, "an agent's command") {
		t.Errorf("the agent was told %s%s", out, errs)
	}
}

// TestUserIsNotRefused runs a command in ways that look like those of an agent.
func TestUserIsNotRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, env string }{
		"a script":           {script: `"$H" config set agent.max_turns 7`},
		"cron":               {script: `cd /; env -i $KEEP HERMES_TEST_AT="$HERMES_TEST_AT" "$H" config set agent.max_turns 7 </dev/null`},
		"CI":                 {script: `"$H" config set agent.max_turns 7`, env: "CI=true"},
		"a session":          {script: `setsid -w "$H" config set agent.max_turns 7`},
		"after an agent":     {script: `"$H" -z hello -m played; "$H" config set agent.max_turns 7`},
		"another descriptor": {script: `exec 47<"$0"; "$H" config set agent.max_turns 7`},
		"yolo":               {script: `"$H" --yolo -z hello -m played && HERMES_YOLO_MODE=1 "$H" -z hello -m played && "$H" config set agent.max_turns 7`},
		"another home":       {script: `HERMES_HOME=$PWD "$H" -z hello -m played && "$H" config set agent.max_turns 7`},
		"tmux":               {script: `mkfifo ready; tmux -S sock -f /dev/null new-session -d "'$H' config set agent.max_turns 7; echo >ready"; read done <ready`},
		"an editor":          {script: `ln -s "$(command -v sh)" vim; PATH=$PWD:$PATH; vim -c '"$0" config set agent.max_turns 7; :' "$H"`},
		"its own editor":     {script: `printf '#!/bin/sh\n"%s" config set agent.max_turns 7\n' "$H" >edit; chmod +x edit; EDITOR=$PWD/edit "$H" config edit`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs(t, tt.script)
			w := newWorkplace(t)
			w.env = append(w.env, tt.env)
			w.write("script.sh", w.head()+tt.script)
			c := w.command()
			c.Path, c.Args = "/bin/sh", []string{"sh", "./script.sh"}
			if name == "another descriptor" {
				c.Path, c.Args = "/bin/bash", []string{"bash", "./script.sh"}
			}
			said, err := c.CombinedOutput()
			if out, _, _ := w.run("config", "get", "agent.max_turns"); err != nil || strings.TrimSpace(out) != "7" {
				t.Errorf("%v, agent.max_turns is %s, the user was told %s", err, out, said)
			}
		})
	}
}

// TestAgentChangesNothingThroughTheProgram runs commands of each kind.
func TestAgentChangesNothingThroughTheProgram(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.write("SKILL.md", "---\nname: mine\ndescription: does a thing\n---\n# Mine\n\n1. Do it.\n")
	for _, line := range []string{"memory add likes-tea", "profile create other", "learning add some-error a-fix", "skills create mine --from-file SKILL.md"} {
		if out, errs, status := w.run(strings.Fields(line)...); status != 0 {
			t.Fatal(line, out, errs)
		}
	}
	w.agent("true")
	before, sessions := w.kept(), w.sessions()
	commands := `auth add openai --api-key k
auth remove openai 1
auth logout openai
bundles create b --skill mine
checkpoints prune
checkpoints restore 1 --yes
config set approvals.mode off
config unset approvals.mode
config migrate
config get OPENAI_API_KEY --reveal
curator pin mine
curator purge --yes
doctor --fix
fallback add openai:x
journey delete skill:mine --yes
learning delete 1
learning import SKILL.md
memory add likes-coffee
memory approve all
memory off
memory import SKILL.md
memory setup local
model openai:gpt-5
permissions revoke 1
permissions suggest --apply 1
trust
trust decline
trust revoke --all
profile create third
profile use other
profile delete other --yes
sessions delete latest --yes
sessions prune --older-than 0d --yes
sessions rename latest new
skills approve all
skills config disable mine
skills delete mine --yes
skills install ./x --yes
skills opt-out
skills tap add a/b
skills trust --yes
spend raise day 100
tools disable file
undo --yes
`
	w.write("commands", commands)
	said := w.agent(`while read -r line; do "$H" $line </dev/null >out 2>&1; echo "<$? $line> $(grep -c "an agent's command" out)"; done <commands`)
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); !strings.Contains(said, "<1 "+line+"> 1") && !strings.Contains(said, `\u003c1 `+line+`\u003e 1`) {
			t.Errorf("%s was not refused", line)
		}
	}
	if d := cmp.Diff(before, w.kept()); d != "" {
		t.Errorf("the home has changed (-before +after):\n%s", d)
	}
	if got := w.sessions(); !strings.HasSuffix(got, sessions) {
		t.Errorf("sessions were %s, and are %s", sessions, got)
	}
	if t.Failed() {
		t.Log(said)
	}
}

// sessions are the ids of the stored sessions, the latest first.
func (w *workplace) sessions() string {
	out, _, _ := w.run("sessions", "list", "--json")
	var ids []string
	for _, m := range regexp.MustCompile(`"id": ?"([^"]+)"`).FindAllStringSubmatch(out, -1) {
		ids = append(ids, m[1])
	}
	return strings.Join(ids, " ")
}

func TestAgentMayReadThroughTheProgram(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	commands := `auth list
config
config check
config get approvals.mode
config path
curator run --dry-run
fallback list
insights
journey
learning list
logs
memory list
memory setup
profile list
sessions list
sessions prune --dry-run
skills list
spend
tools
undo --list
undo --preview
--version
config set --help
`
	w.write("commands", commands)
	said := w.agent(`while read -r line; do "$H" $line </dev/null >out 2>&1; echo "$? $line;"; done <commands`)
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); !strings.Contains(said, "0 "+line+";") {
			t.Errorf("%s was refused or failed: %s", line, said)
		}
	}
}

// TestAgentBelowAnAgentHasNoWiderRights starts a second agent in a script.
func TestAgentBelowAnAgentHasNoWiderRights(t *testing.T) {
	t.Parallel()
	const ask = ` -z "are you there?" -m played`
	for name, tt := range map[string]struct {
		script  string
		refused string // what the refusal names; "" is no refusal
	}{
		"equal":              {`"$H"` + ask, ""},
		"equal, as chat":     {`"$H" chat -q "are you there?" -m played -Q </dev/null`, ""},
		"same home, a link":  {`ln -s "$HERMES_HOME" link; HERMES_HOME="$PWD/link" "$H"` + ask, ""},
		"a demo":             {`"$H" demo --fast; echo "The answer to: are you there?"`, ""},
		"yolo":               {`"$H" --yolo` + ask, "--yolo"},
		"mode yolo":          {`"$H" --mode yolo` + ask, "--mode yolo"},
		"mode accept-edits":  {`"$H" --mode=accept-edits` + ask, "--mode accept-edits"},
		"mode plan":          {`"$H" --mode plan` + ask, ""},
		"rules":              {`"$H" --allow-tools terminal` + ask, "--allow-tools"},
		"yolo as a variable": {`HERMES_YOLO_MODE=1 "$H"` + ask, "HERMES_YOLO_MODE"},
		"hooks":              {`HERMES_ACCEPT_HOOKS=1 "$H"` + ask, "HERMES_ACCEPT_HOOKS"},
		"hooks as a flag":    {`"$H" --accept-hooks` + ask, "--accept-hooks"},
		"no settings":        {`"$H" --ignore-user-config` + ask, "--ignore-user-config"},
		"another home":       {`HERMES_HOME="$PWD/other" "$H"` + ask, "home"},
		"a forged home":      {`mkdir other; HERMES_HOME="$PWD/other"; export HERMES_HOME; for v in $(env | sed -n 's/^\(HERMES_[A-Z_]*\)=\/.*/\1/p'); do export $v="$PWD/other"; done; "$H"` + ask, "home"},
		"another profile":    {`mkdir -p "$HERMES_HOME/profiles/other"; "$H" -p other` + ask, "home"},
		"as a variable":      {`mkdir -p "$HERMES_HOME/profiles/other"; HERMES_PROFILE=other "$H"` + ask, "home"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			said := w.agent(tt.script)
			if tt.refused == "" {
				if !strings.Contains(said, "The answer to: are you there?") {
					t.Errorf("the agent was told %s", said)
				}
				return
			}
			if strings.Contains(said, "The answer to: are you there?") || !strings.Contains(said, "an agent's command") || !strings.Contains(said, tt.refused) {
				t.Errorf("the agent was told %s", said)
			}
		})
	}
}

// TestAgentCannotReachRunningSessions: neither its own nor those of the user, although its
// commands can read the key, and in no way in which a script might try.
func TestAgentCannotReachRunningSessions(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"plain":                `for s in "$R"/*.sock; do "$D" "$R" "$s"; done`,
		"an empty environment": `for s in "$R"/*.sock; do env -i "$D" "$R" "$s"; done`,
		"all closed and empty": `for s in "$R"/*.sock; do bash -c '` + closeAll + `; exec env -i "$0" "$1" "$2"' "$D" "$R" "$s"; done`,
		"setsid":               `for s in "$R"/*.sock; do setsid -w nohup "$D" "$R" "$s" </dev/null; done`,
		"an orphan":            `mkfifo ready; (setsid sh -c 'for s in "$1"/*.sock; do env -i "$0" "$1" "$s"; done >out 2>&1; echo >ready' "$D" "$R" &) ; read status <ready; cat out`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs(t, script)
			w := newWorkplace(t)
			s := w.sit("dumb", "-m", "custom:played", "-q", "hello")
			s.shows("The answer to: hello")
			d := w.link(dialer)
			if out, err := exec.CommandContext(t.Context(), d, filepath.Join(w.home, "run"), w.sockets()[0]).CombinedOutput(); err != nil || !strings.Contains(string(out), "let in: 1") {
				t.Fatalf("the user was told %s, %v", out, err)
			}
			said := w.agent("D='" + d + "'\nR='" + filepath.Join(w.home, "run") + "'\n" + script)
			if strings.Count(said, "not let in: refused: only the user may reach running sessions") != 2 || strings.Contains(said, `\nlet in: `) {
				t.Errorf("the agent was told %s", said)
			}
			if !strings.Contains(w.logged(), "refused a frontend") {
				t.Errorf("the log of the home: %s", w.logged())
			}
			s.press("\x04")
			s.left()
		})
	}
}

// TestAgentCannotAttach with the program: the command itself refuses, before it connects.
func TestAgentCannotAttach(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	s := w.sit("dumb", "-m", "custom:played", "-q", "hello")
	s.shows("The answer to: hello")
	for _, line := range []string{`"$H" attach`, `env -i $KEEP "$H" attach`} {
		said := w.agent(line + " 2>&1")
		if !strings.Contains(said, "an agent must not speak to a session as its user") || strings.Contains(said, "Attached") {
			t.Errorf("%s: the agent was told %s", line, said)
		}
	}
	s.press("\x04")
	s.left()
}

// TestAgentCannotTakeThePlaceOfASession: what listens at the socket instead is told nothing,
// and the user is.
func TestAgentCannotTakeThePlaceOfASession(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.write("fake.sh", "'"+w.link(listener)+"' '"+filepath.Join(w.home, "run")+"'/*.sock >got 2>&1 &\n"+
		"until grep -q . got; do :; done\ncat got\n")
	s := w.sit("dumb", "-m", "custom:played", "-q", "run sh ./fake.sh")
	s.shows("The answer to:")
	user := w.sit("dumb", "attach")
	user.shows("nothing was sent to what listens at")
	user.left()
	if got, err := os.ReadFile(filepath.Join(w.dir, "got")); err != nil || string(got) != "listening\n" {
		t.Errorf("it was told %q, %v", got, err)
	}
	s.press("\x04")
	s.left()
}
