//go:build unix

package singularity_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/checkpoint"
	"hermes/internal/checkpoint/checkpointtest"
	"hermes/internal/environment/remote"
	"hermes/internal/environment/singularity"
	"hermes/internal/liveness"
	"hermes/internal/proc"
)

// client makes a stand-in for the client and returns a configuration that uses it, and its
// folder of instances.
func client(t *testing.T, root string) (singularity.Config, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"state", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "apptainer")
	at, err := filepath.Abs("standin_test.sh") // a copy could be busy while another test starts a program
	if err == nil {
		err = os.Symlink(at, program)
	}
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "state")
	return singularity.Config{
		Image: "docker://debian", Program: program, Folder: filepath.Join(dir, "containers"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "STATE=" + state, "ROOT=" + root, "TMPDIR=" + filepath.Join(dir, "tmp"), "SECRET=of-the-host"},
	}, state
}

// mustOpen returns an environment in an empty folder, and checks that it leaves nothing.
func mustOpen(t *testing.T, c singularity.Config, state, dir string) *remote.Environment {
	t.Helper()
	r, err := singularity.New(c)
	if err != nil {
		t.Fatal(err)
	}
	e := remote.New(remote.Config{Runner: r, Dir: dir})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		for _, folder := range []string{filepath.Join(filepath.Dir(state), "tmp"), c.Folder} {
			if left, err := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("left in %s: %v, %v", folder, left, err)
			}
		}
		if left, _ := os.ReadDir(state); len(left) > 1 { // and the log
			t.Errorf("instances left: %v", left)
		}
	})
	return e
}

func TestSingularityKeepsTheContract(t *testing.T) {
	t.Parallel()
	hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
		c, state := client(t, "")
		return mustOpen(t, c, state, t.TempDir())
	})
}

// TestCheckpointsUndoRandomChangesInAnInstance, of tools and commands, with edits of the user in
// between.
func TestCheckpointsUndoRandomChangesInAnInstance(t *testing.T) {
	t.Parallel()
	c, state := client(t, "")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.Env = append(c.Env, "INSIDE_HOME="+filepath.Join(base, "home"))
	e := mustOpen(t, c, state, base)
	store := checkpoint.New(checkpoint.Config{Folder: filepath.Join(base, "mirror"), Place: e})
	s := checkpointtest.In(e, e.Files().Write, store, filepath.Join(base, "project"))
	s.Rounds = 10
	s.UndoesRandomChanges(t, 3)
}

// TestBusyboxAloneIsEnough runs commands and files in a file system that has busybox and
// nothing else. What runs in the background is not tried: proot waits for it.
func TestBusyboxAloneIsEnough(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"proot", "busybox"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	root := mustRoot(t)
	c, state := client(t, root)
	e := mustOpen(t, c, state, "/work")
	if d := e.Describe(t.Context()); d.Shell != "sh" || d.System != "Linux" || d.Home != "/root" {
		t.Errorf("described as %+v", d)
	}
	var out bytes.Buffer
	exit, err := e.Exec(t.Context(), hermes.Command{Line: "cat; export A=kept; mkdir sub; cd sub; exit 3", Stdin: strings.NewReader("in"), Stdout: &out, Keep: true})
	if err != nil || exit.Code != 3 || out.String() != "in" {
		t.Errorf("exit %+v, %q, %v", exit, out.String(), err)
	}
	if got := output(t, e, "echo $A; pwd; ls /"); got != "kept\n/work/sub\nbin\ndev\nproc\nroot\ntmp\nwork" {
		t.Errorf("got %q", got)
	}
	f := e.Files()
	if err := f.Write(t.Context(), "~/a", []byte("text"), 0o600); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(root, "root", "a")); err != nil || string(b) != "text" {
		t.Errorf("wrote %q, %v", b, err)
	}
	if entries, err := f.List(t.Context(), "/root"); err != nil || len(entries) != 1 || entries[0].Name() != "a" {
		t.Errorf("listed %v, %v", entries, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "tmp")); len(left) > 0 {
		t.Errorf("left in the root: %v, %v", left, err)
	}
}

// mustRoot makes a root file system of busybox.
func mustRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin", "root", "tmp", "work", "proc", "dev"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bin", "busybox"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	var names bytes.Buffer
	if _, err := proc.Run(t.Context(), proc.Command{Path: at, Args: []string{"--list"}, Stdout: &names}); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(names.String()) {
		if name != "busybox" {
			if err := os.Symlink("busybox", filepath.Join(root, "bin", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func output(t *testing.T, e hermes.Environment, line string) string {
	t.Helper()
	for tries := 1; ; tries++ {
		var out bytes.Buffer
		exit, err := e.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out})
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if exit.Code == 128+11 && tries < 3 { // proot itself sometimes ends so, by a fault of its own
			continue
		}
		return strings.TrimSuffix(out.String(), "\n")
	}
}

func log(t *testing.T, state string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(state, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestCommandLines: the limits and the overlay reach the client, the variables of the host
// do not reach commands, and the overlay is kept.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	c, state := client(t, "")
	c.Memory, c.CPU, c.Disk = 5120, 1.5, 100
	c.Overlay = filepath.Join(t.TempDir(), "kept", "session.img")
	for range 2 {
		r, err := singularity.New(c)
		if err != nil {
			t.Fatal(err)
		}
		e := remote.New(remote.Config{Runner: r})
		if got := output(t, e, "echo ${SECRET-unset}"); got != "unset" {
			t.Errorf("a command sees %q", got)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	var got []string
	for _, line := range log(t, state) {
		line, _, _ = strings.Cut(line, "hermes-singularity-")
		if !strings.HasPrefix(line, "exec ") {
			got = append(got, line)
		}
	}
	start := "instance start --containall --no-home --workdir " + c.Folder + "/"
	want := []string{"overlay create --sparse --size 100 " + c.Overlay + ".new", start, "instance stop ", start, "instance stop "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("command lines:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if whole := log(t, state)[1]; !strings.Contains(whole, " --overlay "+c.Overlay+" --memory 5120m --cpus 1.5 docker://debian hermes-singularity-") {
		t.Errorf("started by %s", whole)
	}
	if b, err := os.ReadFile(c.Overlay); err != nil || string(b) != "100\n" {
		t.Errorf("the overlay has %q, %v", b, err)
	}
}

// TestStoppedInstanceIsStartedAgain: someone stops the instance between two commands.
func TestStoppedInstanceIsStartedAgain(t *testing.T) {
	t.Parallel()
	c, state := client(t, "")
	e := mustOpen(t, c, state, t.TempDir())
	output(t, e, "true")
	entries, err := os.ReadDir(c.Folder)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if status, err := proc.Run(t.Context(), proc.Command{Path: c.Program, Args: []string{"instance", "stop", entries[0].Name()}, Env: c.Env}); err != nil || status.Code != 0 {
		t.Fatal(status, err)
	}
	if got := output(t, e, "echo again"); !strings.HasSuffix(got, "again") {
		t.Errorf("got %q", got)
	}
}

// TestInstancesOfKilledProcessesAreStopped: those of living ones are not.
func TestInstancesOfKilledProcessesAreStopped(t *testing.T) {
	t.Parallel()
	c, state := client(t, "")
	living := mustOpen(t, c, state, t.TempDir())
	output(t, living, "true")
	for _, name := range []string{filepath.Join(c.Folder, "hermes-singularity-1"), filepath.Join(state, "hermes-singularity-1")} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := liveness.Hold(filepath.Join(c.Folder, "hermes-singularity-1", liveness.LockName))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(c.Folder, "hermes-singularity-1", liveness.LockName))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	// Release removes the file; a killed process does not.
	if err := os.WriteFile(filepath.Join(c.Folder, "hermes-singularity-1", liveness.LockName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	next := mustOpen(t, c, state, t.TempDir())
	output(t, next, "true")
	if left, _ := os.ReadDir(state); len(left) != 3 { // two instances and the log
		t.Errorf("instances: %v", left)
	}
	if got := output(t, living, "echo living"); got != "living" {
		t.Errorf("the other says %q", got)
	}
	if err := living.Close(); err != nil {
		t.Error(err)
	}
}

func TestProblemsAreSaid(t *testing.T) {
	t.Parallel()
	c, state := client(t, "")
	c.Image = "missing.sif"
	e := mustOpen(t, c, state, "")
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "true"}); err == nil || !strings.Contains(err.Error(), "start a container of missing.sif: could not open image") {
		t.Errorf("error %v", err)
	}
	c.Image, c.Memory = "docker://debian", 77
	e = mustOpen(t, c, state, "")
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "true"}); err == nil || !strings.Contains(err.Error(), "terminal.container_memory") {
		t.Errorf("error %v", err)
	}
	if d := e.Describe(t.Context()); d.Isolation.Walls() != "container" || d.Network != hermes.NetworkHost {
		t.Errorf("described as %+v", d)
	}
	if _, err := singularity.New(singularity.Config{Program: "no-such-client"}); err == nil {
		t.Error("a client that is not there is found")
	}
	r, err := singularity.New(singularity.Config{Program: c.Program, Env: c.Env, Folder: c.Folder, Image: "docker://debian"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Exec(t.Context(), remote.Script{Text: strings.Repeat(":\n", 1<<20)}); !errors.Is(err, remote.ErrNotRun) {
		t.Errorf("too long a script: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestApptainerIsTheFirstChoice changes PATH, so it runs alone.
func TestApptainerIsTheFirstChoice(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := singularity.New(singularity.Config{}); err == nil || !strings.Contains(err.Error(), "install Apptainer") {
		t.Errorf("without a client: %v", err)
	}
	for _, name := range []string{"singularity", "apptainer"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho FATAL: this is "+name+" >&2; exit 255\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		r, err := singularity.New(singularity.Config{Folder: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Exec(t.Context(), remote.Script{Text: "true"}); err == nil || !strings.Contains(err.Error(), "this is "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFilesAreBoundForReading into the home folder; where the client refuses that, the instance starts without them.
func TestFilesAreBoundForReading(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"key": " --bind %s:/home/me/.aws/credentials:ro docker://debian ", "nobind": " docker://debian "} {
		c, state := client(t, "")
		source := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(source, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Home, c.Files = "/home/me", []remote.HomeFile{{Source: source, Path: ".aws/credentials"}, {Source: "/a:b", Path: "odd"}}
		e := mustOpen(t, c, state, t.TempDir())
		output(t, e, "true")
		want = strings.ReplaceAll(want, "%s", source)
		begun := slices.DeleteFunc(log(t, state), func(line string) bool { return !strings.HasPrefix(line, "instance start") })
		if got := begun[len(begun)-1]; !strings.Contains(got, want) {
			t.Errorf("%s: started with %q, want %q", name, got, want)
		}
	}
}

// TestAScriptForWhatRunsStartsNothing, and runs while the instance does.
func TestAScriptForWhatRunsStartsNothing(t *testing.T) {
	t.Parallel()
	c, state := client(t, "")
	r, err := singularity.New(c)
	if err != nil {
		t.Fatal(err)
	}
	script := remote.Script{Text: "true", Running: true}
	if _, err := r.Exec(t.Context(), script); !errors.Is(err, remote.ErrNotRun) {
		t.Errorf("before the start: %v", err)
	}
	if left, _ := os.ReadDir(state); len(left) > 0 {
		t.Errorf("the client was started: %v", left)
	}
	if _, err := r.Exec(t.Context(), remote.Script{Text: "true"}); err != nil {
		t.Fatal(err)
	}
	if code, err := r.Exec(t.Context(), script); code != 0 || err != nil {
		t.Errorf("while it runs: %d, %v", code, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
