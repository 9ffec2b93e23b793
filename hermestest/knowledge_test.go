package hermestest_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
)

func TestLearningsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	hermestest.RunLearnings(t, func(*testing.T) hermes.Learnings { return &hermestest.Learnings{} })
}

func TestRecollectionsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	hermestest.RunRecollections(t, func(*testing.T) hermes.Recollections { return &hermestest.Recollections{} })
}
