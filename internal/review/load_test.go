package review_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/review"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	store := hermestest.NewStore()
	row := hermes.Session{ID: "s1", Platform: "cli", User: "ada", Dir: "/d", Model: "p:m", Provenance: "a page", Started: time.Unix(1, 0)}
	if err := store.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	want := review.Conversation{Session: hermes.SessionRef{ID: "s1", Platform: "cli", User: "ada", Dir: "/d", Provenance: "a page"}, Model: "p:m"}
	got, err := review.Load(t.Context(), store, "s1", hermes.Range{})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	if _, err := review.Load(t.Context(), store, "gone", hermes.Range{}); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}
