package logfile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/logfile"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, o logfile.Options) (*slog.Logger, string) {
	t.Helper()
	o.Folder = filepath.Join(t.TempDir(), "logs")
	o.Make = func(folder string) error { return os.MkdirAll(folder, 0o700) }
	h := logfile.New(o)
	t.Cleanup(func() { must(t, h.Close()) })
	return slog.New(h), o.Folder
}

func last(t *testing.T, folder, name string, n int, f logfile.Filter) []string {
	t.Helper()
	entries, _, err := logfile.Last(folder, name, n, f)
	must(t, err)
	var messages []string
	for _, e := range entries {
		messages = append(messages, e.Message)
	}
	return messages
}

func TestNothingIsOpenedBeforeTheFirstRecord(t *testing.T) {
	t.Parallel()
	log, folder := open(t, logfile.Options{})
	log.With("session", "s").Debug("not written")
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder is there")
	}
	log.Info("written")
	if got := last(t, folder, logfile.Agent, 9, logfile.Filter{}); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	if got := last(t, folder, logfile.Errors, 9, logfile.Filter{}); got != nil {
		t.Errorf("errors.log has %q", got)
	}
}

func TestWarningsAreInBothLogs(t *testing.T) {
	t.Parallel()
	log, folder := open(t, logfile.Options{Level: slog.LevelDebug})
	log.Debug("a")
	log.Warn("b")
	log.Error("c")
	got := [][]string{last(t, folder, logfile.Agent, 9, logfile.Filter{}), last(t, folder, logfile.Errors, 9, logfile.Filter{})}
	if diff := cmp.Diff([][]string{{"a", "b", "c"}, {"b", "c"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoSecretReachesTheFile(t *testing.T) {
	t.Parallel()
	log, folder := open(t, logfile.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hush", "***") }})
	log.With("a", "hush").WithGroup("g").With("b", "hush").Error("hush", "c", errors.New("hush"), "d", struct{ X string }{"hush"},
		"e", []string{"hush"}, slog.Group("f", "x", "hush"))
	for _, name := range []string{logfile.Agent, logfile.Errors} {
		src, err := os.ReadFile(filepath.Join(folder, name+".log"))
		must(t, err)
		if strings.Contains(string(src), "hush") || strings.Count(string(src), "***") != 7 {
			t.Errorf("%s: %s", name, src)
		}
	}
}

func TestTheFilesAreBounded(t *testing.T) {
	t.Parallel()
	log, folder := open(t, logfile.Options{MaxBytes: 2000, Keep: 2})
	for i := range 200 {
		log.Info(fmt.Sprintf("record %03d", i))
	}
	logs, err := logfile.List(folder)
	must(t, err)
	if len(logs) != 1 || logs[0].Files != 3 || logs[0].Bytes > 6000 {
		t.Errorf("got %+v", logs)
	}
	got := last(t, folder, logfile.Agent, 40, logfile.Filter{})
	if len(got) != 40 || got[0] != "record 160" || got[39] != "record 199" {
		t.Errorf("got %q", got)
	}
}

func TestSeveralWritersOfOneFolderLoseNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			h := logfile.New(logfile.Options{Folder: folder}) // as another process would
			log := slog.New(h)
			for i := range 100 {
				log.Info("x", "w", w, "i", i)
			}
			_ = h.Close()
		})
	}
	writers.Wait()
	entries, _, err := logfile.Last(folder, logfile.Agent, 1000, logfile.Filter{})
	must(t, err)
	if len(entries) != 400 {
		t.Errorf("got %d", len(entries))
	}
}

func TestARotatedFileIsNoticedByOthers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h := logfile.New(logfile.Options{Folder: folder})
	defer h.Close()
	log := slog.New(h)
	log.Info("one")
	path := filepath.Join(folder, "agent.log")
	must(t, os.Rename(path, path+".1"))
	for range 2 {
		log.Info(strings.Repeat("x", 70<<10))
	}
	if got := last(t, folder, logfile.Agent, 9, logfile.Filter{}); len(got) != 3 {
		t.Errorf("got %d records", len(got))
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the new file was not begun")
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	log, folder := open(t, logfile.Options{Level: slog.LevelDebug})
	log.Info("a", "session", "s1", "component", "gateway")
	log.Warn("b", "session", "s2", "component", "gateway.telegram", "n", 5, slog.Group("g", "x", true))
	log.Debug("c", "component", "tools")
	tests := []struct {
		name string
		f    logfile.Filter
		want []string
	}{
		{"all", logfile.Filter{}, []string{"a", "b", "c"}},
		{"level", logfile.Filter{Level: slog.LevelInfo}, []string{"a", "b"}},
		{"session", logfile.Filter{Session: "s1"}, []string{"a"}},
		{"component and its parts", logfile.Filter{Component: "gateway"}, []string{"a", "b"}},
		{"together", logfile.Filter{Component: "gateway", Level: slog.LevelWarn}, []string{"b"}},
		{"since", logfile.Filter{Since: time.Now().Add(time.Hour)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, last(t, folder, logfile.Agent, 9, tt.f)); diff != "" {
				t.Error(diff)
			}
		})
	}
	entries, _, err := logfile.Last(folder, logfile.Agent, 1, logfile.Filter{Session: "s2"})
	must(t, err)
	want := []logfile.Field{{Name: "n", Value: "5"}, {Name: "g.x", Value: "true"}}
	if diff := cmp.Diff(want, entries[0].Fields); diff != "" {
		t.Error(diff)
	}
}

func TestLinesThatAreNotRecordsAreShownUnchanged(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "agent.log"), []byte("old style line\n\n{\"broken\n"), 0o600))
	entries, _, err := logfile.Last(folder, logfile.Agent, 9, logfile.Filter{})
	must(t, err)
	if len(entries) != 2 || entries[0].Raw != "old style line" || entries[1].Raw != `{"broken` {
		t.Errorf("got %+v", entries)
	}
}

func TestFollowSeesNewRecordsAcrossARename(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h := logfile.New(logfile.Options{Folder: folder, MaxBytes: 300})
	defer h.Close()
	log := slog.New(h)
	log.Info("before")
	_, from, err := logfile.Last(folder, logfile.Agent, 9, logfile.Filter{})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	tick := make(chan time.Time)
	seen := make(chan string, 100)
	done := make(chan error, 1)
	go func() {
		done <- logfile.Follow(ctx, folder, logfile.Agent, from, tick, func(e logfile.Entry) { seen <- e.Message })
	}()
	var want, got []string
	for i := range 12 {
		message := fmt.Sprintf("record %d", i)
		want = append(want, message)
		log.Info(message)
		tick <- time.Time{}
	}
	tick <- time.Time{} // taken only when the last read is over
	cancel()
	must(t, <-done)
	for close(seen); ; {
		message, ok := <-seen
		if !ok {
			break
		}
		got = append(got, message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"time":"2026-11-20T17:00:00Z","level":"INFO","msg":"x","g":{"a":[1,{}]}}`)
	f.Add(`{"a":`)
	f.Fuzz(func(t *testing.T, line string) {
		if e := logfile.Parse(line); e.Raw != line {
			t.Error(e)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	h := logfile.New(logfile.Options{Folder: b.TempDir()})
	defer h.Close()
	log := slog.New(h).With("session", "s", "component", "agent")
	for b.Loop() {
		log.Info("step", "n", 1, "took", time.Second)
	}
}
