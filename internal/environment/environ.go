package environment

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/isolation"
	"hermes/internal/redact"
)

// Variables returns the variables that commands may see. It removes the keys of
// Hermes, whatever passes them through, then variables that suggest a secret,
// unless passed through, and variables that make a shell run code at startup. The
// mark of the agent is the last.
func Variables(c LocalConfig) []string {
	keys := keyValues(c)
	var kept []string
	for _, v := range c.Env {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" || name == "PWD" || runsCode(name) || c.keyOf(name) != "" || keys.within(value) {
			continue
		}
		if slices.Contains(c.Passthrough, name) || !suggestsSecret(name) && !showsSecret(name, value) {
			kept = append(kept, v)
		}
	}
	return append(kept, c.Mark.Environ()...)
}

// keyOf says whose key a variable holds, by its name; "" for others.
func (c LocalConfig) keyOf(name string) string {
	if whose := KeyOf(name); whose != "" || c.KeyOf == nil {
		return whose
	}
	return c.KeyOf(name)
}

// secretValues are values that must not reach commands under any name.
type secretValues []string

// keyValues collects the keys of Hermes that the process has, and those given.
func keyValues(c LocalConfig) secretValues {
	list := slices.Clone(c.Keys)
	for _, v := range c.Env {
		if name, value, _ := strings.Cut(v, "="); c.keyOf(name) != "" {
			list = append(list, value)
		}
	}
	return list
}

// HoldsKey reports whether a text is or contains a key of Hermes, as Variables judges values.
func HoldsKey(c LocalConfig, text string) bool { return keyValues(c).within(text) }

// within reports whether a value is one of the keys or contains one. Short keys
// and words, such as a dummy key for a local server, may be part of other values.
func (s secretValues) within(value string) bool {
	const shortest, longEnough = 8, 16
	return slices.ContainsFunc(s, func(key string) bool {
		if len(key) < longEnough || !strings.ContainsAny(key, "0123456789") {
			return len(key) >= shortest && value == key
		}
		return strings.Contains(value, key)
	})
}

// showsSecret reports whether a value is a secret by its form: a key of a known form,
// an address with a password, or what looks like a key beside this name. Commands
// need the address of a proxy, which may have a password.
func showsSecret(name, value string) bool {
	if strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
		return false
	}
	text := name + "=" + value
	if harmless(name) {
		text = value
	}
	return redact.Text(text) != text
}

// Secrets returns the values among variables that are secrets: those of keys, and those
// whose names announce a secret and that can be looked for in any text. keyOf is that of
// LocalConfig.
func Secrets(env []string, keyOf func(name string) string) []string {
	c := LocalConfig{KeyOf: keyOf}
	var out []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if c.keyOf(name) != "" || redact.SecretName(name) && distinct(value) {
			out = append(out, value)
		}
	}
	return out
}

// distinct reports whether a value of a secret variable can be looked for in any
// text. A password such as "postgres" would be found in ordinary words, and the path
// of a file, as SSH_AUTH_SOCK has it, is no secret.
func distinct(value string) bool {
	if len(value) < 12 || !strings.ContainsAny(value, "0123456789") {
		return false
	}
	if filepath.IsAbs(value) {
		_, err := os.Lstat(value)
		return err != nil
	}
	return true
}

// runsCode reports whether a shell runs what the variable holds or names.
func runsCode(name string) bool {
	return name == "BASH_ENV" || name == "ENV" || name == "PROMPT_COMMAND" || strings.HasPrefix(name, "BASH_FUNC_")
}

// harmless reports whether a name is that of no secret, although it looks like one:
// the address of the SSH agent, the id of a public key.
func harmless(name string) bool {
	switch strings.ToUpper(name) {
	case "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "GPG_KEY":
		return true
	}
	return false
}

// suggestsSecret judges a variable by its name.
func suggestsSecret(name string) bool {
	if harmless(name) {
		return false
	}
	name = strings.ToUpper(name)
	if redact.SecretName(name) {
		return true
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

// clean returns the variables of a command that runs outside: those that the program
// began with, without what commands exported and without what makes programs load or run
// other code. PATH loses the folders that commands can write.
func (l *Local) clean() []string {
	written := l.written()
	var kept []string
	for _, v := range Variables(l.config) {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case loadsCode(name):
		case name == "PATH":
			kept = append(kept, "PATH="+safePath(value, written))
		default:
			kept = append(kept, v)
		}
	}
	return kept
}

// written lists the folders that commands can write, with links followed.
func (l *Local) written() []string {
	folders := []string{l.config.Dir, cmp.Or(l.config.Temp, os.TempDir())}
	if b, ok := l.config.Walls.(isolation.Bounds); ok {
		_, more := b.Bounds()
		folders = append(folders, more...)
	}
	var real []string
	for _, f := range folders {
		if f, err := filepath.EvalSymlinks(f); err == nil {
			real = append(real, f)
		}
	}
	return real
}

// loadsCode reports whether programs load or run what the variable names.
func loadsCode(name string) bool {
	switch name {
	case "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
		"SSH_ASKPASS", "PERL5OPT", "PERL5LIB", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "LESSOPEN", "MAKEFLAGS":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "GIT_CONFIG")
}

// safePath removes from a PATH what is not an absolute folder that exists, and folders in
// which a command could have put a program, or could have changed one.
func safePath(list string, written []string) string {
	var kept []string
	for _, folder := range filepath.SplitList(list) {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil || !filepath.IsAbs(folder) || slices.ContainsFunc(written, func(w string) bool { return below(real, w) || filepath.Dir(w) == real }) {
			continue
		}
		kept = append(kept, folder)
	}
	return strings.Join(kept, string(filepath.ListSeparator))
}

// below reports whether a path is a folder or in it. Both are clean.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
