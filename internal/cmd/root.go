package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	settings "hermes/internal/config"
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
	out := &watched{w: p.Stdout}
	root.SetOut(out)
	root.SetArgs(p.Args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("not all of it could be written: %w", out.err)
	}
	return status(err, p.Stderr)
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
	completion(root)
	root.PersistentPostRun = func(c *cobra.Command, _ []string) { tellBroken(c, g, p.Stderr) }
	tellUsage(root)
	g.Suggest = root.SuggestionsFor
	return root
}

// completion adds the command that writes completions. Alone it shows its help; a
// shell that it does not know is an error, as a wrong word is elsewhere.
func completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// tellBroken says after a command that did its work that it did it without a
// configuration that cannot be used. Those that speak of it themselves, or
// that changed what they were asked to, are left alone.
func tellBroken(c *cobra.Command, g *chat.Options, to io.Writer) {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	if !c.HasParent() || slices.Contains([]string{"chat", "config", "doctor", "demo", "help", "completion"}, c.Name()) {
		return
	}
	cfg, err := app.New(g.App).Config()
	if err != nil {
		return // the command did without
	}
	for _, p := range cfg.FileProblems() {
		if p.Severity >= settings.Severe {
			fmt.Fprintln(to, "hermes:", p)
		}
	}
}
