// Package prompt builds the system prompt: an ordered list of sections, each
// with a name, a tier and a text. It is built once for a session and stored
// with it, since providers keep what a request begins with; so nothing in it
// changes during a session, and what may change from one session to the next
// (the tier says) stands behind what does not.
//
// The texts are the .md files under text/. Build gathers the sections; rules.go
// finds the notes that people leave for agents in their projects; fit.go
// shortens what is too long for the model's window, from the lowest layer of
// layer.go up. The package reads files only through the Files it is given, and
// knows neither tools nor stores.
package prompt
