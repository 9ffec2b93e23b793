package skill

import (
	"embed"
	"io/fs"
)

//go:embed all:bundled
var bundledFiles embed.FS

// bundledSet returns the built-in skills.
func bundledSet() fs.FS {
	sub, err := fs.Sub(bundledFiles, "bundled")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}
