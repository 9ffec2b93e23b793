package lineage

import (
	"slices"
	"strings"
)

// Widening returns the variables that give an agent wider rights. Commands do not inherit
// them, so that an agent below this one has them only if a command sets them.
func Widening() []string {
	return []string{"HERMES_YOLO_MODE", "HERMES_ACCEPT_HOOKS", "HERMES_ALLOW_PRIVATE_URLS", "HERMES_DISABLE_FILE_STATE_GUARD", "TERMINAL_SANDBOX"}
}

// WithoutWidening returns the variables of an environment, as NAME=value, without those that
// widen rights.
func WithoutWidening(env []string) []string {
	widening := Widening()
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(widening, name)
	})
}
