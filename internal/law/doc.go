// Package law holds the tests that keep the house standing: every package has a
// layer and imports only lower ones, rooms know the vocabulary and instruments
// alone, faces reach the agent through the session, the process environment is
// read in few places, nothing happens in init, no package variable is written,
// and every tool, transport and hook that exists is in the composition.
//
// The package has no code of its own. Start at layers_test.go: a new package
// needs one row there, and choosing its layer is the design decision. The tests
// read source text only, so they are fast, need no network and cover the files of
// every operating system, whatever the machine they run on.
package law
