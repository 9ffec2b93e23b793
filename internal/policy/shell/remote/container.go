package remote

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Containers judges docker and similar programs: another daemon, stopping and
// removing containers, and commands inside them. It reports false for other programs.
func Containers(l *track.Line, run track.Runner, name string, rest []string, s track.Situation) bool {
	switch name {
	case "docker-compose", "podman-compose":
		rest = append([]string{"compose"}, rest...)
	case "kubectl", "oc":
		if i := slices.Index(rest, "--"); slices.Contains(rest, "exec") && i >= 0 {
			inContainer(l, run, rest[i+1:], s)
		}
		return true
	case "docker", "podman", "nerdctl":
	default:
		return false
	}
	words := getopt.Wrapper{Values: "Hclfp", Long: " --host --context --config --log-level --url --connection --identity --root --tlscacert --tlscert --tlskey --file --project-name --project-directory --profile --env-file "}.Inner(rest)
	own := rest[:len(rest)-len(words)]
	if getopt.HasShort(own, "H") || getopt.HasLong(own, "--host") || getopt.HasLong(own, "--context") || getopt.HasLong(own, "--url") || getopt.HasLong(own, "--connection") || getopt.HasShort(own, "c") && name == "docker" {
		l.Ask("docker-daemon", "connects to another container daemon")
	}
	if len(words) == 0 {
		return true
	}
	switch words[0] {
	case "unshare":
		run.Command(words[1:], s)
	case "context":
		if len(words) > 1 && (words[1] == "use" || words[1] == "rm" || words[1] == "update") {
			l.Ask("docker-daemon", "switches to another container daemon")
		}
	case "exec":
		in := getopt.Wrapper{Values: "euw", Long: " --env --env-file --user --workdir --detach-keys ", Words: 1}.Inner(words[1:])
		inContainer(l, run, in, s)
	case "compose":
		inner := getopt.Wrapper{Values: "fp", Long: " --file --project-name --project-directory --profile --env-file "}.Inner(words[1:])
		if len(inner) > 0 && program.StopsContainer(inner[0]) {
			l.Ask("docker-lifecycle", "stops, restarts or removes containers")
		}
		if len(inner) > 0 && (inner[0] == "exec" || inner[0] == "run") {
			containerRights(l, inner[1:])
			inContainer(l, run, getopt.Wrapper{Values: "euwvpl", Long: " --env --user --workdir --index --volume --publish --label --name --entrypoint ", Words: 1}.Inner(inner[1:]), s)
		}
	case "run", "create":
		containerRights(l, words[1:])
		image, command := program.ContainerCommand(words[1:])
		inContainer(l, run, command, s)
		Tools(l, lex.Program(image), command, s) // the image of a tool
	default:
		if program.StopsContainer(words[0]) || len(words) > 1 && program.StopsContainer(words[1]) && program.IsContainerNoun(words[0]) {
			l.Ask("docker-lifecycle", "stops, restarts or removes containers")
		}
	}
	return true
}

// inContainer judges a command that runs in a container, whose folders are not
// those of this machine.
func inContainer(l *track.Line, run track.Runner, args []string, s track.Situation) {
	l.InSubshell(func() {
		l.Enter("")
		run.Command(args, s)
	})
}

// containerRights judges the options of a new container with which it reaches
// this machine: its root, its devices, its other programs, or secret files.
func containerRights(l *track.Line, args []string) {
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
