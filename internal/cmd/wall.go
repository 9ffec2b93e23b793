package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/chat"
	"hermes/internal/cmd/factory"
	"hermes/internal/home"
	"hermes/internal/lineage"
)

// wall keeps an agent from changing Hermes itself, or from running an agent with
// wider rights, by a command of its own. A user who is asked about such a command
// cannot see what a script inside it does.
type wall struct {
	process Process
	options *chat.Options
}

// guard puts the wall before every command of the tree.
func (w *wall) guard(root *cobra.Command) {
	all := effects()
	var wrap func(c *cobra.Command)
	wrap = func(c *cobra.Command) {
		if run := work(c); run != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				if err := w.check(all[below(c)], c, args); err != nil {
					return err
				}
				return run(c, args)
			}
		}
		for _, sub := range c.Commands() {
			wrap(sub)
		}
	}
	wrap(root)
}

// work is what a command does; nil if it only has others below it.
func work(c *cobra.Command) func(*cobra.Command, []string) error {
	if c.RunE == nil && c.Run != nil {
		return func(c *cobra.Command, args []string) error {
			c.Run(c, args)
			return nil
		}
	}
	return c.RunE
}

// below is the path of a command without the name of the program.
func below(c *cobra.Command) string {
	return strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), c.Root().Name()))
}

// check refuses a command that an agent may not call.
func (w *wall) check(of effectOf, c *cobra.Command, args []string) error {
	e := changes
	if of != nil {
		e = of(c, args)
	}
	switch e {
	case reads:
		return nil
	case runs:
		return w.run(c)
	case attends:
		return w.refuse(c.CommandPath(), "an agent must not speak to a session as its user")
	case reveals:
		return w.refuse(c.CommandPath(), "it shows a secret")
	}
	return w.refuse(c.CommandPath(), "it changes Hermes itself")
}

// run refuses an agent that would have wider rights than the one above.
func (w *wall) run(c *cobra.Command) error {
	what := "hermes"
	if name := below(c); name != "" {
		what += " " + name
	}
	o := w.options.Global
	switch {
	case w.options.Yolo:
		return w.refuse(what+" --yolo", "it runs commands without asking")
	case w.options.Run.Rights.Mode == hermes.ModeYolo || w.options.Run.Rights.Mode == hermes.ModeAcceptEdits:
		return w.refuse(what+" --mode "+string(w.options.Run.Rights.Mode), "it runs calls without asking")
	case len(w.options.Limits.Allow) > 0:
		return w.refuse(what+" --allow-tools", "it runs calls without asking")
	case w.options.AcceptHooks:
		return w.refuse(what+" --accept-hooks", "it agrees to hooks in place of the user")
	case o.IgnoreUserConfig:
		return w.refuse(what+" --ignore-user-config", "it ignores the limits in config.yaml")
	}
	for _, name := range lineage.Widening() {
		if switchedOn(w.process.Getenv(name)) {
			return w.refuse(what+" with "+name, "it has wider rights")
		}
	}
	above := w.process.Above()
	if !above.Agent() {
		return nil
	}
	own, err := w.options.App().Home()
	if err != nil {
		return nil // reported by the command
	}
	if len(above.Homes) == 0 {
		return w.refusal(above, what, "the home of that agent is not known")
	}
	for _, h := range above.Homes {
		if !samePlace(h, own.Path()) {
			return w.refusal(above, what, "it uses another home ("+own.Path()+") than that agent ("+h+")")
		}
	}
	return nil
}

// attend refuses a chat in which an agent would answer the questions to the user.
func (w *wall) attend() error {
	return w.refuse("hermes chat", "an agent must not answer questions to the user; it can ask with `hermes -z \"…\"`")
}

// refuse refuses something if an agent started this process. If that cannot be
// found out, only a user at a terminal may do it.
func (w *wall) refuse(what, why string) error {
	above := w.process.Above()
	switch {
	case above.Agent():
		return w.refusal(above, what, why)
	case above.Err != nil && !factory.IsTerminal(w.process.Stdin):
		return fmt.Errorf("cannot tell whether an agent started `%s` (%w), and %s. Run it in a terminal", what, above.Err, why)
	}
	return nil
}

// refusal logs and returns why something was refused.
func (w *wall) refusal(above lineage.Above, what, why string) error {
	w.log(above, what, why)
	return fmt.Errorf("`%s` was refused: %s, and this was started by an agent's command (found by %s).\n"+
		"Only you as the user can do this: run it in a terminal that you opened yourself",
		what, why, strings.Join(above.Signs, ", "))
}

// log writes the refusal to the log of the agent's home, else of this run's.
func (w *wall) log(above lineage.Above, what, why string) {
	o := w.options.Global
	for _, h := range above.Homes {
		if home.At(h).Exists() {
			o.Home = h
			break
		}
	}
	dir, _ := os.Getwd() // "" if it was deleted
	app.New(o).Log().Warn("refused below an agent", "command", what, "reason", why, "found_by", strings.Join(above.Signs, ", "), "dir", dir)
}

// switchedOn reports whether a variable switches something on. Unknown values do.
func switchedOn(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// samePlace reports whether two paths are the same folder.
func samePlace(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	if errors.Join(errA, errB) == nil {
		return os.SameFile(x, y)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}
