// Package sqlite stores sessions in one SQLite file. It is the embedded default of
// [hermes.Store] and needs no installation.
//
// One goroutine per process makes all writes (writer.go); it combines waiting
// writes into one transaction. Reads have their own connections and never wait for
// writes (WAL). A message and its index entries are written in the same
// transaction, so every stored message can be found. Several processes may use one
// file: writes wait for each other, and leases with fencing numbers keep a session
// in one process.
//
// The package does not know about turns, models or frontends. Start at open.go,
// then migrations/0001.sql, transcript.go and search.go.
package sqlite
