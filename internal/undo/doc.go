// Package undo is the journal that lets a person take back what was changed
// in memory, skills, learnings and settings.
//
// A change is done inside Journal.Record, which keeps the content of the
// files it touches before and after, by content, and writes one record of who
// changed what. Undo puts the content of before back, if nobody has changed
// the files since, and is itself a change that can be taken back. The journal
// is a folder: records.jsonl, and blobs named by their SHA-256.
//
// What is kept elsewhere than in files, such as rows of the database, is a
// Source whose records are read and written like files.
//
// It knows contents only, not what they mean. Start at journal.go, then
// source.go, restore.go and prune.go.
package undo
