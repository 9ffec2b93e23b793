package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment/remote"
	"hermes/internal/plugin"
)

// script is what runs for a call.
type script struct {
	input  io.WriteCloser // of the script
	read   io.Reader
	cancel chan struct{}
}

// of returns the script of a call, also before it runs: requests overtake each other here.
func (p *program) of(call string) *script {
	r, w := io.Pipe()
	s, _ := p.inputs.LoadOrStore(call, &script{w, r, make(chan struct{})})
	return s.(*script)
}

// cancelled ends the output of a script.
func (p *program) cancelled(m message) bool {
	var in struct{ Call string }
	_ = json.Unmarshal(m.Params, &in)
	s, ok := p.inputs.Load(in.Call)
	if ok {
		close(s.(*script).cancel)
	}
	return ok
}

// executes answers the methods of an environment: scripts run on this machine, in the folder that the
// test named.
func (p *program) executes(m message) bool {
	var in struct {
		Call, Place, Script         string
		Data                        []byte
		Stdin, End, Running, Merged bool
	}
	_ = json.Unmarshal(m.Params, &in)
	answer := func(result any) { p.send(map[string]any{"id": m.ID, "result": result}) }
	fails := func(code int, why string) {
		p.send(map[string]any{"id": m.ID, "error": map[string]any{"code": code, "message": why}})
	}
	folder := filepath.Dir(os.Getenv("PLUGIN_TEST_FILE"))
	switch m.Method {
	case "environment/input":
		s := p.of(in.Call)
		if len(in.Data) > 0 {
			_, _ = s.input.Write(in.Data) // a script that reads no more is no error
		}
		if in.End {
			s.input.Close()
		}
		answer(map[string]any{})
	case "environment/close":
		_ = os.WriteFile(filepath.Join(folder, "closed-"+in.Place), nil, 0o600)
		answer(map[string]any{})
	case "environment/exec":
		switch {
		case p.kind == "no-place":
			fails(-32004, "the account is empty")
			return true
		case p.kind == "unsure":
			fails(1, "the line is broken")
			return true
		case strings.Contains(in.Script, "die now"):
			os.Exit(5)
		case p.kind == "hasty": // floods without waiting
			for range 200 {
				p.send(map[string]any{"id": "x", "method": "environment/output", "params": map[string]any{"call": in.Call, "stream": "stdout", "data": []byte("x")}})
			}
			answer(map[string]any{"exit_code": 0})
			return true
		}
		s := p.of(in.Call)
		file := filepath.Join(folder, "script-"+in.Call)
		if err := os.WriteFile(file, []byte(in.Script), 0o600); err != nil {
			fails(-32004, err.Error())
			return true
		}
		defer os.Remove(file)
		c := exec.Command("sh", "-c", ". '"+file+"'")
		c.Dir = filepath.Join(folder, "work")
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder}
		if in.Stdin {
			r, w, _ := os.Pipe()
			c.Stdin = r
			go func() { _, _ = io.Copy(w, s.read); w.Close() }()
			defer r.Close()
		}
		out := func(stream string) (*os.File, chan struct{}) {
			r, w, _ := os.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				buffer := make([]byte, 64<<10)
				for {
					n, err := r.Read(buffer)
					if n > 0 {
						select {
						case <-s.cancel:
							return
						default:
							p.request("environment/output", map[string]any{"call": in.Call, "stream": stream, "data": buffer[:n]})
						}
					}
					if err != nil {
						return
					}
				}
			}()
			return w, done
		}
		stdout, first := out("stdout")
		stderr, second := out("stderr")
		c.Stdout, c.Stderr = stdout, stderr
		if in.Merged {
			c.Stderr = stdout
		}
		if err := c.Start(); err != nil {
			fails(-32004, err.Error())
			return true
		}
		stdout.Close()
		stderr.Close()
		err := c.Wait()
		for _, done := range []chan struct{}{first, second} {
			select {
			case <-done:
			case <-s.cancel:
			}
		}
		code := c.ProcessState.ExitCode()
		if e := (*exec.ExitError)(nil); errors.As(err, &e) && code < 0 {
			code = 128 + signalOf(e)
		}
		answer(map[string]any{"exit_code": code})
	default:
		return false
	}
	return true
}

const placeManifest = `name: test
version: "1"
program: [plugin.test]
kinds: [environment]
timeouts: {start: 20, call: 20}
`

// placed is a plugin that executes scripts as a kind.
func placed(t *testing.T, kind string) (*fixture, *plugin.Place) {
	t.Helper()
	needs(t, "sh")
	f := install(t, kind, placeManifest)
	if err := os.Mkdir(filepath.Join(filepath.Dir(f.file), "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.enable()
	if f.load(); f.err != nil {
		t.Fatal(f.err)
	}
	p, err := f.all.Place("test", "s1")
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

// runner is a place as package remote takes it.
type runner struct{ *plugin.Place }

func (r runner) Exec(ctx context.Context, s remote.Script) (int, error) {
	code, err := r.Place.Exec(ctx, plugin.Script(s))
	if errors.Is(err, plugin.ErrNotRun) {
		err = errors.Join(remote.ErrNotRun, err)
	}
	return code, err
}

// TestAPluginIsAnEnvironmentLikeOthers: it passes the suite that the built-in ones pass.
func TestAPluginIsAnEnvironmentLikeOthers(t *testing.T) {
	t.Parallel()
	hermestest.RunEnvironment(t, func(t *testing.T) hermes.Environment {
		_, p := placed(t, "place")
		return remote.New(remote.Config{Runner: runner{p}})
	})
}

func TestAPlaceThatEndsOrRefuses(t *testing.T) {
	t.Parallel()
	for kind, notRun := range map[string]bool{"no-place": true, "unsure": false} {
		_, p := placed(t, kind)
		_, err := p.Exec(t.Context(), plugin.Script{Text: "echo hi"})
		if err == nil || errors.Is(err, plugin.ErrNotRun) != notRun {
			t.Errorf("%s: %v", kind, err)
		}
	}
	f, p := placed(t, "place")
	if _, err := p.Exec(t.Context(), plugin.Script{Text: ":", Running: true}); !errors.Is(err, plugin.ErrNotRun) {
		t.Error("a place that was never used is started:", err)
	}
	var out bytes.Buffer
	if code, err := p.Exec(t.Context(), plugin.Script{Text: "cat; exit 3", Stdin: strings.NewReader("given"), Stdout: &out}); code != 3 || err != nil || out.String() != "given" {
		t.Error(code, err, out.String())
	}
	if _, err := p.Exec(t.Context(), plugin.Script{Text: "die now"}); err == nil || errors.Is(err, plugin.ErrNotRun) {
		t.Error("the program ended, and whether the script ran is not known:", err)
	}
	until(t, "it is started again", func() bool {
		code, err := p.Exec(t.Context(), plugin.Script{Text: "exit 4"})
		return err == nil && code == 4
	})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(f.file), "closed-s1")); err != nil {
		t.Error("the plugin is not told that the place is not needed any more:", err)
	}
	if _, err := f.all.Place("other", "s"); err == nil || !strings.Contains(err.Error(), "hermes plugins list") {
		t.Error(err)
	}
}

// TestOutputIsPacedByItsAnswers: a plugin that does not wait loses its output, and harms no one.
func TestOutputIsPacedByItsAnswers(t *testing.T) {
	t.Parallel()
	_, p := placed(t, "hasty")
	slow := slowWriter{make(chan struct{}), new(bytes.Buffer)}
	time.AfterFunc(300*time.Millisecond, func() { close(slow.open) })
	if code, err := p.Exec(t.Context(), plugin.Script{Text: "x", Stdout: slow}); code != 0 || err != nil {
		t.Error(code, err)
	}
	if n := slow.got.Len(); n == 0 || n > 20 {
		t.Errorf("%d parts were kept while nothing was read", n)
	}
}

// slowWriter takes nothing before it is opened.
type slowWriter struct {
	open chan struct{}
	got  *bytes.Buffer
}

func (w slowWriter) Write(p []byte) (int, error) {
	<-w.open
	return w.got.Write(p)
}
