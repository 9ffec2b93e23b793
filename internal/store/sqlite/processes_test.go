package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

func TestTwoProcessesWriteOneFile(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path, Busy: patience})
	mustCreate(t, s, "child")
	mustCreate(t, s, "parent")
	c, _ := startChild(t, "write", path)
	if err := writeFor(t.Context(), s, "parent", 200, nil); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("the other process: %v", err)
	}
	for _, session := range []string{"child", "parent"} {
		list := mustMessages(t, s, session)
		if len(list) != 200 {
			t.Errorf("%s has %d messages, want 200", session, len(list))
		}
		for i, m := range list {
			if want := fmt.Sprintf("message number%d of %s", i, session); m.Text() != want {
				t.Errorf("message %d of %s is %q", i, session, m.Text())
			}
		}
	}
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "number7"})
	if err != nil || len(hits) != 2 {
		t.Errorf("%d hits of two processes' words, %v", len(hits), err)
	}
}

func TestALeaseHoldsAgainstAnotherProcess(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	mustCreate(t, s, "shared")
	_, out := startChild(t, "hold", path)
	if !out.Scan() {
		t.Fatal("the other process printed nothing")
	}
	_, err := s.Acquire(t.Context(), "shared", hermes.Owner{Name: "me"}, time.Hour)
	if !errors.Is(err, hermes.ErrLeased) || !strings.Contains(err.Error(), "the child") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: "shared"}, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}}); !errors.Is(err, hermes.ErrStaleLease) {
		t.Errorf("a write beside the lease: %v", err)
	}
}

func TestNothingStoredIsLostWhenKilled(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	mustCreate(t, s, "child")
	var reported []int64
	for round := range 5 {
		c, out := startChild(t, "write-for-ever", path)
		for range 20 + 13*round {
			if !out.Scan() {
				t.Fatal("the other process ended early")
			}
			id, err := strconv.ParseInt(out.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			reported = append(reported, id)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // what it could still say before it died
			if id, err := strconv.ParseInt(out.Text(), 10, 64); err == nil {
				reported = append(reported, id)
			}
		}
		_ = c.Wait()
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := mustMessages(t, s, "child")
	var ids []int64
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	for _, id := range reported {
		if !slices.Contains(ids, id) {
			t.Errorf("message %d was stored and is lost", id)
		}
	}
	row, err := s.FindSession(t.Context(), "child")
	if err != nil || row.Messages != len(list) {
		t.Errorf("%d messages count as %d, %v", len(list), row.Messages, err)
	}
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "message", Limit: 10_000})
	if err != nil || len(hits) != len(list) {
		t.Errorf("%d of %d messages can be found, %v", len(hits), len(list), err)
	}
	steps, err := s.OpenSteps(t.Context(), "child")
	if err != nil || len(steps) != 1 {
		t.Errorf("the journal has %d open calls, want the one that was begun; %v", len(steps), err)
	}
}

func TestABusyFileIsAClearError(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path, Busy: 30 * time.Millisecond})
	mustCreate(t, s, "a")
	release := lock(t, path)
	_, err := s.Commit(t.Context(), hermes.Lease{Session: "a"}, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}})
	if !errors.Is(err, sqlite.ErrBusy) || !strings.Contains(err.Error(), "another Hermes process has locked") {
		t.Errorf("got %v", err)
	}
	if list := mustMessages(t, s, "a"); len(list) != 0 {
		t.Errorf("a refused write left %v", list)
	}
	release()
	mustAppend(t, s, "a", hermes.UserText("now"))
}

func TestOpeningWaitsForAnotherWriter(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	mustCreate(t, mustOpen(t, sqlite.Config{Path: path}), "a")
	release := lock(t, path)
	defer release()
	s := mustOpen(t, sqlite.Config{Path: path})
	if _, err := s.FindSession(t.Context(), "a"); err != nil {
		t.Errorf("reading beside a writer: %v", err)
	}
}

func TestManyOpenAFreshFileAtOnce(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	errs := make(chan error)
	for range 6 {
		go func() {
			s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
