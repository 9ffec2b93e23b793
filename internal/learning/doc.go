// Package learning maintains what was learned from failures: it merges
// duplicate learnings, retires fixes that never helped or were wrong, keeps what
// waits for the user's approval, and exports and imports learnings.
//
// internal/hook/learning counts failures and shows known fixes, the tool in
// internal/tool/learning saves fixes, and hermes.Learnings stores them. This
// package has the changes that users and the upkeep make. Each change runs
// inside Config.Record, so that it can be undone. The package does not know
// how learnings are stored.
//
// Start at store.go, then merge.go (duplicates), retire.go (useless fixes),
// pending.go (fixes that wait for approval), record.go (learnings as undo records)
// and transfer.go.
package learning
