package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/cmd"
	"hermes/internal/confine"
	"hermes/internal/lineage"
	"hermes/internal/localsocket"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
	"hermes/internal/store/sqlite"
)

// asProgram makes the test binary be the program itself. A name that begins with
// hermes does that in any environment.
const asProgram = "HERMES_TEST_AS_PROGRAM"

// blind is a name of the program under which it does not look at its parents.
const blind = "hermes-blind"

// dialer is a name of a program that reaches running sessions in its own way: it shows the key
// of a folder to what listens at an address.
const dialer = "hermes-dialer"

func reach(ctx context.Context, folder, address string) (*remote.Client, error) {
	key, err := localsocket.Key(ctx, folder)
	if err != nil {
		return nil, err
	}
	conn, err := localsocket.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return remote.Dial(ctx, remote.NewStream(conn), remote.Hello{Key: key, Platform: "cli"})
}

func dial(folder, address string) int {
	c, err := reach(context.Background(), folder, address)
	if err != nil {
		fmt.Println("not let in:", err)
		return 1
	}
	list, err := c.Sessions(context.Background(), protocol.Filter{Live: true})
	fmt.Println("let in:", len(list), err)
	_ = c.Close()
	return 0
}

// listener is a name of a program that listens at an address in the place of an owner, and
// writes to its output what it is told.
const listener = "hermes-listener"

func listen(address string) int {
	_ = os.Remove(address)
	l, err := net.Listen("unix", address)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("listening")
	for {
		conn, err := l.Accept()
		if err != nil {
			return 1
		}
		_, _ = io.Copy(os.Stdout, conn)
		_ = conn.Close()
	}
}

// testsAt is the variable with the process that runs the tests. The program does not
// look further up: the tests may be run by an agent.
const testsAt = "HERMES_TEST_AT"

func TestMain(m *testing.M) {
	confine.Main(os.Getenv("HTTPS_PROXY")) // the program starts itself to build walls around commands
	name := filepath.Base(os.Args[0])
	if os.Getenv(asProgram) == "" && !strings.HasPrefix(name, "hermes") {
		closeInherited()
		os.Exit(m.Run())
	}
	if name == dialer {
		os.Exit(dial(os.Args[1], os.Args[2]))
	}
	if name == listener {
		os.Exit(listen(os.Args[1]))
	}
	probe := lineage.Probe{Getenv: os.Getenv}
	probe.Top, _ = strconv.Atoi(os.Getenv(testsAt)) // 0 without
	if name == blind {
		probe.Top = os.Getppid()
	}
	os.Exit(cmd.Main(cmd.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Above: probe.Look, AboveOf: probe.LookAt, Sandbox: true,
	}))
}

// user has a home of Hermes, a working folder, a home of their own and an environment.
type user struct {
	t              *testing.T
	home, dir, own string
	env            []string
}

func newUser(t *testing.T, env ...string) *user {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scenarios run shell commands of a Unix system")
	}
	p := &user{t: t, home: t.TempDir(), dir: t.TempDir(), own: t.TempDir()}
	// A program under the race detector waits a second before it ends, unless atexit_sleep_ms is 0.
	p.env = append([]string{asProgram + "=1", testsAt + "=" + strconv.Itoa(os.Getpid()), "GORACE=atexit_sleep_ms=0", "HERMES_HOME=" + p.home, "HOME=" + p.own, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}, env...)
	return p
}

func (p *user) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(p.t.Context(), os.Args[0], args...)
	c.Env, c.Dir = p.env, p.dir
	return c
}

// run runs the program until it ends.
func (p *user) run(args ...string) (out, errs string, status int) {
	p.t.Helper()
	return p.runWith("", args...)
}

func (p *user) runWith(stdin string, args ...string) (out, errs string, status int) {
	p.t.Helper()
	c := p.command(args...)
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), status
}

func (p *user) store() hermes.Store {
	p.t.Helper()
	s, err := sqlite.Open(p.t.Context(), sqlite.Config{Path: filepath.Join(p.home, "hermes.db")})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { s.Close() })
	return s
}

// serve starts a model server and returns the variables that point at it.
func serve(t *testing.T, decide func(*chatserver.Request) (chatserver.Answer, error)) []string {
	t.Helper()
	s := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: decide})
	t.Cleanup(s.Close)
	return []string{"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=k"}
}

func call(name string, args any) chatserver.Answer {
	raw, _ := json.Marshal(args)
	return chatserver.Answer{Calls: []chatserver.Call{{ID: "call_" + name, Type: "function", Function: chatserver.Function{Name: name, Arguments: string(raw)}}}}
}

// lastIs reports whether the last message has a role.
func lastIs(r *chatserver.Request, role string) bool {
	return r.Messages[len(r.Messages)-1].Role == role
}

func results(r *chatserver.Request) (n int) {
	for _, m := range r.Messages {
		if m.Role == "tool" {
			n++
		}
	}
	return n
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	for name, tt := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"version":             {[]string{"--version"}, 0, "hermes "},
		"no model":            {[]string{"-z", "hi"}, 2, "no model is configured"},
		"an unknown flag":     {[]string{"--nope"}, 2, "--nope"},
		"not a command":       {[]string{"frobnicate"}, 2, `unknown command "frobnicate"; to ask a question, run: hermes -z "frobnicate"`},
		"nothing to answer":   {[]string{"-z", ""}, 2, "nothing to answer"},
		"an unknown session":  {[]string{"--resume", "nope", "-z", "hi", "-m", "x:y"}, 1, ""},
		"a missing image":     {[]string{"-z", "hi", "--image", "nope.png", "-m", "openai:x"}, 2, "nope.png"},
		"a folder that is no": {[]string{"--in", "/nope/nope", "-z", "hi"}, 2, "/nope/nope"},
		"an unknown profile":  {[]string{"-p", "nope", "sessions", "list"}, 1, "nope"},
		"an unknown toolset":  {[]string{"-z", "hi", "-m", "openai:x", "-t", "file,nope"}, 2, `unknown toolset or tool "nope"; list them with ` + "`hermes tools`"},
		"an argument missing": {[]string{"sessions", "show"}, 2, "hermes sessions show"},
		"a number that is no": {[]string{"sessions", "list", "--limit", "x"}, 2, "--limit needs a number, not \"x\"\nRun"},
	} {
		out, errs, status := p.run(tt.args...)
		if status != tt.status || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%s: status %d, want %d\n%s%s", name, status, tt.status, out, errs)
		}
		if strings.Contains(errs, "goroutine") || strings.Contains(errs, "panic") || strings.Contains(errs, "strconv") {
			t.Errorf("%s: a panic reached the user:\n%s", name, errs)
		}
	}
}

func TestOneShotDoesRealWork(t *testing.T) {
	t.Parallel()
	env := serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		switch results(r) {
		case 0:
			return call("write_file", map[string]string{"path": "hello.sh", "content": "echo hello $((40+2))\n"}), nil
		case 1:
			return call("terminal", map[string]string{"command": "sh hello.sh"}), nil
		}
		if !strings.Contains(r.Messages[len(r.Messages)-1].Text(), "hello 42") {
			return chatserver.Answer{}, fmt.Errorf("the command's output is missing: %s", r.Messages[len(r.Messages)-1].Text())
		}
		return chatserver.Answer{Text: "It prints hello 42."}, nil
	})
	p := newUser(t, env...)
	report := filepath.Join(p.dir, "usage.json")
	out, errs, status := p.run("-z", "write and run hello.sh", "-m", "played", "--usage-file", report)
	if status != 0 || out != "It prints hello 42.\n" {
		t.Fatalf("status %d, out %q, errs %q", status, out, errs)
	}
	var u struct {
		Calls     int    `json:"api_calls"`
		Session   string `json:"session_id"`
		Completed bool
	}
	raw, err := os.ReadFile(report)
	if err != nil || json.Unmarshal(raw, &u) != nil || u.Calls != 3 || !u.Completed || u.Session == "" {
		t.Errorf("usage report %s, %v", raw, err)
	}
	if out, _, _ := p.run("sessions", "search", "42"); !strings.Contains(out, u.Session) {
		t.Errorf("the session is not found: %s", out)
	}
}

// TestFirstRequestIsSmall sees what every user pays for with every new session.
func TestFirstRequestIsSmall(t *testing.T) {
	t.Parallel()
	const limit = 16_000 // with all tools that are on by default
	var size int
	p := newUser(t)
	p.env = append(p.env, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		for _, folder := range []string{p.home, p.dir, p.own} { // as long as each test makes them
			size -= strings.Count(string(r.Body), folder) * len(folder)
		}
		size += len(r.Body)
		return chatserver.Answer{Text: "Hello."}, nil
	})...)
	if _, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	if size < limit/2 || size > limit {
		t.Errorf("the first request has %d bytes beside the names of folders, want at most %d", size, limit)
	}
}

func TestPipedTextIsPartOfTheMessage(t *testing.T) {
	t.Parallel()
	env := serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "got: " + r.Messages[len(r.Messages)-1].Text()}, nil
	})
	p := newUser(t, env...)
	out, errs, _ := p.runWith("line one\nline two\n", "-z", "sum up", "-m", "played")
	if out != "got: sum up\n\nline one\nline two\n" {
		t.Errorf("out %q, errs %q", out, errs)
	}
	if out, errs, status := p.runWith("just this", "chat", "-Q", "-m", "played"); status != 0 || strings.TrimSpace(out) != "got: just this" {
		t.Errorf("out %q, errs %q", out, errs)
	}
}

func TestDangerousCommandsNeedAUser(t *testing.T) {
	t.Parallel()
	decide := func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) == 0 {
			return call("terminal", map[string]string{"command": "rm -rf victim"}), nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	}
	p := newUser(t, serve(t, decide)...)
	victim := filepath.Join(p.dir, "victim")
	if err := os.Mkdir(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	out, _, _ := p.run("-z", "go", "-m", "played")
	if _, err := os.Stat(victim); err != nil || !strings.Contains(out, "BLOCKED") {
		t.Errorf("the command ran although no one was asked: %s", out)
	}
	p.env = append(p.env, "HERMES_YOLO_MODE=1")
	out, _, _ = p.run("-z", "go", "-m", "played")
	if _, err := os.Stat(victim); err == nil {
		t.Errorf("HERMES_YOLO_MODE=1 did not let it run: %s", out)
	}
}

func TestDenyHoldsInYoloMode(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) == 0 {
			return call("terminal", map[string]string{"command": "echo x; rm -rf /"}), nil
		}
		return chatserver.Answer{Text: r.Messages[len(r.Messages)-1].Text()}, nil
	})...)
	out, _, _ := p.run("--yolo", "-z", "go", "-m", "played")
	if !strings.Contains(out, "BLOCKED") {
		t.Errorf("answer %s", out)
	}
}

// TestKilledTurnGoesOn kills the program while a command runs. Nothing that was
// stored is lost, the model learns that the outcome is unknown, and the turn
// continues.
func TestKilledTurnGoesOn(t *testing.T) {
	t.Parallel()
	env := serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if lastIs(r, "user") && results(r) == 0 {
			return call("terminal", map[string]string{"command": "touch began; sleep 60"}), nil
		}
		return chatserver.Answer{Text: "last: " + r.Messages[len(r.Messages)-1].Text()}, nil
	})
	p := newUser(t, env...)
	c := p.command("-z", "begin the work", "-m", "played")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	began := filepath.Join(p.dir, "began")
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if _, err := os.Stat(began); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command never began")
		}
		runtime.Gosched()
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed on purpose
	s := p.store()
	list, err := s.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(list) != 1 || list[0].Messages != 2 {
		t.Fatalf("stored %+v, %v", list, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The lease has not expired, but its owner has ended.
	out, errs, status := p.run("--resume", list[0].ID, "-z", "what happened?", "-m", "played")
	if status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	if !strings.Contains(out, "what happened?") {
		t.Errorf("answer %q", out)
	}
	s = p.store()
	messages, err := s.Messages(t.Context(), list[0].ID, hermes.Range{})
	if err != nil || len(hermes.OpenCalls(messages)) > 0 {
		t.Fatalf("%v, %v", messages, err)
	}
	if got := messages[2].Text(); !strings.Contains(got, "outcome is unknown") {
		t.Errorf("the open call is answered with %q", got)
	}
}

func TestInterruptedOneShotIsStored(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	hold := make(chan struct{})
	env := serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		asked <- struct{}{}
		<-hold
		return chatserver.Answer{Text: "too late"}, nil
	})
	t.Cleanup(func() { close(hold) }) // before the server is closed
	p := newUser(t, env...)
	c := p.command("-z", "think long", "-m", "played")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 {
		t.Errorf("ended with %v, want status 130", err)
	}
	list, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(list) != 1 || list[0].Messages == 0 {
		t.Errorf("stored %+v, %v", list, err)
	}
}

func TestTwoProgramsShareAHome(t *testing.T) {
	t.Parallel()
	env := serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if results(r) < 5 {
			return call("terminal", map[string]string{"command": "echo hi"}), nil
		}
		return chatserver.Answer{Text: "done"}, nil
	})
	p := newUser(t, env...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if out, errs, status := p.run("-z", "go", "-m", "played"); status != 0 || out != "done\n" {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
		})
	}
	wg.Wait()
	list, err := p.store().ListSessions(context.Background(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(list) != 4 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for _, s := range list {
		if s.Messages != 12 {
			t.Errorf("session %s has %d messages", s.ID, s.Messages)
		}
	}
}

func TestDamagedDatabaseIsNotChanged(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "hi"}, nil })...)
	path := filepath.Join(p.home, "hermes.db")
	rubbish := bytes.Repeat([]byte("this is no database "), 1000)
	if err := os.WriteFile(path, rubbish, 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, status := p.run("-z", "hi", "-m", "played")
	if status != 1 || !strings.Contains(errs, path) {
		t.Errorf("status %d: %s", status, errs)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, rubbish) {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestBrokenConfigIsReportedAndNeverChanged(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "hi"}, nil })...)
	path := filepath.Join(p.home, "config.yaml")
	broken := "model:\n  default: played\n   provider: [\n"
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status := p.run("-z", "hi", "-m", "played")
	if status != 0 || out != "hi\n" || !strings.Contains(errs, "config.yaml") {
		t.Errorf("status %d: %q %q", status, out, errs)
	}
	if _, errs, status := p.run("config", "set", "agent.max_turns", "5"); status == 0 {
		t.Errorf("a broken file was written to: %s", errs)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != broken {
		t.Errorf("the file was changed to %q", after)
	}
}

func TestReferencesAttachWhatTheyPointAt(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "got: " + r.Messages[len(r.Messages)-1].Text()}, nil
	})...)
	for name, text := range map[string]string{"notes.txt": "one\ntwo\nthree\n", ".env": "API_KEY=abcdefghij0123456789\n"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{"see @notes.txt:2-3": "two\nthree", "see @notes.txt:9": "it has 3 lines", "mail bob@notes.txt, @bob": "@bob"} {
		if out, _, status := p.run("-z", text, "-m", "played"); status != 0 || !strings.Contains(out, want) || strings.Contains(out, "one\n") {
			t.Errorf("%s: status %d: %s", text, status, out)
		}
	}
	out, _, status := p.run("-z", "see @file:notes.txt:2-3 and @file:.env and @file:/etc/passwd", "-m", "played")
	if status != 0 || !strings.Contains(out, "two\nthree") || strings.Contains(out, "one\n") {
		t.Errorf("status %d: %s", status, out)
	}
	for _, not := range []string{"abcdefghij", "root:"} {
		if strings.Contains(out, not) {
			t.Errorf("%q was attached: %s", not, out)
		}
	}
	if !strings.Contains(out, "Not attached") {
		t.Errorf("it does not say what was not attached: %s", out)
	}
	shown, _, _ := p.run("sessions", "search", "three")
	if !strings.Contains(shown, "see @file") && shown == "" {
		t.Errorf("search: %s", shown)
	}
}

func TestHomeThatCannotBeMadeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	file := filepath.Join(p.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "HERMES_HOME="+filepath.Join(file, "home"))
	if _, errs, status := p.run("sessions", "list"); status != 1 || !strings.Contains(errs, "set HERMES_HOME") {
		t.Errorf("status %d, %s", status, errs)
	}
}

func TestEditorThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	for editor, says := range map[string]string{"/nope/editor": "set EDITOR", "false": "exited with status 1"} {
		p := newUser(t, "EDITOR="+editor)
		_, errs, status := p.run("config", "edit")
		if status != 1 || !strings.Contains(errs, says) || !strings.Contains(errs, editor) {
			t.Errorf("%s: status %d, %s", editor, status, errs)
		}
	}
}

func TestSettingsCanBeUndone(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	path := filepath.Join(p.home, "config.yaml")
	first := "# mine\nagent:\n  max_turns: 7 # few\n"
	if err := os.WriteFile(path, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := p.run("config", "set", "agent.max_turns", "9"); status != 0 {
		t.Fatal(out, errs)
	}
	if out, errs, status := p.run("undo"); status != 1 || !strings.Contains(out, "max_turns: 7") || !strings.Contains(errs, "--yes") {
		t.Errorf("without a terminal: status %d, %s%s", status, out, errs)
	}
	if out, errs, status := p.run("undo", "--yes"); status != 0 {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != first {
		t.Errorf("the file is %q, %v", after, err)
	}
}

func TestLearningsCanBeUndone(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	run := func(want string, args ...string) {
		t.Helper()
		if out, errs, status := p.run(args...); status != 0 || !strings.Contains(out, want) {
			t.Errorf("%v: status %d, %s%s, want %q", args, status, out, errs, want)
		}
	}
	run("Added 1", "learning", "add", "error: externally-managed-environment", "use uv")
	run("Added 2", "learning", "add", "fatal: this is no repository", "git init")
	run("Merged into 1", "learning", "merge", "1", "2")
	run("Undid 1 change.", "undo", "--yes")
	run("use uv\n", "learning", "show", "1")
	run("git init\n", "learning", "show", "2")
	run("Deleted 2", "learning", "delete", "2")
	run("Undid 3 changes.", "undo", "--yes", "--since", "1h")
	run("No learnings found", "learning", "list", "--all")
}

// TestUnfinishedWorkIsNoSuccess: scripts get the work so far as text, and an exit
// status that says that it is incomplete.
func TestUnfinishedWorkIsNoSuccess(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if len(r.Tools) == 0 || strings.Contains(r.Messages[len(r.Messages)-1].Text(), "limit") {
			return chatserver.Answer{Text: "As far as I came."}, nil
		}
		return call("terminal", map[string]string{"command": "echo " + strconv.Itoa(len(r.Messages))}), nil
	})...)
	out, errs, status := p.run("-z", "work", "-m", "played", "--max-turns", "2")
	if status != 1 || out == "" {
		t.Errorf("a step limit: status %d, out %q, errs %q", status, out, errs)
	}
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte("spend: {turn: {tokens: 10}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, status = p.run("-z", "work", "-m", "played")
	if status != 1 || !strings.Contains(out, "the spend cap for this turn") {
		t.Errorf("a spend cap: status %d, out %q, errs %q", status, out, errs)
	}
}
