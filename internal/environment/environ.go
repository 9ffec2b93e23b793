package environment

import (
	"maps"
	"slices"
	"strings"
)

// childEnv returns the variables that commands may see. It removes variables
// whose names suggest a secret, unless passed through, and variables that make a
// shell run code at startup.
func childEnv(env, passthrough []string) []string {
	var kept []string
	for _, v := range env {
		name, _, ok := strings.Cut(v, "=")
		if !ok || name == "" || name == "PWD" || runsCode(name) {
			continue
		}
		if slices.Contains(passthrough, name) || !suggestsSecret(name) {
			kept = append(kept, v)
		}
	}
	return kept
}

// runsCode reports whether a shell runs what the variable holds or names.
func runsCode(name string) bool {
	return name == "BASH_ENV" || name == "ENV" || name == "PROMPT_COMMAND" || strings.HasPrefix(name, "BASH_FUNC_")
}

// suggestsSecret judges a variable by its name. It excludes a few names that
// match but are not secrets, such as the address of the SSH agent.
func suggestsSecret(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "GPG_KEY":
		return false
	}
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	for part := range strings.SplitSeq(name, "_") {
		switch part {
		case "KEY", "KEYS", "APIKEY", "AUTH", "OAUTH", "PAT", "PASS", "PWD", "WEBHOOK":
			return true
		}
		if strings.HasSuffix(part, "APIKEY") {
			return true
		}
	}
	return false
}

func sortedNames(vars map[string]string) []string {
	return slices.Sorted(maps.Keys(vars))
}
