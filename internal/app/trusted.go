package app

import (
	"os"
	"path/filepath"

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
