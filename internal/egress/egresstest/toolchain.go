package egresstest

import (
	"os"
	"path/filepath"
)

// ToolFolder finds a folder of tool chains, such as .rustup or .pyenv, from a PATH that
// leads to them: it is beside or above an entry. Programs there look for it in the home,
// which tests replace. It returns "" if there is none.
func ToolFolder(path, folder string) string {
	const above = 3
	for _, dir := range filepath.SplitList(path) {
		for range above {
			if at := filepath.Join(dir, folder); filepath.IsAbs(dir) && dir != "/" && isFolder(at) {
				return at
			}
			dir = filepath.Dir(dir)
		}
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
