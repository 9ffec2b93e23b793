package hermestest_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
)

func TestLedgerInMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	hermestest.RunLedger(t, func(*testing.T) hermes.Ledger { return hermestest.NewLedger() })
}
