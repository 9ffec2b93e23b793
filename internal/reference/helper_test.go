package reference_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"hermes/hermestest"
	"hermes/internal/git"
	"hermes/internal/netguard"
	"hermes/internal/redact"
	"hermes/internal/reference"
)

// sources reads references relative to a folder, with an empty store. Servers of this
// machine may be fetched from.
func sources(t *testing.T, dir string) reference.Sources {
	t.Helper()
	store := hermestest.NewStore()
	return reference.Sources{
		Dir: dir, Git: git.Repository{Dir: dir, Env: os.Environ}, UserAgent: "hermes/test", Mask: redact.New(redact.Options{}).Text,
		Store: func(context.Context) (reference.Sessions, error) { return store, nil },
		Guard: func() (*netguard.Guard, error) { return &netguard.Guard{Private: true}, nil },
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// gitInit makes a repository, or skips the test without git.
func gitInit(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("git", "init", "-q", "-b", "trunk", dir).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("git: %v, %s", err, out)
		}
		t.Skipf("git: %v, %s", err, out)
	}
}
