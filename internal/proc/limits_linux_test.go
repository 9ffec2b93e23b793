package proc_test

import (
	"strings"
	"testing"

	"hermes/internal/proc"
)

func TestLimitsHoldForTheChild(t *testing.T) {
	t.Parallel()
	var out buffer
	c := sh("read go; ulimit -n")
	c.Stdin, c.Stdout, c.Limits = strings.NewReader("go\n"), &out, proc.Limits{OpenFiles: 123}
	if _, err := proc.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "123\n" {
		t.Errorf("got %q", got)
	}
}

func TestChildrenAreEndedBeforeTheirParentWhenMemoryRunsOut(t *testing.T) {
	t.Parallel()
	var out buffer
	c := sh("read go; cat /proc/self/oom_score_adj")
	c.Stdin, c.Stdout = strings.NewReader("go\n"), &out
	if _, err := proc.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "300\n" {
		t.Errorf("got %q", got)
	}
}
