package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hermes/internal/text"
)

// Uses names the processes of this user, other than this one, that work in a folder. known
// is false where the system does not say.
func Uses(dir string) (uses []string, known bool) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		at, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if err != nil || !below(at, dir) { // it ended, or is another user's
			continue
		}
		name, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
		uses = append(uses, fmt.Sprintf("process %d works in it (%s)", pid, text.VisibleName(strings.TrimSpace(string(name)))))
	}
	return uses, true
}
