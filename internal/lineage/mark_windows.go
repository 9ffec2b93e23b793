package lineage

import "os"

// markFile makes no file: programs on Windows inherit the handles that their
// parent names, and no others.
func markFile([]byte) (*os.File, error) { return nil, nil }

func inherited() []mark { return nil }
