//go:build race

package redact

// underRace says that the tests run several times slower.
const underRace = true
