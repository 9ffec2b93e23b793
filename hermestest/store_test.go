package hermestest_test

import (
	"errors"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/hermestest/storesuite"
)

func TestStoreInMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	storesuite.Run(t, func(*testing.T) hermes.Store { return hermestest.NewStore() })
}

func TestStoreFailsWhenAsked(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	s := hermestest.NewStore()
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "a", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	s.Fail = func(method string) error {
		if method == "Commit" {
			return full
		}
		return nil
	}
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: "a"}, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if list, err := s.Messages(t.Context(), "a", hermes.Range{}); err != nil || len(list) != 0 {
		t.Errorf("a failed write stored %v, %v", list, err)
	}
}

func TestStoreKeepsSummaries(t *testing.T) {
	t.Parallel()
	storesuite.RunSummaries(t, func(*testing.T) storesuite.SummarizedStore { return hermestest.NewStore() })
}
