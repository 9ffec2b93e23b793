package shell

import (
	"slices"
	"strings"
)

// containers judges docker and similar programs: another daemon, stopping and
// removing containers, and commands inside them.
func (j *judge) containers(name string, rest []string, s situation) bool {
	switch name {
	case "docker-compose", "podman-compose":
		rest = append([]string{"compose"}, rest...)
	case "kubectl", "oc":
		if i := slices.Index(rest, "--"); slices.Contains(rest, "exec") && i >= 0 {
			j.inContainer(rest[i+1:], s)
		}
		return true
	case "docker", "podman", "nerdctl":
	default:
		return false
	}
	words := wrapper{values: "Hclfp", long: " --host --context --config --log-level --url --connection --identity --root --tlscacert --tlscert --tlskey --file --project-name --project-directory --profile --env-file "}.inner(rest)
	own := rest[:len(rest)-len(words)]
	if hasShort(own, "H") || hasLong(own, "--host") || hasLong(own, "--context") || hasLong(own, "--url") || hasLong(own, "--connection") || hasShort(own, "c") && name == "docker" {
		j.ask("docker-daemon", "connects to another container daemon")
	}
	if len(words) == 0 {
		return true
	}
	switch words[0] {
	case "unshare":
		j.argv(words[1:], s)
	case "context":
		if len(words) > 1 && (words[1] == "use" || words[1] == "rm" || words[1] == "update") {
			j.ask("docker-daemon", "switches to another container daemon")
		}
	case "exec":
		in := wrapper{values: "euw", long: " --env --env-file --user --workdir --detach-keys ", words: 1}.inner(words[1:])
		j.inContainer(in, s)
	case "compose":
		inner := wrapper{values: "fp", long: " --file --project-name --project-directory --profile --env-file "}.inner(words[1:])
		if len(inner) > 0 && stopsContainer(inner[0]) {
			j.ask("docker-lifecycle", "stops, restarts or removes containers")
		}
		if len(inner) > 0 && (inner[0] == "exec" || inner[0] == "run") {
			j.containerRights(inner[1:])
			j.inContainer(wrapper{values: "euwvpl", long: " --env --user --workdir --index --volume --publish --label --name --entrypoint ", words: 1}.inner(inner[1:]), s)
		}
	case "run", "create":
		j.containerRights(words[1:])
		image, command := containerCommand(words[1:])
		j.inContainer(command, s)
		j.tools(program(image), command, s) // the image of a tool
	default:
		if stopsContainer(words[0]) || len(words) > 1 && stopsContainer(words[1]) && isContainerNoun(words[0]) {
			j.ask("docker-lifecycle", "stops, restarts or removes containers")
		}
	}
	return true
}

// containerCommand returns the command that a new container runs.
func containerCommand(args []string) (image string, command []string) {
	entry := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		option, value, attached := strings.Cut(a, "=")
		switch {
		case strings.HasPrefix(a, "--"):
			if attached || !takesContainerValue(option) {
				break
			}
			if i++; i < len(args) {
				value = args[i]
			}
		case len(a) > 1 && a[0] == '-':
			if at := strings.IndexAny(a[1:], "aceehlmpuvw"); at == len(a)-2 {
				i++
			}
		default: // the image
			if command = args[i+1:]; entry == "" {
				return a, command
			}
			return a, append([]string{entry}, args[i+1:]...)
		}
		if option == "--entrypoint" {
			entry = value
		}
	}
	return "", nil
}

// takesContainerValue reports whether a long option of docker run takes the next
// word.
func takesContainerValue(option string) bool {
	switch option {
	case "--rm", "--init", "--privileged", "--detach", "--interactive", "--tty", "--read-only", "--no-healthcheck", "--oom-kill-disable", "--publish-all", "--sig-proxy", "--disable-content-trust", "--quiet", "--help", "--replace", "--tls-verify":
		return false
	}
	return true
}

// inContainer judges a command that runs in a container, whose folders are not
// those of this machine.
func (j *judge) inContainer(args []string, s situation) {
	j.inSubshell(func() {
		j.enter("")
		j.argv(args, s)
	})
}

func stopsContainer(verb string) bool {
	switch verb {
	case "stop", "kill", "rm", "rmi", "restart", "prune", "down", "remove":
		return true
	}
	return false
}

func isContainerNoun(word string) bool {
	switch word {
	case "container", "image", "volume", "network", "system", "builder", "pod", "machine", "stack", "service", "buildx":
		return true
	}
	return false
}
