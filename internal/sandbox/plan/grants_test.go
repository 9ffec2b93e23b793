package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox"
)

// TestAGrantIsFollowedOnce changes each granted path into a link directly after it was followed,
// as a command in the background can. It is in the package because nothing outside can
// tell when a path is followed.
func TestAGrantIsFollowedOnce(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(at string) Request{
		"read":  func(at string) Request { return Request{Grants: Grants{Read: []string{at}}} },
		"write": func(at string) Request { return Request{Grants: Grants{Write: []string{at}}} },
		"given": func(at string) Request { return Request{Given: []string{at}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			work, home, private := filepath.Join(base, "work"), filepath.Join(base, "home"), filepath.Join(base, "home", "private")
			granted := filepath.Join(work, "granted")
			for _, dir := range []string{granted, private} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			r := request(granted)
			r.Layer, r.Network, r.Workspace, r.Home = sandbox.A, sandbox.Proxied, work, home
			r.State, r.Cache = filepath.Join(home, ".hermes"), filepath.Join(home, ".hermes", "cache")
			p, err := newPlanner(r)
			if err != nil {
				t.Fatal(err)
			}
			p.follow = func(at string) (string, error) {
				real, err := filepath.EvalSymlinks(at)
				_ = os.Remove(granted)
				_ = os.Symlink(private, granted)
				return real, err
			}
			p.grants()
			p.give()
			if diff := cmp.Diff([]string{granted}, p.Policy.Read); diff != "" {
				t.Error(diff)
			}
		})
	}
}
