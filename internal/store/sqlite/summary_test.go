package sqlite_test

import (
	"testing"

	"hermes/hermestest"
	"hermes/internal/store/sqlite"
)

func TestSummariesKeepThePromises(t *testing.T) {
	t.Parallel()
	hermestest.RunSummaries(t, func(t *testing.T) hermestest.SummarizedStore {
		return mustOpen(t, sqlite.Config{Path: tempPath(t)})
	})
}
