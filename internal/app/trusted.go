package app

import (
	"os"
	"path/filepath"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/policy"
)

// trusted returns whether the user trusts the text of a file or folder. A path of
// another machine or a container is not the file of that name here.
func trusted(cfg *config.Config) func(path string) bool {
	if !onMachine(cfg.Terminal().Backend) {
		return func(string) bool { return false }
	}
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	var folders []string
	for _, f := range cfg.Security().TrustedFolders {
		folders = append(folders, home.Expand(f, userHome))
	}
	return policy.Trusted(folders, filepath.EvalSymlinks)
}

// onMachine reports whether a backend is this machine.
func onMachine(backend string) bool { return backend == "" || backend == "local" }

// trustCommand returns the command with which the user trusts one more folder; "" for
// the user's home, which holds more than one project, and for what it is in.
func trustCommand(cfg *config.Config) func(folder string) string {
	return func(folder string) string {
		userHome, err := os.UserHomeDir()
		if err != nil || !onMachine(cfg.Terminal().Backend) {
			return ""
		}
		return policy.TrustCommand(cfg.Security().TrustedFolders, folder, userHome, filepath.EvalSymlinks)
	}
}
