// Package sandbox builds walls around child processes, so that a program that a
// model chose reaches only what its [Policy] names.
//
// A program starts itself once more as a keeper, which builds the walls round
// itself and then starts every command from inside. The keeper holds no secret
// and is not trusted: the walls hold if a command takes it over.
//
// The package does not know what is worth protecting; package plan does. Layers
// are described in docs/sandbox.md. Start reading at policy.go.
package sandbox
