package logs_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/logs"
	"hermes/internal/logfile"
)

const records = `{"time":"2026-11-20T15:00:00Z","level":"INFO","msg":"started","component":"cli","session":"s1"}
{"time":"2026-11-20T16:30:00Z","level":"WARN","msg":"slow\u001b[31m","component":"gateway.irc","took":"5 s","n":3}
not a record
{"time":"2026-11-20T16:59:00Z","level":"ERROR","msg":"broke hush","session":"s2"}
`

func now() time.Time { return time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC) }

func run(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	home := t.TempDir()
	folder := filepath.Join(home, "logs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "agent.log"), []byte(records), 0o600); err != nil {
		t.Fatal(err)
	}
	f := factory.New(app.Options{Home: home}, factory.IO{})
	f.Mask = func(s string) string { return strings.ReplaceAll(s, "hush", "***") }
	f.Now = now
	cmd := logs.NewCmd(f)
	var stdout, stderr bytes.Buffer
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return strings.ReplaceAll(stdout.String(), folder, "$LOGS"), strings.ReplaceAll(stderr.String(), folder, "$LOGS"), err
}

func TestShow(t *testing.T) {
	t.Parallel()
	started := "2026-11-20 15:00:00.000 INFO  [s1] cli: started\n"
	slow := "2026-11-20 16:30:00.000 WARN  gateway.irc: slow [31m took=\"5 s\" n=3\n"
	broke := "2026-11-20 16:59:00.000 ERROR [s2] broke ***\n"
	tests := []struct{ name, args, want string }{
		{"all", "", started + slow + "not a record\n" + broke},
		{"the newest", "-n 1", broke},
		{"level", "--level warning", slow + broke},
		{"since", "--since 1h", slow + broke},
		{"since days", "--since 2d", started + slow + broke},
		{"since a time", "--since 2026-11-20T16:45:00Z", broke},
		{"session", "--session s2", broke},
		{"component", "--component gateway", slow},
		{"together", "--component gateway --level error", ""},
		{"as stored", "--json --session s2", `{"time":"2026-11-20T16:59:00Z","level":"ERROR","msg":"broke ***","session":"s2"}` + "\n"},
		{"of another log", "errors", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _, err := run(t, strings.Fields(tt.args)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListAndTypos(t *testing.T) {
	t.Parallel()
	out, _, err := run(t, "list")
	if err != nil || !strings.HasPrefix(out, "agent ") || !strings.Contains(out, "in 1 file,") {
		t.Errorf("%v %q", err, out)
	}
	for args, want := range map[string]string{
		"agnet":         "hermes logs list",
		"--level loud":  "use debug, info, warn or error",
		"--since later": "such as 90d",
	} {
		if _, _, err := run(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", args, err)
		}
	}
	if _, errs, err := run(t, "errors"); err != nil || errs != "No records. The logs are in $LOGS.\n" {
		t.Errorf("%v %q", err, errs)
	}
}

// output is a buffer that two goroutines may use.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func TestFollow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := filepath.Join(home, "logs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	h := logfile.New(logfile.Options{Folder: folder})
	defer h.Close()
	log := slog.New(h)
	log.Info("before")
	ctx, cancel := context.WithCancel(t.Context())
	tick := make(chan time.Time)
	f := factory.New(app.Options{Home: home}, factory.IO{})
	f.Now = now
	f.Tick = func() (<-chan time.Time, func()) { return tick, func() {} }
	cmd := logs.NewCmd(f)
	var out output
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"-f", "--level", "info"})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	tick <- now() // taken when the first look is over
	log.Debug("hidden")
	log.Warn("after")
	tick <- now()
	tick <- now()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := out.b.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "before") || !strings.Contains(got, "after") {
		t.Errorf("got %q", got)
	}
}
