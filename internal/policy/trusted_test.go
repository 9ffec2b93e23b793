package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/policy"
)

func TestTrustedFollowsLinksAndKnowsDependencies(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{"mine/src", "mine/node_modules/x", "mine/vendor", "mine2", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"mine/out": "other", "in": "mine"} {
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, link)); err != nil {
			t.Skip(err) // Windows needs a right for it
		}
	}
	trusted := policy.Trusted([]string{filepath.Join(base, "mine"), "relative", "", filepath.Join(base, "missing")}, filepath.EvalSymlinks)
	for path, want := range map[string]bool{
		"mine": true, "mine/src/a.go": true, "mine/new/file": true, "in/src": true,
		"mine2": false, "other": false, "mine/../other": false, "mine/out/x": false, "mine/node_modules/x/README.md": false, "mine/vendor/y": false, "missing/x": false, ".": false,
	} {
		if got := trusted(filepath.Join(base, path)); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
	if trusted("mine") || trusted("") || policy.Trusted(nil, filepath.EvalSymlinks)(base) {
		t.Error("trusted without a folder or a full path")
	}
}
