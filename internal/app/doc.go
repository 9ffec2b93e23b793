// Package app is the composition: configuration in, running program out. It
// holds the explicit lists of tools, providers and environments, and it is
// the one package that names implementations.
//
// It contains no decision about a conversation, only wiring. Everything is
// made on first use, so that a command pays for what it needs and no more.
//
// Start at app.go, then sessions.go (how a session is equipped) and tools.go.
package app
