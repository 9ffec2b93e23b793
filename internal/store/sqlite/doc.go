// Package sqlite stores everything in one SQLite file. It is the embedded default of
// store.Database and needs no installation.
//
// One goroutine per process makes all writes (writer.go); it combines waiting
// writes into one transaction. Reads have their own connections and never wait for
// writes (WAL). A message and its index entries are written in the same
// transaction, so every stored message can be found. Several processes may use one
// file: writes wait for each other, and leases with fencing numbers keep a session
// in one process.
//
// The file as a whole: config, open, readonly, migrate, migrations/, errors; what
// keeps it well: maintain, backup, index, repair, repair_tables, repair_pages.
// Conversations: sessions, session_change, transcript, codec, compact, waiting,
// journal, question, lease, stats. Search: search, search_match, search_rank,
// search_lineages. Beside them: ledger, learning, recollection, summary, review.
// The words of the index are known by fulltext, and files that SQLite cannot read
// by sqlitefile.
//
// The package does not know about turns, models or frontends. Start at open.go,
// then migrations/0001.sql, transcript.go and search.go.
package sqlite
