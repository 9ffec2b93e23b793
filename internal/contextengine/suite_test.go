package contextengine_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/contextengine"
)

// TestSuite: the built-in engine passes the suite that engines of plugins pass.
func TestSuite(t *testing.T) {
	t.Parallel()
	hermestest.RunContextEngine(t, func(*testing.T) hermes.ContextEngine {
		return contextengine.New(contextengine.Options{Summarize: sums("Goal: build the parser.")})
	})
}
