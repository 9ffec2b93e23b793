package sandbox_test

import (
	"os"
	"testing"

	"hermes/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main() // the tests are the program that becomes a keeper
	os.Exit(m.Run())
}
