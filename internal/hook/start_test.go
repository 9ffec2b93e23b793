package hook_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hermes"
	"hermes/internal/hook"
)

// TestARefusedSessionIsEnded: the hooks that let it begin hear that it has ended.
func TestARefusedSessionIsEnded(t *testing.T) {
	t.Parallel()
	var seen []string
	named := func(name string, err error) hermes.Hook {
		return hermes.Hook{
			Name:         name,
			SessionStart: func(context.Context, hermes.SessionRef) error { seen = append(seen, "start "+name); return err },
			SessionEnd:   func(context.Context, hermes.SessionRef) { seen = append(seen, "end "+name) },
		}
	}
	h := hook.New(nil, named("a", nil), named("b", errors.New("not today")), named("c", nil))
	if err := h.SessionStart(t.Context(), hermes.SessionRef{}); err == nil {
		t.Error("the session was not refused")
	}
	if want := []string{"start a", "start b", "end a"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}
