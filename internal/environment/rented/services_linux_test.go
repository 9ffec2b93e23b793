package rented_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/rented"
)

// server is a local server of one service.
type server interface {
	open(c rented.Config) (*rented.Runner, error)
	instead(func(http.ResponseWriter, *http.Request) bool)
	count(method, part string) int
	address() string
}

// services are all that are tested.
var services = []struct {
	name  string
	start func(t *testing.T) server
	key   string // its variable
	// run is in the path of the request that begins a command; stop, end and kill are in
	// those that stop and delete a sandbox, and end a command, "" if none can.
	run, stop, end, kill string
}{
	{"daytona", func(t *testing.T) server { return newDaytona(t) }, "DAYTONA_API_KEY", "/exec", "POST /stop", "DELETE /api/sandbox/", "DELETE /process/session/"},
	{"vercel", func(t *testing.T) server { return newVercel(t) }, "VERCEL_TOKEN", "/cmd", "POST /stop", "DELETE /api/v2/sandboxes/", "POST /kill"},
	{"e2b", func(t *testing.T) server { return newE2B(t) }, "E2B_API_KEY", "/process.Process/Start", "POST /pause", "DELETE /sandboxes/", "POST /SendSignal"},
	{"runloop", func(t *testing.T) server { return newRunloop(t) }, "RUNLOOP_API_KEY", "/execute_async", "POST /suspend", "POST /shutdown", "POST /kill"},
	{"modal", func(t *testing.T) server { return newModal(t) }, "MODAL_TOKEN_ID", "/TaskExecStart", "POST /TaskSnapshotFilesystem", "POST /SandboxTerminateV2", ""},
}

func each(t *testing.T, test func(t *testing.T, s server, i int)) {
	t.Helper()
	for i, service := range services {
		t.Run(service.name, func(t *testing.T) {
			t.Parallel()
			test(t, service.start(t), i)
		})
	}
}

// config is one with which tests do not wait.
func config(t *testing.T) rented.Config {
	return rented.Config{
		Home: "/home/someone/.hermes", Session: t.Name(), Temp: t.TempDir(),
		Sleep: func(ctx context.Context, d time.Duration) error { return ctx.Err() },
	}
}

func mustOpen(t *testing.T, s server, c rented.Config) *rented.Runner {
	t.Helper()
	r, err := s.open(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// output runs a script that must succeed.
func output(t *testing.T, r *rented.Runner, text, input string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code, err := r.Exec(t.Context(), remote.Script{Text: text, Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs})
	if err != nil || code != 0 {
		t.Fatalf("%.60s: exit code %d, error %v, stderr %q", text, code, err, errs.String())
	}
	return out.String()
}

func TestScriptsRunAsTheyAre(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcde\n", 300<<10/16)
	var every strings.Builder
	for i := range 70_000 {
		every.WriteByte(byte(i ^ i>>8))
	}
	each(t, func(t *testing.T, s server, _ int) {
		r := mustOpen(t, s, config(t))
		defer r.Close()
		for name, c := range map[string]struct {
			text, input    string
			out, errs      string
			code           int
			sameWriter     bool
			wantInOneOrder string
		}{
			"streams and code":     {text: "echo out; echo err >&2; exit 7", out: "out\n", errs: "err\n", code: 7},
			"no input":             {text: "cat; echo done", out: "done\n"},
			"short input":          {text: "cat; exit 3", input: "a'b\n\x00\xff", out: "a'b\n\x00\xff", code: 3},
			"long input and bytes": {text: "cat", input: every.String(), out: every.String()},
			"input that is unread": {text: "echo ok", input: long, out: "ok\n"},
			"long script":          {text: "cat <<'E'\n" + long + "E\n", out: long},
			"quotes":               {text: `printf '%s' "it's \"odd\" $((1+1)) \\ ` + "`echo x`" + `"`, out: `it's "odd" 2 \ x`},
			"text not in UTF-8":    {text: "printf %s 'a\xff\xfeb'", out: "a\xff\xfeb"},
			"many quotes":          {text: "printf %s \"" + strings.Repeat("'", 20_000) + "\"", out: strings.Repeat("'", 20_000)},
			"long errors":          {text: "cat >&2", input: long, errs: long},
			"killed":               {text: "echo a; kill -KILL $$", out: "a\n", code: 137},
			"one writer":           {text: "echo a; echo b >&2; echo c", sameWriter: true, wantInOneOrder: "a\nb\nc\n"},
		} {
			var out, errs bytes.Buffer
			script := remote.Script{Text: c.text, Stdout: &out, Stderr: &errs}
			if c.input != "" {
				script.Stdin = strings.NewReader(c.input)
			}
			if c.sameWriter {
				script.Stderr, c.out = &out, c.wantInOneOrder
			}
			code, err := r.Exec(t.Context(), script)
			if err != nil || code != c.code || out.String() != c.out || errs.String() != c.errs {
				t.Errorf("%s: exit code %d, error %v, %d bytes %.60q and %d bytes %.60q", name, code, err, out.Len(), out.String(), errs.Len(), errs.String())
			}
		}
		if _, err := r.Exec(t.Context(), remote.Script{Text: "echo unheard; echo unheard >&2"}); err != nil {
			t.Errorf("without writers: %v", err)
		}
	})
}

var errStop = errors.New("the user said stop")

// firstWrite calls a func at the first write.
type firstWrite struct {
	bytes.Buffer
	then func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		defer w.then()
	}
	return w.Buffer.Write(p)
}

func TestTheEndOfTheContextCutsTheCommand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		r := mustOpen(t, s, config(t))
		defer r.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		out := &firstWrite{then: func() { cancel(errStop) }}
		_, err := r.Exec(ctx, remote.Script{Text: "echo begun; exec sleep 300", Stdout: out})
		if !errors.Is(err, errStop) || out.String() != "begun\n" {
			t.Errorf("error %v after %q, want the cause", err, out.String())
		}
		if method, path, ok := strings.Cut(services[i].kill, " "); ok && s.count(method, path) != 1 {
			t.Error("the service was not asked to end the command")
		}
		if got := output(t, r, "echo still here", ""); got != "still here\n" {
			t.Errorf("afterwards: %q", got)
		}
	})
}
