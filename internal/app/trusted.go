package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/config"
	"hermes/internal/policy"
)

// trusted returns whether the user trusts the text of a file or folder. A path of
// another machine or a container is not the file of that name here.
func trusted(cfg *config.Config) func(path string) bool {
	if !onHost(cfg) {
		return func(string) bool { return false }
	}
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	var folders []string
	for _, f := range cfg.Security().TrustedFolders {
		folders = append(folders, expandHome(f, userHome))
	}
	return policy.Trusted(folders, filepath.EvalSymlinks)
}

// onHost reports whether sessions work with the files of this machine.
func onHost(cfg *config.Config) bool {
	return local(cfg.Terminal().Backend)
}

// local reports whether a backend is this machine.
func local(backend string) bool { return backend == "" || backend == "local" }

// trustCommand returns the command with which the user trusts one more folder; "" for
// the user's home, which holds more than one project, and for what it is in.
func trustCommand(cfg *config.Config) func(folder string) string {
	return func(folder string) string {
		userHome, err := os.UserHomeDir()
		if err != nil || !onHost(cfg) || !filepath.IsAbs(folder) || holds(folder, userHome) {
			return ""
		}
		all, err := json.Marshal(append(slices.Clone(cfg.Security().TrustedFolders), filepath.ToSlash(folder)))
		if err != nil {
			return ""
		}
		return "hermes config set security.trusted_folders '" + strings.ReplaceAll(string(all), "'", `'\''`) + "'"
	}
}

// holds reports whether a folder is another one or has it below, wherever links lead.
func holds(folder, other string) bool {
	for _, f := range []string{folder, resolved(folder)} {
		for _, o := range []string{other, resolved(other)} {
			if rest, err := filepath.Rel(f, o); err == nil && filepath.IsLocal(rest) {
				return true
			}
		}
	}
	return false
}

// resolved returns a path without links, or the path itself if it cannot be read.
func resolved(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}
