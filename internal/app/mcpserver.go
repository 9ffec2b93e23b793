package app

import (
	"context"
	"fmt"
	"os"

	"hermes"
	"hermes/internal/archive"
	"hermes/internal/mcpserver"
	"hermes/internal/memory"
	"hermes/internal/protocol/router"
)

// MCPServer makes the server for MCP clients over all sessions of the home. allowApprovals lets
// clients answer approvals. The app closes it.
func (a *App) MCPServer(ctx context.Context, allowApprovals bool) (*mcpserver.Server, error) {
	store, err := a.Database(ctx)
	if err != nil {
		return nil, err
	}
	remembered, err := a.memoryFile()
	if err != nil {
		return nil, err
	}
	skills, err := a.skills()
	if err != nil {
		return nil, err
	}
	s := mcpserver.New(mcpserver.Config{
		Client: a.Client(nil), Store: store, Memory: entries{remembered}, Skills: skills.On("mcp"), Mask: mcpMask{a.Shown}, Where: router.Where,
		From:           hermes.From{Client: fmt.Sprintf("mcp %d", os.Getpid()), Platform: "mcp", Name: "MCP client"},
		AllowApprovals: allowApprovals, Version: Version, Now: a.opts.Now, Log: a.log().With("component", "mcpserver"),
	})
	a.closing(s.Close)
	return s, nil
}

// entries lends the files of memory to MCP clients.
type entries struct{ file *memory.File }

// Entries returns the entries of a file.
func (e entries) Entries(file string) (list []mcpserver.Entry, err error) {
	t, err := memory.ParseTarget(file)
	if err != nil || !e.file.Has(t) {
		return nil, err
	}
	state, err := e.file.Read(t)
	for _, m := range state.Entries {
		list = append(list, mcpserver.Entry{Text: m.Text, From: m.Origin.String(), Provenance: m.Origin.Provenance})
	}
	return list, err
}

// mcpMask removes secrets from what MCP clients are told, as from what the user is shown again.
type mcpMask struct{ archive.Mask }

// Text masks a text.
func (m mcpMask) Text(text string) string { return m.Mask(text) }
