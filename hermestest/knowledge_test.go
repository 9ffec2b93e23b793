package hermestest_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/hermestest/storesuite"
)

func TestLearningsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	storesuite.RunLearnings(t, func(*testing.T) hermes.Learnings { return &hermestest.Learnings{} })
}

func TestRecollectionsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	storesuite.RunRecollections(t, func(*testing.T) hermes.Recollections { return &hermestest.Recollections{} })
}
