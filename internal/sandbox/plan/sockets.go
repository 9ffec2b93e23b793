package plan

import (
	"os"
	"path/filepath"
	"strings"
)

// sockets lists the sockets of services that could be reached by their paths: a socket
// can be connected to although it is read-only, and from another network, and what
// listens is outside. The resolver's would carry names out past the proxy, and those of
// package managers and databases run what they are told. For commands, sockets in the workspace
// are part of it; a server or plugin that may read there has no part in them.
func (p *planner) sockets() (out []string) {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	own := p.Workspace
	if p.Profile == MCP || p.Profile == Plugin {
		own = ""
	}
	for line := range strings.Lines(string(text)) {
		i := strings.IndexByte(line, '/')
		if i < 0 {
			continue // it has no path
		}
		at := followed(strings.TrimSuffix(line[i:], "\n"))
		if (withinAny(at, p.Policy.Read) || withinAny(at, p.Policy.Write) && !withinAny(at, p.made)) && (own == "" || !within(at, own)) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSocket != 0 {
				out = append(out, filepath.Clean(at))
			}
		}
	}
	return out
}
