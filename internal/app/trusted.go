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

// trusted returns whether the user trusts the text of a file or folder.
func trusted(cfg *config.Config) func(path string) bool {
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	var folders []string
	for _, f := range cfg.Security().TrustedFolders {
		folders = append(folders, expandHome(f, userHome))
	}
	return policy.Trusted(folders, filepath.EvalSymlinks)
}

// trustCommand returns the command with which the user trusts one more folder; "" for
// the user's home, which holds more than one project, and for what it is in.
func trustCommand(cfg *config.Config) func(folder string) string {
	return func(folder string) string {
		userHome, err := os.UserHomeDir()
		if rest, relErr := filepath.Rel(folder, userHome); err != nil || relErr == nil && filepath.IsLocal(rest) || !filepath.IsAbs(folder) {
			return ""
		}
		all, err := json.Marshal(append(slices.Clone(cfg.Security().TrustedFolders), filepath.ToSlash(folder)))
		if err != nil {
			return ""
		}
		return "hermes config set security.trusted_folders '" + strings.ReplaceAll(string(all), "'", `'\''`) + "'"
	}
}
