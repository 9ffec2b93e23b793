package skill

import (
	"embed"
	"io/fs"
)

//go:embed all:bundled
var bundledFiles embed.FS

// bundledSet is the set of skills that is built in.
func bundledSet() fs.FS {
	sub, err := fs.Sub(bundledFiles, "bundled")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}
