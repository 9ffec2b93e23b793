// Package plan decides what the programs of a keeper may do: which files they may read
// and change, and which variables they get. [Make] computes a [sandbox.Policy] from the
// workspace, the user's home and search path, and what the user granted.
//
// Reading is an allow list, so that a forgotten secret stays closed: system folders, the
// workspace, tool chains on the search path, grants. Writing is the workspace, and
// private folders in place of the user's home, caches and temporary files.
//
// The package reads the disk and changes nothing; only [Plan.Prepare] makes the private
// folders. It does not know how walls are built. Start reading at plan.go.
package plan
