// Package sqlite keeps sessions in one SQLite file: the embedded default of
// [hermes.Store], with nothing to install.
//
// One [Store] is one handle. All writes of a process pass through one
// goroutine (writer.go), which puts those that wait together into one
// transaction; reads have connections of their own and never wait for it (WAL).
// A message is written with its index entries in the same transaction, so what
// is stored can be found. Two processes may use one file: a write waits for
// the other's, and leases with fencing numbers keep a session to one of them.
//
// The package knows nothing of turns, models or faces. Start at open.go, then
// migrations/0001.sql, transcript.go and search.go.
package sqlite
