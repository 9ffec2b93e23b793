// Package memory keeps what Hermes remembers beyond a session: the two small
// files MEMORY.md (the agent's notes) and USER.md (who the user is).
//
// The files are plain text to read and edit by hand: entries separated by lines
// with a section sign. A separate file records who wrote an entry and when.
// Every change takes a lock that other processes respect, reads the file again,
// and replaces it as a whole. A session's prompt gets a copy that does not
// change; the tool shows the live state.
//
// The package must not know sessions or prompts. Start at file.go (the files),
// then change.go (operations), write.go (storage, with an undo record) and
// tool.go (what the model sees). Refused content is in the folder scan, external
// services are below the folder external.
package memory
