package remote

// maxText is the longest script that Argv passes on: Linux starts no program whose
// arguments and variables are together more than 2 MB.
const maxText = 1 << 20

// Argv returns the arguments of a shell that runs a script, for a backend that starts a
// program with arguments: sh -c and the script, in pieces where it is longer than one
// argument may be. It reports false if the script is too long for arguments at all.
func Argv(text string) ([]string, bool) {
	if len(text) <= maxArgument {
		return []string{"sh", "-c", text}, true
	}
	if len(text) > maxText {
		return nil, false
	}
	argv := []string{"sh", "-c", "__hermes_l=\nfor __hermes_d; do __hermes_l=$__hermes_l$__hermes_d; done\neval \"$__hermes_l\"", "sh"}
	for len(text) > 0 {
		n := min(len(text), maxArgument)
		argv = append(argv, text[:n])
		text = text[n:]
	}
	return argv, true
}
