package shell

import "strings"

// containerRights judges the options of a new container with which it reaches
// this machine: its root, its devices, its other programs, or secret files.
func (j *judge) containerRights(args []string) {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case a == "--":
			return
		case name == "-v" || name == "--volume":
			j.containerMount(value)
		case strings.HasPrefix(a, "-v") && len(a) > 2 && !strings.HasPrefix(a, "--"):
			j.containerMount(a[2:])
		case name == "--mount":
			for part := range strings.SplitSeq(a+","+value, ",") {
				if key, source, ok := strings.Cut(part, "="); ok && (key == "source" || key == "src") {
					j.containerMount(source)
				}
			}
		case name == "--privileged" && value != "false", name == "--device", name == "--cap-add", name == "--volumes-from",
			(name == "--pid" || name == "--ipc" || name == "--uts" || name == "--userns" || name == "--cgroupns") && value == "host",
			name == "--security-opt" && strings.Contains(value, "unconfined"):
			j.ask("container-rights", "lets a container reach this machine beyond its own folders")
		}
	}
}

// containerMount judges a folder that a container gets.
func (j *judge) containerMount(mount string) {
	source, _, _ := strings.Cut(mount, ":")
	if !strings.ContainsAny(source, "/~.") && !dynamic(source) { // a volume with a name
		return
	}
	p, ok := j.absolute(source)
	if ok && (j.vital(p) || inFolder(p, "/proc") || inFolder(p, "/sys") || inFolder(p, "/dev") || inFolder(p, "/etc") || strings.HasSuffix(p, ".sock") || j.secretPath(p)) {
		j.ask("container-rights", "lets a container reach this machine beyond its own folders")
	}
}
