// Package undo is the journal with which a user undoes changes of memory,
// skills, learnings, settings, permissions and trust.
//
// A change runs inside Journal.Record. It stores the content of the files
// before and after the change and writes one record of who changed what. Undo
// restores the earlier content if the files have not changed since. An undo is
// itself a change that can be undone. The journal is a folder: records.jsonl,
// and blobs named by their SHA-256.
//
// Data that is not in files, such as database rows, comes from a Source, whose
// records are read and written like files.
//
// The package knows contents, not their meaning. Start at journal.go, then
// source.go, restore.go and prune.go.
package undo
