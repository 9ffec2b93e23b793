//go:build unix

package environment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment"
)

func mustLocal(t testing.TB, c environment.LocalConfig) *environment.Local {
	t.Helper()
	if c.Dir == "" {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
	}
	if c.Home == "" {
		c.Home = t.TempDir()
	}
	if c.Env == nil {
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Home, "LANG=C.UTF-8"}
	}
	c.Temp = t.TempDir()
	l, err := environment.NewLocal(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestLocalKeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
				return mustLocal(t, environment.LocalConfig{Shell: shell})
			})
		})
	}
}

// output runs a line as the terminal tool does.
func output(t *testing.T, l *environment.Local, line string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := l.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out, Keep: true}); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestHugeVariablesAreNotKept: a command cannot keep all later ones from starting.
func TestHugeVariablesAreNotKept(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"export A=$(head -c 200000 /dev/zero | tr '\\0' x) B=1 PATH=$PATH:$(head -c 200000 /dev/zero | tr '\\0' x)",
		"export B=1; x=$(head -c 100000 /dev/zero | tr '\\0' x); for i in $(seq 30); do eval A$i=$x; done; export ${!A*}",
	} {
		l := mustLocal(t, environment.LocalConfig{Shell: "bash"})
		if got := output(t, l, line); !strings.Contains(got, "not kept for later commands") || !strings.Contains(got, "A") {
			t.Errorf("it is not said: %.200s", got)
		}
		if got := output(t, l, "echo $B; env | wc -c; ls / >/dev/null && echo works"); !strings.HasPrefix(got, "1\n") || !strings.HasSuffix(got, "works") {
			t.Errorf("later commands: %.200s", got)
		}
	}
	l := mustLocal(t, environment.LocalConfig{Shell: "bash"})
	if got := output(t, l, "export A=$(head -c 100000 /dev/zero | tr '\\0' x)"); got != "" {
		t.Errorf("what is small enough is told about: %s", got)
	}
	if got := output(t, l, "echo ${#A}"); got != "100000" {
		t.Errorf("what is small enough is not kept: %s", got)
	}
	if got := output(t, l, "x=$(head -c 100000 /dev/zero | tr '\\0' x); for i in $(seq 50); do eval C$i=$x; done; export ${!C*}"); !strings.Contains(got, "more than 4 MB") {
		t.Errorf("it is not said: %.200s", got)
	}
}

func TestSecretsOfThisProcessDoNotReachCommands(t *testing.T) {
	t.Parallel()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=s1", "TELEGRAM_BOT_TOKEN=s2", "MY_SECRET=s3", "DB_PASSWORD=s4",
		"LDAP_PASSWD=s5", "GOOGLE_APPLICATION_CREDENTIALS=s6", "PROXY_AUTH=s7", "LET_THROUGH_TOKEN=s8", "aws_secret_access_key=s9",
		"SLACK_WEBHOOK=s10", "BASH_ENV=/s11", "BASH_FUNC_ls%%=() { echo s12; }", "ENV=/s13", "PROMPT_COMMAND=echo s14",
		"GIT_AUTHOR_NAME=me", "SSH_AUTH_SOCK=/sock", "KEYBOARD=us", "MONKEY=1", "XAUTHORITY=/x", "TOKENIZERS_PARALLELISM=false",
	}
	l := mustLocal(t, environment.LocalConfig{Env: env, Passthrough: []string{"LET_THROUGH_TOKEN"}})
	for range 2 { // what is remembered must not bring them back either
		got := output(t, l, "env | sort | grep -v -e ^PATH -e ^PWD -e ^OLDPWD -e ^SHLVL -e ^_=")
		want := "GIT_AUTHOR_NAME=me\nKEYBOARD=us\nLET_THROUGH_TOKEN=s8\nMONKEY=1\nSSH_AUTH_SOCK=/sock\nTOKENIZERS_PARALLELISM=false\nXAUTHORITY=/x"
		if got != want {
			t.Errorf("commands see\n%s\nwant\n%s", got, want)
		}
	}
}

// TestKeysOfHermesNeverReachCommands names every key in the setting that passes
// variables on.
func TestKeysOfHermesNeverReachCommands(t *testing.T) {
	t.Parallel()
	withheld := []string{
		"TELEGRAM_BOT_TOKEN", "DISCORD_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "WHATSAPP_CLOUD_ACCESS_TOKEN", "TWILIO_AUTH_TOKEN",
		"EMAIL_PASSWORD", "MATRIX_ACCESS_TOKEN", "MATTERMOST_TOKEN", "FEISHU_APP_SECRET", "LINE_CHANNEL_SECRET", "HASS_TOKEN", "telegram_bot_token",
		"SUDO_PASSWORD", "SUDO_PASS", "HERMES_SUDO_PASSWORD", "HERMES_PLATFORMS_TELEGRAM_TOKEN", "API_SERVER_KEY", "GATEWAY_PROXY_KEY",
		"EXA_API_KEY", "TAVILY_API_KEY", "FIRECRAWL_API_KEY", "BRAVE_API_KEY", "PARALLEL_API_KEY", "PERPLEXITY_API_KEY",
		"FAL_KEY", "ELEVENLABS_API_KEY", "BROWSERBASE_API_KEY", "HONCHO_API_KEY", "MEM0_API_KEY", "SUPERMEMORY_API_KEY",
		"BOX_KEY", "COPY_OF_BOX", "INLINE_COPY", "BOX_URL",
	}
	kept := []string{"SHOP_TOKEN", "DB_PASSWORD", "LINEAR_API_KEY", "SIGNALLING_TOKEN", "PGPASSWORD", "EXACT_TOKEN", "TELEGRAM_CHAT"}
	c := environment.LocalConfig{
		Passthrough: append(slices.Clone(withheld), kept...), Keys: []string{"inline-key-1234-abcdef"},
		KeyOf: func(name string) string { return map[string]string{"BOX_KEY": "the key of box"}[name] },
	}
	for i, name := range c.Passthrough {
		value := fmt.Sprintf("value-%04d", i)
		switch name {
		case "SUDO_PASSWORD", "EXA_API_KEY":
			value = "short" // too short to be looked for in other values
		case "BOX_KEY", "COPY_OF_BOX":
			value = "box-key-5678-abcdef"
		case "BOX_URL":
			value = "https://box.example/?key=box-key-5678-abcdef"
		case "INLINE_COPY":
			value = "inline-key-1234-abcdef"
		}
		c.Env = append(c.Env, name+"="+value)
	}
	c.Env = append(c.Env, "PATH="+os.Getenv("PATH"))
	l := mustLocal(t, c)
	seen := output(t, l, "env")
	for _, name := range withheld {
		if strings.Contains(seen, name+"=") {
			t.Errorf("commands see %s", name)
		}
	}
	for _, name := range kept {
		if !strings.Contains(seen, name+"=") {
			t.Errorf("commands do not see %s", name)
		}
	}
}

// TestWordsThatAreAlsoAKeyReachCommands has keys as a local server without any wants
// them: other variables hold the same word.
func TestWordsThatAreAlsoAKeyReachCommands(t *testing.T) {
	t.Parallel()
	got := environment.Variables(environment.LocalConfig{Env: []string{
		"EXA_API_KEY=local", "MODE=local",
		"TAVILY_API_KEY=developer", "STAGE=developer", "GREETING=hello developer",
		"BRAVE_API_KEY=placeholder-for-local-use", "NOTE=placeholder-for-local-use, see the docs",
		"FAL_KEY=f00d-1234-f00d-5678", "ADDRESS=https://fal.example/?q=f00d-1234-f00d-5678",
	}})
	want := []string{"MODE=local", "GREETING=hello developer", "NOTE=placeholder-for-local-use, see the docs"}
	if !slices.Equal(got, want) {
		t.Errorf("commands see %q, want %q", got, want)
	}
}

func TestSecretsWithoutASecretNameDoNotReachCommands(t *testing.T) {
	t.Parallel()
	withheld := []string{
		"PGPASSWORD=x1", "SSHPASS=x2", "GITHUBTOKEN=x3", "DATABASE_URL=postgres://bob:s3cret@db:5432/app", "MYSQL_PWD=x4", "REDIS=redis://:hunter2@cache:6379",
		"FOO=ghp_16C7e42F292c6912E7710c838347Ae178B4a", "npm_config__authtoken=x5", "SENTRY_DSN=https://0a1b2c3d4e5f6a7b8c9d@sentry.example.org/2", "KUBE_PASS=x6", "DBPASS=none",
	}
	kept := []string{
		"DATABASE_HOST=db", "HTTPS_PROXY=http://me:pw@proxy:3128", "http_proxy=http://me:pw@proxy:3128", "EDITOR=vi", "SUDO_ASKPASS=/usr/bin/ask",
		"COMPASS=north", "KEYMAP=us", "XDG_DATA_DIRS=/usr/share", "PASSENGERS=4", "PG_URL=postgres://db:5432/app", "AUTHOR=Bob",
		"GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568", // of the images of Python: the id of a public key
	}
	l := mustLocal(t, environment.LocalConfig{Env: append(append([]string{"PATH=" + os.Getenv("PATH")}, withheld...), kept...)})
	seen := output(t, l, "env")
	for _, v := range withheld {
		if name, _, _ := strings.Cut(v, "="); strings.Contains(seen, name+"=") {
			t.Errorf("commands see %s", v)
		}
	}
	for _, v := range kept {
		if !strings.Contains(seen, v) {
			t.Errorf("commands do not see %s", v)
		}
	}
}

// TestNewFilesObeyAnyUmask runs itself again below a shell with an unusual one, for which
// the usual 022 cannot be mistaken.
func TestNewFilesObeyAnyUmask(t *testing.T) {
	t.Parallel()
	if os.Getenv("TEST_UMASK") == "" {
		l := mustLocal(t, environment.LocalConfig{})
		line := "umask 007; TEST_UMASK=1 '" + os.Args[0] + "' -test.run='^TestNewFilesObeyAnyUmask$'"
		if out := output(t, l, line); !strings.Contains(out, "PASS") {
			t.Error(out)
		}
		return
	}
	l := mustLocal(t, environment.LocalConfig{})
	for name, files := range map[string]hermes.Files{"host": l.Files()} {
		if err := files.Write(t.Context(), name+"/a", nil, 0); err != nil {
			t.Fatal(err)
		}
		if err := files.Rename(t.Context(), name+"/a", name+"/sub/b"); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{name: 0o770, name + "/sub": 0o770, name + "/sub/b": 0o660} {
			if info, err := files.Stat(t.Context(), path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, %v, want %v", path, info, err, want)
			}
		}
	}
}

func TestShellsLeaveNothingBehindInTheOutput(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	for line, want := range map[string]string{
		"set -x; echo a":                      "++ echo a\na",
		"set -eux; true":                      "++ true",
		"set -o noclobber; echo b":            "b",
		"trap 'echo bye' EXIT; exit 0":        "bye",
		"echo $# $0":                          "0 bash",
		"set -a; X=1; echo c":                 "c",
		"export -p | grep -c hermes; true":    "0",
		"exec echo replaced":                  "replaced",
		"cat <<EOF\nheredoc without an end\n": "heredoc without an end",
	} {
		got := output(t, l, line)
		if got != want && !strings.Contains(got, "here-document") {
			t.Errorf("%q printed %q, want %q", line, got, want)
		}
	}
}

func TestSyntaxErrorsAreReported(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	var out bytes.Buffer
	exit, err := l.Exec(t.Context(), hermes.Command{Line: `echo "open`, Stdout: &out, Stderr: &out, Keep: true})
	if err != nil || exit.Code == 0 || out.Len() == 0 {
		t.Errorf("exit %+v, error %v, output %q", exit, err, out.String())
	}
}

func TestVeryLongLinesRun(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	long := strings.Repeat("x", 300_000)
	got := output(t, l, "cat >file <<'EOF'\n"+long+"\nEOF\ncd /; export LONG=1; wc -c <\"$OLDPWD/file\"")
	if strings.TrimSpace(got) != "300001" {
		t.Errorf("printed %.100q", got)
	}
	if got := output(t, l, `echo "$PWD $LONG"`); got != "/ 1" {
		t.Errorf("the long line left %q behind", got)
	}
}

func TestDeletedFolderGivesWayToTheOneAbove(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	top := output(t, l, "pwd")
	output(t, l, "mkdir -p a/b && cd a/b && rm -rf ../../a")
	got := output(t, l, "pwd")
	if want := "[the working folder " + top + "/a/b no longer exists; running in " + top + "]\n" + top; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := output(t, l, "pwd"); got != top {
		t.Errorf("then %q", got)
	}
}

func TestServerStartedByACommandGoesOnUntilClose(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	pid := output(t, l, "sleep 300 >/dev/null 2>&1 & echo $!")
	// The number goes through a file: the loop may print before it is told.
	output(t, l, "(while :; do echo noise; sleep 0.01; done) & echo $! >noisy.pid")
	if output(t, l, "kill -0 "+pid+" $(cat noisy.pid) && echo lives") != "lives" {
		t.Error("it did not outlive its command")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if lives(number) {
		t.Error("it outlived the environment")
	}
}

// lives reports whether a process has the pid and is no zombie that only
// waits for init.
func lives(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return syscall.Kill(pid, 0) == nil && (err != nil || !strings.Contains(string(stat), ") Z "))
}

func TestManyCommandsAtOnce(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	var w sync.WaitGroup
	for range 20 {
		w.Go(func() {
			var out bytes.Buffer
			exit, err := l.Exec(t.Context(), hermes.Command{Line: "export N=1; echo x", Stdout: &out, Keep: true})
			if err != nil || exit.Code != 0 || out.String() != "x\n" {
				t.Errorf("exit %+v, error %v, output %q", exit, err, out.String())
			}
		})
	}
	w.Wait()
}

func TestTerminalOfABackgroundCommand(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	var mu sync.Mutex
	var out bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(p)
	})
	p, err := l.Start(t.Context(), hermes.Command{
		Line: `test -t 0 && test -t 1 && echo "tty $TERM $(stty size)"; read x; echo "got $x"; cd /; export T=1`, Stdout: w, Keep: true,
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Input([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("exit %+v, error %v", exit, err)
	}
	mu.Lock()
	got := out.String()
	mu.Unlock()
	if !strings.Contains(got, "tty xterm-256color 40 120") || !strings.Contains(got, "got hello") {
		t.Errorf("printed %q", got)
	}
	if got := output(t, l, `echo "$PWD $T"`); got != "/ 1" {
		t.Errorf("it left %q behind", got)
	}
}

func TestClosingEndsATerminalThatIgnoresItsHangup(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	if _, err := l.Start(t.Context(), hermes.Command{Line: "trap '' HUP TERM; (trap '' HUP TERM; sleep 300) & sleep 300"}, true); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// deadline is a context whose time is over when a test says so.
type deadline struct {
	context.Context
	over chan struct{}
	once sync.Once
}

func (d *deadline) Done() <-chan struct{} { return d.over }

func (d *deadline) Err() error {
	select {
	case <-d.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestDeadlineIsReportedAsTheCause(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	var out bytes.Buffer
	ctx := &deadline{Context: t.Context(), over: make(chan struct{})}
	w := writerFunc(func(p []byte) (int, error) {
		defer ctx.once.Do(func() { close(ctx.over) })
		return out.Write(p)
	})
	_, err := l.Exec(ctx, hermes.Command{Line: "echo before; cd /; sleep 300", Stdout: w, Keep: true})
	if !errors.Is(err, context.DeadlineExceeded) || out.String() != "before\n" {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

func TestConfiguredShellMustExist(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{Shell: "/no/such/shell"})
	if _, err := l.Exec(t.Context(), hermes.Command{Line: "true"}); err == nil || !strings.Contains(err.Error(), "/no/such/shell") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkExec(b *testing.B) {
	l := mustLocal(b, environment.LocalConfig{Env: os.Environ()})
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		c := hermes.Command{Line: "echo hello", Stdout: &out, Stderr: &out, Keep: true}
		if _, err := l.Exec(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFilesOfOthersAreNotReplaced(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everything")
	}
	path := filepath.Join(t.TempDir(), "keep.txt")
	if err := os.WriteFile(path, []byte("keep"), 0o444); err != nil {
		t.Fatal(err)
	}
	err := mustLocal(t, environment.LocalConfig{}).Files().Write(t.Context(), path, []byte("gone"), 0o644)
	if got, _ := os.ReadFile(path); !errors.Is(err, fs.ErrPermission) || string(got) != "keep" {
		t.Errorf("got %q and %v, want the file as it was and a refusal", got, err)
	}
}

func TestLinksInACircleAreReportedInWords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "circle")
	if err := os.Symlink("circle", path); err != nil {
		t.Fatal(err)
	}
	l := mustLocal(t, environment.LocalConfig{})
	_, err := l.Files().RealPath(t.Context(), path)
	if want := "its links form a loop"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}
