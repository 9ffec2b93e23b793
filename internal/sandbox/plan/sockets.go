package plan

import (
	"os"
	"path/filepath"
	"strings"
)

// sockets lists the sockets of services that could be reached by their paths: a socket
// can be connected to although it is read-only, and from another network, and what
// listens is outside. The resolver's would carry names out past the proxy, and those of
// package managers and databases run what they are told. Sockets in the workspace are
// part of it.
func (p *planner) sockets() (out []string) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		i := strings.IndexByte(line, '/')
		if i < 0 {
			continue // it has no path
		}
		at := followed(strings.TrimSuffix(line[i:], "\n"))
		if withinAny(at, p.Policy.Read) && !within(at, p.Workspace) || withinAny(at, p.Policy.Write) && !within(at, p.Workspace) && !withinAny(at, p.made) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSocket != 0 {
				out = append(out, filepath.Clean(at))
			}
		}
	}
	return out
}
