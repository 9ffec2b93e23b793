package hermestest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
)

// RunEnvironment is the contract suite of [hermes.Environment] and its files.
// open returns a new environment whose current folder is empty and writable;
// the suite closes it. The shell must be a POSIX shell.
func RunEnvironment(t *testing.T, open func(t *testing.T) hermes.Environment) {
	t.Helper()
	for _, c := range environmentCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.run(t, e)
		})
	}
}

type environmentCase struct {
	name string
	run  func(*testing.T, hermes.Environment)
}

func environmentCases() []environmentCase {
	return []environmentCase{
		{"exit status is not an error", exitStatus},
		{"streams", streams},
		{"folder and variables of one command", oneCommand},
		{"what is kept", kept},
		{"a missing folder is an error", missingFolder},
		{"the end of the context ends the command", contextEnds},
		{"a command has its time to end", hasGrace},
		{"the end of the context ends what the command started", endsInside},
		{"background commands", backgroundCommands},
		{"kill ends what a background command started", killEnds},
		{"long lines", longLines},
		{"many commands at once", manyAtOnce},
		{"streams carry any bytes", exactStreams},
		{"close ends everything", closeEnds},
		{"files and commands see the same", sameFiles},
		{"writing files", writingFiles},
		{"listing, removing, renaming", changingFolders},
		{"missing files", missingFiles},
		{"links", links},
		{"where paths lead", lead},
		{"new files obey the umask", umask},
		{"files that follow no link", noLinks},
		{"paths", paths},
		{"description", description},
		{"limits hold or refuse the command", limitsHold},
	}
}

// do runs a line with Keep set and returns its output.
func do(t *testing.T, e hermes.Environment, line string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	exit, err := e.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out, Keep: true})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return out.String(), exit.Code
}

// says fails unless a line prints exactly this.
func says(t *testing.T, e hermes.Environment, line, want string) {
	t.Helper()
	if got, _ := do(t, e, line); strings.TrimSuffix(got, "\n") != want {
		t.Errorf("%s printed %q, want %q", line, got, want)
	}
}

func exitStatus(t *testing.T, e hermes.Environment) {
	for line, want := range map[string]int{
		"true": 0, "false": 1, "exit 42": 42, "no-such-program-at-all": 127, "kill -KILL $$": 137, "(exit 7)": 7,
	} {
		if _, got := do(t, e, line); got != want {
			t.Errorf("%s: exit status %d, want %d", line, got, want)
		}
	}
}

func streams(t *testing.T, e hermes.Environment) {
	var out, errs bytes.Buffer
	_, err := e.Exec(t.Context(), hermes.Command{
		Line: "cat; echo problem >&2", Stdin: strings.NewReader("given"), Stdout: &out, Stderr: &errs,
	})
	if err != nil || out.String() != "given" || errs.String() != "problem\n" {
		t.Errorf("got %q and %q, error %v", out.String(), errs.String(), err)
	}
	says(t, e, "echo a; echo b >&2; echo c", "a\nb\nc")
	says(t, e, "cat", "") // without Stdin the input is empty
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "echo unheard; echo unheard >&2"}); err != nil {
		t.Errorf("no writers: %v", err)
	}
}

func oneCommand(t *testing.T, e hermes.Environment) {
	do(t, e, "mkdir sub")
	var out bytes.Buffer
	c := hermes.Command{Line: `basename "$PWD"; echo "$ONE"`, Dir: "sub", Env: []string{"ONE=a b'\"$c"}, Stdout: &out}
	if _, err := e.Exec(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "sub\na b'\"$c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	says(t, e, `echo "${ONE-unset}"; test -d sub && echo here`, "unset\nhere")
}

func kept(t *testing.T, e hermes.Environment) {
	do(t, e, "mkdir -p 'a b/c'; cd 'a b'; export KEPT=1; LOCAL=2")
	says(t, e, `basename "$PWD"; echo "$KEPT ${LOCAL-unset}"`, "a b\n1 unset")
	for _, c := range []struct{ line, show, want string }{
		{"cd c; exit 3", `basename "$PWD"`, "c"},
		{"set -e; cd ..; false; echo never", `basename "$PWD"`, "a b"},
		{"unset KEPT", `echo "${KEPT-unset}"`, "unset"},
		{"export ODD='it'\"'\"'s \"odd\" $x `y` \\ é'", `printf %s "$ODD"`, "it's \"odd\" $x `y` \\ é"},
		{"export LINES2='one\ntwo\t'", `printf %s "$LINES2"`, "one\ntwo\t"},
		{"trap 'echo bye' EXIT; export TRAPPED=yes", `echo "$TRAPPED"`, "yes"},
		{"mkdir gone && cd gone && rmdir ../gone", "true", ""},
	} {
		do(t, e, c.line)
		if got, _ := do(t, e, c.show); c.want != "" && strings.TrimSuffix(got, "\n") != c.want {
			t.Errorf("after %q: %s printed %q, want %q", c.line, c.show, got, c.want)
		}
	}
	if _, code := do(t, e, "pwd"); code != 0 {
		t.Error("no command runs after the working folder was deleted")
	}
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "cd /; export LOST=1"}); err != nil {
		t.Fatal(err)
	}
	says(t, e, `test "$PWD" != / && echo "${LOST-unset}"`, "unset")
}

func missingFolder(t *testing.T, e hermes.Environment) {
	_, err := e.Exec(t.Context(), hermes.Command{Line: "true", Dir: "no/such/folder"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not say that the folder is missing", err)
	}
}

// hasGrace ends a command that needs longer than usual to end by itself.
func hasGrace(t *testing.T, e hermes.Environment) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &signalWriter{said: make(chan struct{})}
	go func() { // ends with the command's first word, or with the test
		select {
		case <-out.said:
		case <-t.Context().Done():
		}
		cancel()
	}()
	line := "trap 'sleep 2; echo late >late; exit' TERM; echo begun; while :; do sleep 1; done"
	if _, err := e.Exec(ctx, hermes.Command{Line: line, Stdout: out, Grace: 10 * time.Second}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	says(t, e, "cat late", "late")
}

func contextEnds(t *testing.T, e hermes.Environment) {
	cause := errors.New("the user said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := &signalWriter{said: make(chan struct{})}
	done := make(chan error)
	begin := time.Now()
	go func() {
		_, err := e.Exec(ctx, hermes.Command{Line: "echo started; sleep 300; sleep 300", Stdout: out})
		done <- err
	}()
	select {
	case <-out.said:
	case err := <-done:
		t.Fatalf("ended early: %v", err)
	}
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	says(t, e, "echo still here", "still here")
}

// signalWriter closes said at the first write.
type signalWriter struct {
	said chan struct{}
	bytes.Buffer
}

func (w *signalWriter) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		close(w.said)
	}
	return w.Buffer.Write(p)
}

func backgroundCommands(t *testing.T, e hermes.Environment) {
	s, ok := e.(hermes.Starter)
	if !ok {
		t.Skip("it starts nothing in the background")
	}
	var out bytes.Buffer
	p := mustStart(t, s, hermes.Command{Line: "cat; exit 5", Stdout: &out})
	if err := p.Input([]byte("typed\n")); err != nil {
		t.Errorf("input: %v", err)
	}
	if err := p.CloseInput(); err != nil {
		t.Errorf("close input: %v", err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 5 || out.String() != "typed\n" {
		t.Errorf("exit %+v, error %v, output %q", exit, err, out.String())
	}
	if err := p.Input([]byte("late")); err == nil {
		t.Error("input to an ended process gave no error")
	}
	long := mustStart(t, s, hermes.Command{Line: "sleep 300"})
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := long.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting too short: %v", err)
	}
	if err := long.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	if exit, err := long.Wait(t.Context()); err != nil || exit.Code == 0 {
		t.Errorf("after kill: exit %+v, error %v", exit, err)
	}
}

func mustStart(t *testing.T, s hermes.Starter, c hermes.Command) hermes.Process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := s.Start(ctx, c, false)
	cancel() // the context limits only the start
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closeEnds(t *testing.T, e hermes.Environment) {
	var p hermes.Process
	if s, ok := e.(hermes.Starter); ok {
		p = mustStart(t, s, hermes.Command{Line: "sleep 300"})
	}
	out := &signalWriter{said: make(chan struct{})}
	done := make(chan error)
	go func() {
		_, err := e.Exec(t.Context(), hermes.Command{Line: "echo started; sleep 300", Stdout: out})
		done <- err
	}()
	<-out.said
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-done; err == nil {
		t.Error("a command that Close ended returned no error")
	}
	if p != nil {
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("the background process still runs: %v", err)
		}
	}
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "true"}); err == nil {
		t.Error("a closed environment runs commands")
	}
}

func sameFiles(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir dir; cd dir; printf 'from the shell' >one")
	if got := mustRead(t, f, "one"); got != "from the shell" {
		t.Errorf("read %q", got)
	}
	if err := f.Write(ctx, "two", []byte("from outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	says(t, e, "cat two; cd ..; cat dir/two", "from outsidefrom outside")
	if got := mustRead(t, f, "dir/one"); got != "from the shell" {
		t.Errorf("after cd, read %q", got)
	}
}

func mustRead(t *testing.T, f hermes.Files, path string) string {
	t.Helper()
	r, err := f.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writingFiles(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	all := make([]byte, 0, 200_000)
	for len(all) < 200_000 {
		all = append(all, byte(len(all)), '\n', 0, 0xff, '\'')
	}
	if err := f.Write(ctx, "deep/er/all 'of' it", all, 0o640); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, f, "deep/er/all 'of' it"); got != string(all) {
		t.Errorf("%d bytes came back changed", len(got))
	}
	if info, err := f.Stat(ctx, "deep/er/all 'of' it"); err != nil || info.Size() != int64(len(all)) || info.IsDir() || info.Name() != "all 'of' it" {
		t.Errorf("stat: %+v, error %v", info, err)
	}
	do(t, e, "printf x >script; chmod 755 script")
	if err := f.Write(ctx, "script", []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(ctx, "script"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode of an existing file is not kept: %v, error %v", info, err)
	}
	if err := f.Write(ctx, "empty", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, f, "empty"); got != "" {
		t.Errorf("read %q from an empty file", got)
	}
	if err := f.Write(ctx, "deep", []byte("x"), 0o600); err == nil {
		t.Error("a folder can be overwritten by a file")
	}
	says(t, e, "ls -A deep/er | wc -l | tr -d ' '", "1") // no temporary files remain
}

func changingFolders(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir d; printf 12345 >d/file; mkdir d/sub; printf x >d/.hidden; printf y >'d/ two  words'")
	entries, err := f.List(ctx, "d")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		if info, err := entry.Info(); err != nil || name == "file" && info.Size() != 5 {
			t.Errorf("%s: info %v, error %v", name, info, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{" two  words", ".hidden", "file", "sub/"}; !slices.Equal(names, want) {
		t.Errorf("listed %q, want %q", names, want)
	}
	if entries, err := f.List(ctx, "d/sub"); err != nil || len(entries) != 0 {
		t.Errorf("an empty folder lists %v, error %v", entries, err)
	}
	if err := f.Rename(ctx, "d/file", "d/.hidden"); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, f, "d/.hidden"); got != "12345" {
		t.Errorf("after the rename, read %q", got)
	}
	if err := f.Remove(ctx, "d/.hidden"); err != nil {
		t.Errorf("remove a file: %v", err)
	}
	if err := f.Remove(ctx, "d/sub"); err != nil {
		t.Errorf("remove an empty folder: %v", err)
	}
	if err := f.Remove(ctx, "d"); err == nil {
		t.Error("a folder with something in it was removed")
	}
}

func missingFiles(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	_, statErr := f.Stat(ctx, "none")
	_, listErr := f.List(ctx, "none")
	r, openErr := f.Open(ctx, "none")
	if openErr == nil { // the error may come only with the first read
		_, openErr = io.ReadAll(r)
		r.Close()
	}
	_, realErr := f.RealPath(ctx, "none/at/all")
	for name, err := range map[string]error{
		"stat": statErr, "list": listErr, "open": openErr, "real path": realErr,
		"remove": f.Remove(ctx, "none"), "rename": f.Rename(ctx, "none", "other"),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v is not fs.ErrNotExist", name, err)
		}
	}
}

func links(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir real; printf old >real/file; ln -s real dir; ln -s real/file link; ln -s real/new dangling")
	base, err := f.RealPath(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"dir/file": "/real/file", "link": "/real/file", "dir/not-yet": "/real/not-yet", "dangling": "/real/new", "real/../link": "/real/file",
	} {
		if got, err := f.RealPath(ctx, path); err != nil || got != base+want {
			t.Errorf("real path of %s: %q, error %v, want …%s", path, got, err, want)
		}
	}
	if info, err := f.Stat(ctx, "dir"); err != nil || !info.IsDir() {
		t.Errorf("stat does not follow links: %v, error %v", info, err)
	}
	if err := f.Write(ctx, "link", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, e, "cat real/file; test -L link && echo ' link'", "new link")
}

// lead compares the answers of one look with those that are asked one by one.
func lead(t *testing.T, e hermes.Environment) {
	l, ok := e.Files().(hermes.LocatingFiles)
	if !ok {
		t.Skip("these files are asked one by one")
	}
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir -p 'real/a b\n'; printf old >real/file; ln -s real dir; ln -s real/file link; ln -s real/new dangling; ln -s loop loop; printf x >\"real/q'\nuote\"; ln -s / top")
	base, err := f.RealPath(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{ // where it leads, if that is not where it is
		"": "", "/real/file": "", "/dir/file": "/real/file", "/link": "/real/file", "/dangling": "/real/new", "/loop": "", "/dir/not/yet/there": "/real/not/yet/there",
		"/dir": "/real", "/real/a b\n": "", "/dir/q'\nuote": "/real/q'\nuote", "/top/no-such-folder/x": "../no-such-folder/x", "/top": "..",
	}
	var asked []string
	for p := range wants {
		asked = append(asked, base+p)
	}
	found, err := l.Locate(ctx, asked...)
	if err != nil || len(found) != len(asked) {
		t.Fatalf("%d answers, error %v", len(found), err)
	}
	for i, p := range asked {
		got, short := found[i], strings.TrimPrefix(p, base)
		want := base + cmp.Or(wants[short], short)
		if above, ok := strings.CutPrefix(wants[short], ".."); ok {
			want = path.Join("/", above)
		}
		if got.Real != want {
			t.Errorf("%q leads to %q, want %q", short, got.Real, want)
		}
		if dir, err := f.RealPath(ctx, path.Dir(p)); err == nil && got.Dir != dir {
			t.Errorf("the folder of %q is %q, want %q", short, got.Dir, dir)
		}
		info, err := f.Stat(ctx, want)
		if (err == nil) != (got.Info != nil) {
			t.Errorf("%q: %v, and asked alone %v", short, got.Info, err)
		} else if err == nil && (got.Info.Mode() != info.Mode() || got.Info.Size() != info.Size() || !got.Info.ModTime().Equal(info.ModTime()) || got.Info.Name() != info.Name()) {
			t.Errorf("%q: %v, and asked alone %v", short, got.Info, info)
		}
	}
}

func noLinks(t *testing.T, e hermes.Environment) {
	linkless, ok := e.Files().(hermes.LinklessFiles)
	if !ok {
		t.Skip("these files cannot refuse links")
	}
	f, ctx := linkless.NoLinks(), t.Context()
	do(t, e, "mkdir -p real/sub; printf old >real/file; ln -s real dir; ln -s real/file link; ln -s real/new dangling")
	base, err := f.RealPath(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("new")
	for name, err := range map[string]error{
		"write below a link": f.Write(ctx, base+"/dir/x", data, 0o644), "write deep below a link": f.Write(ctx, base+"/dir/a/b", data, 0o644),
		"write a link": f.Write(ctx, base+"/link", data, 0o644), "write a link to nothing": f.Write(ctx, base+"/dangling", data, 0o644),
		"remove below a link": f.Remove(ctx, base+"/dir/file"), "rename from below a link": f.Rename(ctx, base+"/dir/file", base+"/x"),
		"rename to below a link": f.Rename(ctx, base+"/real/file", base+"/dir/x"),
	} {
		if !errors.Is(err, hermes.ErrLink) {
			t.Errorf("%s: error %v, want ErrLink", name, err)
		}
	}
	for _, name := range []string{"/dir/file", "/link", "/dangling"} {
		r, err := f.Open(ctx, base+name)
		if err == nil { // the error may come only with the first read
			_, err = io.ReadAll(r)
			r.Close()
		}
		if !errors.Is(err, hermes.ErrLink) {
			t.Errorf("open %s: error %v, want ErrLink", name, err)
		}
	}
	if got := mustRead(t, f, base+"/real/file"); got != "old" {
		t.Errorf("read %q", got)
	}
	for _, name := range []string{"/none", "/none/below"} {
		if err := f.Remove(ctx, base+name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %s, which is missing: error %v", name, err)
		}
	}
	says(t, e, "cat real/file; find . | wc -l | tr -d ' '", "old7")
	for name, err := range map[string]error{
		"write": f.Write(ctx, base+"/real/file", data, 0o644), "write deeper": f.Write(ctx, base+"/real/a b/c/file", data, 0o644),
		"remove a link": f.Remove(ctx, base+"/link"), "rename over a link": f.Rename(ctx, base+"/real/sub", base+"/real/other"),
		"rename": f.Rename(ctx, base+"/real/a b/c/file", base+"/moved/file"),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func umask(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "touch from-shell; mkdir folder; printf x >existing; chmod 666 existing")
	for _, name := range []string{"from-tool", "sub/from-tool", "existing"} {
		if err := f.Write(ctx, name, []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	for name, like := range map[string]string{"from-tool": "from-shell", "sub/from-tool": "from-shell", "sub": "folder"} {
		got, err := f.Stat(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Stat(ctx, like)
		if err != nil {
			t.Fatal(err)
		}
		if got.Mode() != want.Mode() {
			t.Errorf("%s has mode %v, one of the shell %v", name, got.Mode(), want.Mode())
		}
	}
	if err := f.Write(ctx, "exact", []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"existing", "exact"} {
		if info, err := f.Stat(ctx, name); err != nil || info.Mode().Perm() != 0o666 {
			t.Errorf("%s: mode %v, error %v, want 0666", name, info, err)
		}
	}
}

func paths(t *testing.T, e hermes.Environment) {
	f := e.Files()
	here, err := f.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a/../b": here + "/b", "/etc/./x/": "/etc/x", "": ""} {
		got, err := f.Resolve(path)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q resolves to %q, error %v, want %q", path, got, err, want)
		}
	}
	if got, err := f.Resolve("~/x"); err != nil || strings.Contains(got, "~") || !strings.HasSuffix(got, "/x") {
		t.Errorf("~/x resolves to %q, error %v", got, err)
	}
	do(t, e, "mkdir below; cd below")
	if got, err := f.Resolve("x"); err != nil || got != here+"/below/x" {
		t.Errorf("after cd, x resolves to %q, error %v", got, err)
	}
}

// description: an environment says where its commands run.
func description(t *testing.T, e hermes.Environment) {
	d := e.Describe(t.Context())
	if d.System == "" || d.Arch == "" || d.Shell == "" {
		t.Errorf("described itself as %+v, without system, architecture or shell", d)
	}
	if d.Isolation.Text == "" || d.Isolation.Holds && d.Isolation.Walls() == "" {
		t.Errorf("its isolation is %+v", d.Isolation)
	}
}

// limitsHold: a limit ends the command or is refused before it runs; it is never ignored.
func limitsHold(t *testing.T, e hermes.Environment) {
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "sleep 300", Limits: hermes.Limits{Time: 50 * time.Millisecond}}); !errors.Is(err, hermes.ErrTimeLimit) {
		t.Errorf("a command past its time ended with %v, want ErrTimeLimit", err)
	}
	var out bytes.Buffer
	exit, err := e.Exec(t.Context(), hermes.Command{Line: "echo x >limited && echo written", Stdout: &out, Limits: hermes.Limits{Write: []string{}}})
	if err == nil && exit.Code == 0 || out.Len() > 0 {
		t.Errorf("a command that may write nothing wrote: %q, exit %d, %v", out.String(), exit.Code, err)
	}
}
