package confine_test

import (
	"path/filepath"
	"testing"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/environment"
)

// TestTheMarkOfWallsFollowsWhatIsAllowed: it is another one when a path is allowed, and the first one again
// when that is revoked. What was allowed once is still described then.
func TestTheMarkOfWallsFollowsWhatIsAllowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := confine.New(confine.Settings{Mode: confine.Auto, Home: dir, State: filepath.Join(dir, "state"), Cache: filepath.Join(dir, "cache")})
	var granted []hermes.Need
	var given []string
	local, err := environment.NewLocal(environment.LocalConfig{Dir: dir, Home: dir, Walls: p.Walls(confine.Config{
		Session: "s1", Workspace: dir, Granted: func() []hermes.Need { return granted }, Given: func() []string { return given },
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	var env hermes.Environment = local
	first := env.(hermes.Walled).WallsMark()
	for name, allow := range map[string]func(){
		"a path to read":   func() { granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: "/data"}} },
		"a path to change": func() { granted = []hermes.Need{{Kind: hermes.RefusedWrite, Name: "/data"}} },
		"a file of ours":   func() { given = []string{"/home/key"} },
	} {
		allow()
		if got := env.(hermes.Walled).WallsMark(); got == first {
			t.Errorf("%s: it is still %q", name, got)
		}
		granted, given = nil, nil
		if got := env.(hermes.Walled).WallsMark(); got != first {
			t.Errorf("%s is revoked: %q, want %q", name, got, first)
		}
	}
}
