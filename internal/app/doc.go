// Package app builds the running program from the configuration. It contains the
// lists of tools, providers and environments, and it is the only package that
// names implementations.
//
// It only connects components and makes no decisions about a conversation.
// Everything is made on first use, so that a command pays only for what it needs.
//
// Start at app.go, then sessions.go (how a session gets its runtime) and tools.go.
package app
