// Package learning looks after what was learned from failures: it joins
// learnings that say the same, retires those that never helped or were wrong,
// and carries them from one home to another.
//
// Failures are counted and answered by internal/hook/learning, fixes are saved
// by the tool of internal/tool/learning, and hermes.Learnings stores them. Here
// is what a person or the upkeep of the program does with them; every change
// is enclosed so that it can be taken back.
//
// Start at book.go, then merge.go (what is the same), fate.go (what is
// retired), record.go (how undo sees a learning) and transfer.go.
package learning
