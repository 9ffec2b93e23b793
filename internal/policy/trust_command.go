package policy

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// TrustCommand returns the command with which the user trusts one more folder than those in
// the settings; "" for the user's home, which holds more than one project, and for what it is
// in. real resolves all links of a path, as filepath.EvalSymlinks does.
func TrustCommand(trusted []string, folder, userHome string, real func(string) (string, error)) string {
	if !filepath.IsAbs(folder) || holds(folder, userHome, real) {
		return ""
	}
	all, err := json.Marshal(append(slices.Clone(trusted), filepath.ToSlash(folder)))
	if err != nil {
		return ""
	}
	return "hermes config set security.trusted_folders '" + strings.ReplaceAll(string(all), "'", `'\''`) + "'"
}

// holds reports whether a folder is another one or has it below, wherever links lead.
func holds(folder, other string, real func(string) (string, error)) bool {
	resolved := func(path string) string { // or the path itself if it cannot be read
		if at, err := real(path); err == nil {
			return at
		}
		return path
	}
	for _, f := range []string{folder, resolved(folder)} {
		for _, o := range []string{other, resolved(other)} {
			if rest, err := filepath.Rel(f, o); err == nil && filepath.IsLocal(rest) {
				return true
			}
		}
	}
	return false
}
