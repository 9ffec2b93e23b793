// Package memory keeps what Hermes knows beyond a session: the two small files
// MEMORY.md (notes of the agent) and USER.md (who the person is), and what an
// outside service remembers.
//
// The files are plain: entries parted by lines with a section sign, made to be
// read and edited by hand. Who wrote an entry, and when, stands beside them in
// a file of its own. Every change takes a lock that other processes respect,
// reads the file again, and replaces it whole. A session's prompt gets a copy
// that does not change; the tool shows the live state.
//
// Start at book.go (the files), then change.go (what an operation does),
// scan.go (what is not let in), write.go (how it is stored, inside the journal of
// undo), tool.go (what the model sees). Each outside
// service has a file of its own. The package knows no session and no prompt.
package memory
