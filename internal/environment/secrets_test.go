package environment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/environment"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	env := []string{
		"TELEGRAM_BOT_TOKEN=short", "MY_SERVICE=named", "DB_PASSWORD=postgres", "DB_TOKEN=a1b2c3d4e5f6g7", "SSH_TOKEN=" + folder, "PATH=/usr/bin12345678", "broken",
	}
	got := environment.Secrets(env, func(name string) string {
		if name == "MY_SERVICE" {
			return "a key of the settings"
		}
		return ""
	})
	if diff := cmp.Diff([]string{"short", "named", "a1b2c3d4e5f6g7"}, got); diff != "" {
		t.Error(diff)
	}
}
