// Package modelsuite has the contract suites of protocols that reach models.
// [Run] asks for recorded and written answers, [RunAnswers] is the part that holds
// for a protocol that is not HTTP, and [RunHandoff] continues conversations that
// another protocol began. [Recorded] plays the recordings. Start with contract.go.
package modelsuite
