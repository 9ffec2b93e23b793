package cmd

import (
	"github.com/spf13/cobra"

	"hermes/internal/cmd/audit"
	"hermes/internal/cmd/auth"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/checkpoints"
	"hermes/internal/cmd/config"
	"hermes/internal/cmd/demo"
	"hermes/internal/cmd/doctor"
	"hermes/internal/cmd/fallback"
	"hermes/internal/cmd/hooks"
	"hermes/internal/cmd/insights"
	"hermes/internal/cmd/journey"
	"hermes/internal/cmd/learning"
	"hermes/internal/cmd/logs"
	"hermes/internal/cmd/mcp"
	"hermes/internal/cmd/memory"
	"hermes/internal/cmd/model"
	"hermes/internal/cmd/panic"
	"hermes/internal/cmd/permissions"
	"hermes/internal/cmd/plugins"
	"hermes/internal/cmd/profile"
	"hermes/internal/cmd/promptsize"
	"hermes/internal/cmd/sessions"
	"hermes/internal/cmd/skills"
	"hermes/internal/cmd/spend"
	"hermes/internal/cmd/tools"
	"hermes/internal/cmd/trust"
	"hermes/internal/cmd/undo"
	"hermes/internal/cmd/worktree"
)

// commands is the list of all commands besides the chat.
func commands(g *chat.Options) []*cobra.Command {
	f := g.Factory
	keys := auth.NewCmd(f, nil)
	keys.AddCommand(plugins.NewSpotifyCmd(f))
	return []*cobra.Command{
		chat.NewCmd(g, false),
		chat.NewAttachCmd(g),
		demo.NewCmd(f, g.Appearance),
		model.NewCmd(f, nil),
		fallback.NewCmd(f, nil),
		keys,
		config.NewCmd(f),
		sessions.NewCmd(f),
		memory.NewCmd(f, nil),
		learning.NewCmd(f, nil),
		skills.NewCmd(f, nil),
		skills.NewCuratorCmd(f, nil),
		skills.NewBundlesCmd(f, nil),
		journey.NewCmd(f, nil),
		permissions.NewCmd(f),
		audit.NewCmd(f),
		trust.NewCmd(f),
		mcp.NewCmd(f),
		hooks.NewCmd(f),
		plugins.NewCmd(f),
		profile.NewCmd(f, nil),
		tools.NewCmd(f, nil),
		doctor.NewCmd(f, nil),
		logs.NewCmd(f),
		panic.NewCmd(f, func() bool { return g.MayAttend == nil || g.MayAttend() == nil }),
		undo.NewCmd(f),
		checkpoints.NewCmd(f),
		checkpoints.NewDiffCmd(f),
		worktree.NewCmd(f),
		promptsize.NewCmd(f, nil),
		spend.NewCmd(f, nil),
		insights.NewCmd(f),
	}
}
