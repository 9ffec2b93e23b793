// Package checkpoint makes snapshots of file trees and restores them.
//
// Each folder that snapshots are made of, a workspace, has a folder of its own in the store:
// packs of contents named by their SHA-256, a list of snapshots, a ledger of what the agent
// wrote, and a cache with which the next snapshot reads only what changed. A lock per
// workspace lets one process at a time work on it.
//
// A restore is planned, shown and applied. It undoes what the ledger says the agent wrote, on
// top of what the user changed since: such changes are kept, merged line by line where both
// changed a file, and reported where that is impossible. A journal finishes an interrupted
// restore at the next use.
//
// The folders are on this machine, or in a place that scripts work in: a container, another
// machine. There, trees are read and contents are kept and restored by package away; the small
// files of a workspace are copied to this machine while it works on them. What is decided is the
// same: type ground in place.go is what differs, there.go is its other side, survey.go what it leaves
// out. Since each script takes time there, openings are told what will be asked first (type asking).
//
// The package knows no tools and no store of sessions: callers hand in who and why. Start at
// store.go, then snapshot.go, scan.go (reading a tree), ledger.go, plan.go and restore.go.
// diff.go compares, prune.go removes what is old, rollback.go remembers what was begun together
// with a conversation. Package object keeps the contents.
package checkpoint
