package lineage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/lineage"
)

func TestWithoutWidening(t *testing.T) {
	t.Parallel()
	env := []string{"A=1"}
	for _, name := range lineage.Widening() {
		env = append(env, name+"=1")
	}
	if diff := cmp.Diff([]string{"A=1", "B=2"}, lineage.WithoutWidening(append(env, "B=2"))); diff != "" {
		t.Error(diff)
	}
}
