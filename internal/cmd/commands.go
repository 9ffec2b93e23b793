package cmd

import (
	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/auth"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/config"
	"hermes/internal/cmd/demo"
	"hermes/internal/cmd/doctor"
	"hermes/internal/cmd/fallback"
	"hermes/internal/cmd/insights"
	"hermes/internal/cmd/journey"
	"hermes/internal/cmd/learning"
	"hermes/internal/cmd/logs"
	"hermes/internal/cmd/memory"
	"hermes/internal/cmd/model"
	"hermes/internal/cmd/permissions"
	"hermes/internal/cmd/profile"
	"hermes/internal/cmd/promptsize"
	"hermes/internal/cmd/sessions"
	"hermes/internal/cmd/skills"
	"hermes/internal/cmd/spend"
	"hermes/internal/cmd/tools"
	"hermes/internal/cmd/undo"
	"hermes/internal/home"
	"hermes/internal/setup"
)

// commands is the list of all commands besides the chat.
func commands(p Process, g *chat.Options) []*cobra.Command {
	return []*cobra.Command{
		chat.NewCmd(g, false),
		demo.NewCmd(&demo.Options{}, func(o *demo.Options) {
			o.App = g.App
			o.Display, o.Width = g.Appearance()
		}),
		model.NewCmd(modelDeps(p, g), nil),
		fallback.NewCmd(fallbackDeps(g)),
		auth.NewCmd(authDeps(p, g)),
		config.NewCmd(configDeps(p, g)),
		sessions.NewCmd(sessionDeps(p, g)),
		memory.NewCmd(memoryDeps(g)),
		learning.NewCmd(learningDeps(g)),
		skills.NewCmd(skillDeps(p, g)),
		skills.NewCuratorCmd(skillDeps(p, g)),
		skills.NewBundlesCmd(skillDeps(p, g)),
		journey.NewCmd(journeyDeps(p, g)),
		permissions.NewCmd(permissionDeps(g)),
		profile.NewCmd(profile.Deps{Home: func() (home.Dir, error) { return app.New(g.App).Home() }}),
		tools.NewCmd(toolsDeps(g)),
		doctor.NewCmd(func() (setup.Deps, error) { return doctorDeps(p, g) }, nil),
		logs.NewCmd(logsDeps(g), nil),
		undo.NewCmd(undoDeps(p, g), nil),
		promptsize.New(measure(g)),
		spend.NewCmd(spendDeps(p, g)),
		insights.NewCmd(insightsDeps(g)),
	}
}
