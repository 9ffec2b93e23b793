// Package mcp connects MCP servers: programs and services that offer tools, resources and
// prompts by the Model Context Protocol (https://modelcontextprotocol.io).
//
// Each server is a [hermes.Toolset] named mcp-SERVER, whose tools are named
// mcp__SERVER__TOOL. A server exists once in the program. It is started in the background by
// [Servers.Start], connected again when its connection is lost, and ended by Close, with all
// that it started.
//
// The wire protocol is the official Go SDK's. This package owns what that leaves open:
// when a server runs (server.go), what its tools are called and whether they may run
// (toolset.go, approved.go), what a call returns (calls.go), and what it may ask of Hermes
// (asks.go). Its settings are read by package setting. How a program is started and confined, how the network is
// reached and how a model is asked is handed in by [Config].
//
// Nothing that a server says is trusted: its texts are data of bounded size, a definition of a
// tool that changed since the user approved it is not run before the user approves it again,
// and a server that fails harms only its own calls.
package mcp
