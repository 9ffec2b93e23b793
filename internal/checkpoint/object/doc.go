// Package object keeps contents by their SHA-256 in a folder, many in one file.
//
// A pack is a file of contents, each compressed if that makes it smaller, with an index of
// hashes at its end. A pack is written under another name, synced and renamed, and is never
// changed later: so whatever interrupts the program, a pack is whole or absent. What is read
// is compared with its hash; a damaged content is ErrDamaged, never returned as if it was good.
//
// The package knows no files, folders or snapshots, and does not lock: its user sees to it
// that one Store at a time is open for a folder. Start at store.go; pack.go has the format,
// writer.go makes packs, sweep.go removes what is no longer needed.
package object
