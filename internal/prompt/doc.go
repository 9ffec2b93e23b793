// Package prompt builds the system prompt: an ordered list of sections, each
// with a name, a tier and a text. The prompt is built once per session and
// stored with it, so that every request begins with the same bytes and the
// provider's cache works. Sections that may differ between sessions (see
// [Tier]) come after those that do not.
//
// The texts are the .md files under text/. Start reading at [Build], which
// collects the sections. rules.go finds the project files written for agents,
// such as AGENTS.md. fit.go shortens a prompt that is too long for the model's
// window, beginning with the lowest layer of layer.go. The package reads files
// only through the Files it is given, and knows neither tools nor stores.
package prompt
