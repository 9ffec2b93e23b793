package toolbox_test

import (
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

func TestAllowedUnattended(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		risk hermes.Risk
		want bool
	}{
		{hermes.Risk{Key: "recursive-delete"}, true},
		{hermes.Risk{Key: "path:system-config"}, true},
		{hermes.Risk{Key: "recursive-delete", Deny: true}, false},
		{hermes.Risk{Key: "taint:memory", NoRemember: true}, false},
		{hermes.Risk{Key: "self-config"}, false},
		{hermes.Risk{Key: "self-start"}, false},
		{hermes.Risk{Key: "path:own-memories"}, false},
		{hermes.Risk{Key: "write-hermes"}, false},
	} {
		if got := toolbox.AllowedUnattended(tt.risk); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.risk, got, tt.want)
		}
	}
}
