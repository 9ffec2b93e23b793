package local_test

import (
	"testing"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	protocoltest.Run(t, func(_ *testing.T, w *protocoltest.World, _ hermes.From) protocol.Client { return w.Client })
}
