package sandbox_test

import (
	"os"
	"testing"

	"hermes/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main() // the tests are the program that becomes a keeper
	if len(os.Args) > 2 && os.Args[1] == callArg {
		os.Exit(call(os.Args[2:])) // a program that runs inside
	}
	os.Exit(m.Run())
}
