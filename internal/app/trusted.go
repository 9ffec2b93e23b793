package app

import (
	"os"
	"path/filepath"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/policy"
)

// trusted returns whether the user trusts the text of a file or folder, nil if nothing is trusted: a
// path of another machine or a container is not the file of that name here.
func trusted(cfg *config.Config, w hermes.Workspace) func(path string) bool {
	if w.Elsewhere() {
		return nil
	}
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	var folders []string
	for _, f := range cfg.Security().TrustedFolders {
		folders = append(folders, home.Expand(f, userHome))
	}
	return policy.Trusted(folders, filepath.EvalSymlinks)
}

// trustCommand returns the command with which the user trusts one more folder; "" for
// the user's home, which holds more than one project, and for what it is in. It is nil where nothing
// can be trusted.
func trustCommand(cfg *config.Config, w hermes.Workspace) func(folder string) string {
	if w.Elsewhere() {
		return nil
	}
	return func(folder string) string {
		userHome, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		return policy.TrustCommand(cfg.Security().TrustedFolders, folder, userHome, filepath.EvalSymlinks)
	}
}
