package hermes_test

import (
	"testing"

	"hermes"
)

func TestAModelErrorIsOneSentence(t *testing.T) {
	t.Parallel()
	err := &hermes.ModelError{Class: hermes.ClassBilling, Status: 402, Provider: "p", Model: "m", Message: "No credit is left."}
	want := "p (m) answered with status 402: No credit is left; top up the account, or choose another model with `hermes model`"
	if got := err.Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
