package cmd

import (
	"context"
	"errors"
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
	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
	"hermes/internal/lineage"
	"hermes/internal/proc"
)

// Process is what the command line runs on.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Extra          []hermes.Toolset
	// Getenv reads the environment; nil reads that of the process.
	Getenv func(string) string
	// Announce makes the process known as one that runs an agent; see
	// app.Options. Nil does so, and tests in one process do not.
	Announce func() (stop func(), err error)
	// Sandbox says that the program called sandbox.Main first of all.
	Sandbox bool
	// Above looks for agents that started the process, and AboveOf for those that started
	// another one; nil looks everywhere.
	Above   func() lineage.Above
	AboveOf func(pid int) lineage.Above
}

// announce is the Process.Announce of the program.
func announce() (stop func(), err error) {
	err = lineage.Announce()
	return proc.AdoptOrphans(), err
}

// Main runs one command line and returns its exit status. SIGTERM and SIGHUP
// cancel the command, so that it can clean up. If nothing reads standard output any
// more, writing to it fails instead of ending the process, for the same reason.
func Main(p Process) int {
	if p.Getenv == nil {
		p.Getenv = os.Getenv
	}
	if p.Announce == nil {
		p.Announce = announce
	}
	if p.Above == nil {
		p.Above = lineage.Probe{Getenv: p.Getenv}.Look
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// It is received, not ignored: commands of the agent would inherit an ignored signal.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	f := newFactory(p)
	takeStandardLog(f.OpenLog)
	root := newRoot(p, f)
	out := &watched{w: p.Stdout}
	root.SetOut(out)
	root.SetArgs(p.Args)
	err := errors.Join(root.ExecuteContext(ctx), f.Close())
	if err == nil && out.err != nil {
		err = fmt.Errorf("could not write all output: %w", out.err)
	}
	return status(err, p)
}

func newFactory(p Process) *factory.Factory {
	return factory.New(app.Options{Extra: p.Extra, Getenv: p.Getenv, Announce: p.Announce, AboveOf: p.AboveOf, Sandbox: app.Sandbox{Keeper: p.Sandbox}}, factory.IO{In: p.Stdin, Out: p.Stdout, Err: p.Stderr})
}

// newRoot makes the root command. Without a subcommand it is the chat.
func newRoot(p Process, fac *factory.Factory) *cobra.Command {
	g := &chat.Options{Factory: fac}
	root := chat.NewCmd(g, true)
	root.Use = "hermes"
	root.Short = "An AI agent in your terminal that uses your tools and remembers what it learns"
	root.Example = "  hermes                                    # chat\n" +
		"  hermes -c                                 # resume the latest session\n" +
		"  hermes -z \"what does main.go do?\"         # print one answer\n" +
		"  git diff | hermes -q \"review this change\"\n" +
		"  hermes model                              # choose a model"
	// No template is set: it would link text/template, which keeps the methods
	// of all types in the program.
	root.Version = fmt.Sprintf("%s (%s, %s/%s)", app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(p.Stdin)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return flagError(err)
	})
	f := root.PersistentFlags()
	f.BoolP("version", "V", false, "print the version")
	f.StringVarP(&g.Global.Profile, "profile", "p", "", "use this profile")
	f.BoolVar(&g.Global.IgnoreUserConfig, "ignore-user-config", false, "use the built-in defaults instead of config.yaml")
	f.BoolVar(&g.Run.Prompt.IgnoreRules, "ignore-rules", false, "skip SOUL.md, memory and project files such as AGENTS.md")
	f.BoolVar(&g.Yolo, "yolo", false, "run dangerous commands without asking")
	f.BoolVar(&g.AcceptHooks, "accept-hooks", false, "agree to the hooks in config.yaml as they are now")
	root.AddCommand(commands(g)...)
	completion(root)
	root.PersistentPostRun = func(c *cobra.Command, _ []string) { warnBroken(c, fac) }
	checkArguments(root)
	w := &wall{process: p, options: g}
	g.MayAttend = w.attend
	w.guard(root)
	g.Suggest = root.SuggestionsFor
	return root
}

// completion adds the command that writes shell completions. Without a shell it
// shows its help. An unknown shell is an error, like any unknown command.
func completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// warnBroken warns after a successful command if it ran without a configuration
// because the file is broken. It skips the commands that report this themselves.
func warnBroken(c *cobra.Command, f *factory.Factory) {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	if !c.HasParent() || slices.Contains([]string{"chat", "config", "doctor", "demo", "help", "completion"}, c.Name()) {
		return
	}
	cfg, err := f.Config()
	if err != nil {
		return // the command did without
	}
	for _, p := range cfg.FileProblems() {
		if p.Severity >= settings.Severe {
			fmt.Fprintln(f.Err, "hermes:", p)
		}
	}
}
