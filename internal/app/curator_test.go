package app_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// TestTheCuratorWaitsUntilTheHomeIsIdle opens and closes a chat several times: the
// curator runs one interval after the first time, and only if the home was idle
// before.
func TestTheCuratorWaitsUntilTheHomeIsIdle(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := app.Options{
		Home:      filepath.Join(dir, "h"),
		BaseURL:   "http://127.0.0.1:1",
		BaseModel: "m",
		Getenv:    func(string) string { return "" },
		Now:       func() time.Time { return now },
	}
	left := func() bool { // whether the old skill is still there after a chat
		t.Helper()
		a := app.New(o)
		mustOpen(t, a, session.Open{From: hermes.From{Attends: true}})
		store, err := a.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := store.CreateSession(t.Context(), hermes.Session{ID: now.Format("0102-1504"), Platform: "tui", Started: now}); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		lib, err := app.New(o).Skills()
		if err != nil {
			t.Fatal(err)
		}
		_, err = lib.View(t.Context(), "old", "")
		return err == nil
	}
	lib, err := app.New(o).Skills()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lib.Save(t.Context(), hermes.SkillEdit{Name: "old", New: true, Agent: true, Content: "---\nname: old\ndescription: d\n---\nSteps.\n"}); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 100)
	if !left() {
		t.Fatal("archived at the first chat, without an interval")
	}
	now = now.Add(168*time.Hour - time.Hour)
	left()
	now = now.Add(90 * time.Minute)
	if !left() {
		t.Error("archived although the home was used an hour and a half before")
	}
	ahead := now
	now = now.AddDate(1, 0, 0) // by a clock that was wrong
	a := app.New(o)
	store, err := a.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(store.CreateSession(t.Context(), hermes.Session{ID: "future", Platform: "tui", Started: now}), a.Close())
	if err != nil {
		t.Fatal(err)
	}
	now = ahead.Add(3 * time.Hour)
	if left() {
		t.Error("not archived although it was due and the home was idle")
	}
}
