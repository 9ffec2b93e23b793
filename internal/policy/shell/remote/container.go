package remote

import (
	"strings"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// ContainerRights judges the options of a new container with which it reaches
// this machine: its root, its devices, its other programs, or secret files.
func ContainerRights(l *track.Line, args []string) {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case a == "--":
			return
		case name == "-v" || name == "--volume":
			containerMount(l, value)
		case strings.HasPrefix(a, "-v") && len(a) > 2 && !strings.HasPrefix(a, "--"):
			containerMount(l, a[2:])
		case name == "--mount":
			for part := range strings.SplitSeq(a+","+value, ",") {
				if key, source, ok := strings.Cut(part, "="); ok && (key == "source" || key == "src") {
					containerMount(l, source)
				}
			}
		case name == "--privileged" && value != "false", name == "--device", name == "--cap-add", name == "--volumes-from",
			(name == "--pid" || name == "--ipc" || name == "--uts" || name == "--userns" || name == "--cgroupns") && value == "host",
			name == "--security-opt" && strings.Contains(value, "unconfined"):
			l.Ask("container-rights", "lets a container reach this machine beyond its own folders")
		}
	}
}

// containerMount judges a folder that a container gets.
func containerMount(l *track.Line, mount string) {
	source, _, _ := strings.Cut(mount, ":")
	if !strings.ContainsAny(source, "/~.") && !lex.Dynamic(source) { // a volume with a name
		return
	}
	p, ok := l.Absolute(source)
	if ok && (l.Vital(p) || track.InFolder(p, "/proc") || track.InFolder(p, "/sys") || track.InFolder(p, "/dev") || track.InFolder(p, "/etc") || strings.HasSuffix(p, ".sock") || l.SecretPath(p)) {
		l.Ask("container-rights", "lets a container reach this machine beyond its own folders")
	}
}
