package cmd

import (
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/permissions"
	"hermes/internal/permission"
)

func permissionDeps(g *chat.Options) permissions.Deps {
	return permissions.Deps{Open: func() (*permission.File, []string, error) { return app.New(g.App).Permissions() }}
}
