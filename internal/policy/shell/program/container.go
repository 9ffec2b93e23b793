package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// ContainerPaths returns the paths of this machine that a container may write, and
// those to which its files are copied.
func ContainerPaths(rest []string) []string {
	var out []string
	for i, w := range rest {
		option, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(rest) {
			value = rest[i+1]
		}
		switch option {
		case "-v", "--volume":
			if from, to, ok := strings.Cut(value, ":"); ok && !strings.HasSuffix(to, ":ro") {
				out = append(out, from)
			}
		case "--mount":
			for part := range strings.SplitSeq(value, ",") {
				key, from, _ := strings.Cut(part, "=")
				if (key == "source" || key == "src") && !strings.Contains(value, "readonly") && !strings.Contains(value, ",ro") {
					out = append(out, from)
				}
			}
		case "-o", "--output", "--iidfile", "--cidfile", "--metadata-file":
			out = append(out, value)
		}
	}
	if words := getopt.PlainWords(rest); len(words) > 2 && slices.Contains(words[:2], "cp") {
		out = append(out, words[len(words)-1])
	}
	return out
}

// ContainerCommand returns the command that a new container runs.
func ContainerCommand(args []string) (image string, command []string) {
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

// StopsContainer reports whether a verb of docker stops or removes something.
func StopsContainer(verb string) bool {
	return lex.Within("stop kill rm rmi restart prune down remove", verb)
}

// IsContainerNoun reports whether a word of docker comes before the verb.
func IsContainerNoun(word string) bool {
	return lex.Within("container image volume network system builder pod machine stack service buildx", word)
}
