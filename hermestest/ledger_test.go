package hermestest_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/hermestest/storesuite"
)

func TestLedgerInMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	storesuite.RunLedger(t, func(*testing.T) hermes.Ledger { return hermestest.NewLedger() })
}
