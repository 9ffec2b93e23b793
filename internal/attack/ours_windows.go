package attack

import "os"

// ours is true: each user has a temporary folder.
func ours(os.FileInfo) bool { return true }
