package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
)

// Process is what the command line runs on.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Extra          []hermes.Toolset
	// Getenv answers for the environment; nil is the process's.
	Getenv func(string) string
}

// Main runs one command line and returns its exit status. A request to
// terminate ends what runs in an orderly way.
func Main(p Process) int {
	if p.Getenv == nil {
		p.Getenv = os.Getenv
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := newRoot(p)
	root.SetArgs(p.Args)
	return status(root.ExecuteContext(ctx), p.Stderr)
}

// newRoot makes the root command, which without a subcommand is the chat.
func newRoot(p Process) *cobra.Command {
	g := &chat.Options{
		App: app.Options{Extra: p.Extra, Getenv: p.Getenv},
		IO:  chat.IO{In: p.Stdin, Out: p.Stdout, Err: p.Stderr},
	}
	root := chat.NewCmd(g, true)
	root.Use = "hermes"
	root.Short = "An agent in your terminal that knows you, uses your tools and keeps what it learns"
	// No template is set: it would pull in text/template, and with it the
	// methods of everything.
	root.Version = fmt.Sprintf("%s (%s, %s/%s)", app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return flagError(err)
	})
	f := root.PersistentFlags()
	f.BoolP("version", "V", false, "print the version")
	f.StringVarP(&g.App.Profile, "profile", "p", "", "use this profile")
	f.BoolVar(&g.App.IgnoreUserConfig, "ignore-user-config", false, "use the built-in defaults instead of config.yaml")
	f.BoolVar(&g.App.IgnoreRules, "ignore-rules", false, "leave out SOUL.md, memory and project files such as AGENTS.md")
	f.BoolVar(&g.App.Yolo, "yolo", false, "run dangerous commands without asking")
	root.AddCommand(commands(p, g)...)
	tellUsage(root)
	g.Suggest = root.SuggestionsFor
	return root
}
