// Package law holds the tests that keep the structure and the words of the
// program: every package has a layer and imports only lower ones, libraries know
// nothing of Hermes, frontends reach the agent through the session, the process
// environment is read in few packages, nothing happens in init, no package
// variable is written, every tool, transport and hook is in the composition, a
// package of more than 15 files has a reason in docs/architecture.md, expressions
// that are compiled at first use are valid, and
// names and words that were replaced do not come back.
//
// The package has no code of its own. Start at layers_test.go: a new package
// needs one row there, and choosing its layer is the design decision. The
// picture in docs/architecture.md is made from that table. The tests read source
// text only, so they are fast, need no network and cover the files of every
// operating system.
package law
