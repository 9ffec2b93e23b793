//go:build unix

package file_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	backend "hermes/internal/environment"
	"hermes/internal/tool/file"
)

// TestAFolderThatBecomesALinkAtAnyMoment: while every tool works in a folder, another
// program puts a link to the user's keys in its place and takes it away again,
// thousands of times. The keys are never shown, and their folder never changes.
func TestAFolderThatBecomesALinkAtAnyMoment(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-the-key"
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	project, keys := filepath.Join(home, "project"), filepath.Join(home, ".ssh")
	sub := filepath.Join(project, "sub")
	for _, dir := range []string{sub, keys} {
		must(t, os.MkdirAll(filepath.Join(dir, "deep"), 0o755))
		for _, name := range []string{"AGENTS.md", "a.txt", "gone.txt", "deep/a.txt", ".gitignore"} {
			text := "inside\n"
			if dir == keys {
				text = canary + " inside\n"
			}
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
	}
	must(t, os.WriteFile(filepath.Join(project, "top.txt"), []byte("inside\n"), 0o644))
	before := tree(t, keys)

	var swaps atomic.Int64
	stop := make(chan struct{})
	var swapping, working sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if swapLink(sub, keys) {
				swaps.Add(1)
			}
		}
	})

	local, err := backend.NewLocal(backend.LocalConfig{Dir: project, Home: home, Temp: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { local.Close() })
	calls := []struct {
		tool string
		args args
	}{
		{"read_file", args{"path": "sub/a.txt"}},
		{"read_file", args{"path": "sub/deep/a.txt"}},
		{"search_files", args{"pattern": "inside"}},
		{"search_files", args{"pattern": "inside", "path": "sub"}},
		{"search_files", args{"pattern": "inside", "path": "sub/a.txt"}},
		{"search_files", args{"pattern": "*", "target": "files", "path": "sub/deep"}},
		{"write_file", args{"path": "sub/new.txt", "content": "changed\n"}},
		{"write_file", args{"path": "sub/deep/er/new.txt", "content": "changed\n"}},
		{"patch", args{"path": "sub/a.txt", "old_string": "inside", "new_string": "insides"}},
		{"patch", args{"patch": "*** Begin Patch\n*** Add File: sub/added.txt\n+changed\n*** End Patch"}},
		{"patch", args{"patch": "*** Begin Patch\n*** Delete File: sub/gone.txt\n*** End Patch"}},
		{"patch", args{"patch": "*** Begin Patch\n*** Update File: top.txt\n*** Move to: sub/top.txt\n@@\n-inside\n+changed\n*** End Patch"}},
	}
	const wanted, leastRounds = 2000, 50
	late := time.Now().Add(time.Minute) // on a busy machine the other program seldom gets its turn
	for i, call := range calls {
		raw, err := json.Marshal(call.args)
		must(t, err)
		tools := map[string]hermes.Tool{}
		for _, tool := range mustTools(t, file.New(file.Config{State: filepath.Join(home, ".hermes"), TrustWrites: true})) {
			tools[tool.Spec().Name] = tool
		}
		working.Go(func() {
			for n := 0; n < leastRounds || swaps.Load() < wanted && time.Now().Before(late); n++ {
				h := racingHost{local: local, session: fmt.Sprint(i, "-", n)} // no session asks twice
				r, err := tools[call.tool].Run(t.Context(), &hermes.Call{ID: fmt.Sprint(i, "-", n), Name: call.tool, Arguments: raw, Host: h})
				if text := r.Text + fmt.Sprint(err); strings.Contains(text, canary) {
					t.Errorf("%s %s showed the key: %s", call.tool, raw, text)
					return
				}
			}
		})
	}
	working.Wait()
	close(stop)
	swapping.Wait()
	if n := swaps.Load(); n < wanted/10 {
		t.Errorf("the folder was swapped %d times only", n)
	}
	if after := tree(t, keys); after != before {
		t.Errorf("the keys are %q, before they were %q", after, before)
	}
}

// racingHost is a session on this machine.
type racingHost struct {
	hermes.Host
	local   *backend.Local
	session string
}

func (h racingHost) Session() hermes.SessionRef      { return hermes.SessionRef{ID: h.session} }
func (h racingHost) Environment() hermes.Environment { return h.local }

// swapLink puts a link in the place of a folder, and the folder back. It
// reports whether the link was there: a tool may have made the folder meanwhile.
func swapLink(folder, target string) bool {
	away := folder + ".away"
	if os.Rename(folder, away) != nil {
		return false
	}
	linked := os.Symlink(target, folder) == nil
	for range 20 { // let the tools see it
		_, _ = os.Lstat(folder)
	}
	for {
		_ = os.RemoveAll(folder)
		if os.Rename(away, folder) == nil {
			return linked
		}
	}
}
