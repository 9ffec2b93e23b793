//go:build !linux

package worktree

// Uses names the processes of this user, other than this one, that work in a folder. known
// is false where the system does not say.
func Uses(string) (uses []string, known bool) { return nil, false }
