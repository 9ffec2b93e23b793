// Package memory holds the command `hermes memory`: list, change, approve, export
// and import what Hermes remembers between sessions.
//
// It reads flags and prints. What a memory may contain is decided in
// internal/memory. Changes take effect in the next session. Start at NewCmd.
package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/memory"
	"hermes/internal/memory/external"
	"hermes/internal/plugin"
	"hermes/internal/text"
)

// Source is where the memory comes from.
type Source interface {
	// File opens the memory files.
	File() (*memory.File, error)
	// Services lists the external services that can remember in addition.
	Services() []external.Service
	// Service returns the service that is used if it brings commands along, else nil.
	Service() Service
}

// Service is a memory service with commands of its own.
type Service interface {
	Name() string
	// Commands lists them. Run runs one with its arguments, and returns what to print and the
	// exit status.
	Commands() []plugin.Command
	Run(ctx context.Context, name string, args []string) (text string, code int, err error)
}

// fromApp is the Source of the app.
type fromApp struct{ *factory.Factory }

func (f fromApp) File() (*memory.File, error) {
	m, err := f.App().Memory()
	if err != nil {
		return nil, err
	}
	return m.File, nil
}

func (f fromApp) Services() []external.Service { return f.App().MemoryServices() }

func (f fromApp) Service() Service {
	if m := f.App().PluginMemory(); m != nil && len(m.Commands()) > 0 {
		return m
	}
	return nil // not one that is nil
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	Source
	whose *string // the user of a platform, "" for the owner
}

// NewCmd makes `hermes memory`. Without a verb it shows the status. A source replaces
// the app in tests.
func NewCmd(f *factory.Factory, s Source) *cobra.Command {
	if s == nil {
		s = fromApp{f}
	}
	n := noun{f, s, new("")}
	cmd := factory.Noun("memory", "Show and change what Hermes remembers",
		"hermes memory list\n  hermes memory add \"prefers tabs\"\n  hermes memory pending",
		n.status(), n.list(), n.add(), n.replace(), n.remove(), n.export(), n.importCmd(), n.setup(), n.off())
	cmd.PersistentFlags().StringVar(n.whose, "for", "", "use the USER.md of `platform:user` (default: the owner's; see memory.scope)")
	cmd.AddCommand(n.pending().Verbs()...)
	n.serve(cmd)
	return cmd
}

// file opens the memory files of the user whom --for names.
func (n noun) file() (*memory.File, error) {
	b, err := n.File()
	if err != nil || *n.whose == "" {
		return b, err
	}
	return forUser(b, *n.whose)
}

// forUser returns the memory of a user of a messaging platform.
func forUser(b *memory.File, whose string) (*memory.File, error) {
	platform, user, ok := strings.Cut(whose, ":")
	if !ok || platform == "" || user == "" {
		return nil, fmt.Errorf("invalid --for %q: use platform:user, such as telegram:12345", whose)
	}
	of := b.For(hermes.SessionRef{Platform: platform, User: user})
	if of == b {
		return nil, errors.New("all users share one USER.md; give each their own with `hermes config set memory.scope user`")
	}
	return of, nil
}

func (n noun) status() *cobra.Command {
	return factory.VerbOn(n.file, "status", "Show how full memory is and which service is used", "hermes memory status", cobra.NoArgs, func(_ context.Context, c *factory.Call, b *memory.File) error {
		for _, t := range memory.Targets() {
			if !b.Has(t) {
				c.Say("%-8s off", t)
				continue
			}
			s, err := b.Read(t)
			if err != nil {
				return err
			}
			c.Say("%-8s %s   %s", t, text.Plural(len(s.Entries), "entry", "entries"), s.Usage())
		}
		users, err := b.Users()
		if err != nil {
			return err
		}
		if len(users) > 0 {
			c.Say("users    %s (--for NAME)", strings.Join(users, ", "))
		}
		waiting, err := b.Proposals()
		if err != nil {
			return err
		}
		approval := map[bool]string{true: "on", false: "off"}[b.Approval()]
		if len(waiting) > 0 {
			approval += fmt.Sprintf(", %d pending (hermes memory pending)", len(waiting))
		}
		c.Say("approval %s", approval)
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		c.Say("service  %s", n.service(cfg.Memory().Provider))
		return nil
	})
}

// service describes the configured service and whether it can be used.
func (n noun) service(name string) string {
	if name == "" {
		return "none (set one with: hermes memory setup NAME)"
	}
	s, err := n.find(name)
	switch {
	case err != nil:
		return fmt.Sprintf("%s (not known, or a plugin that is off; list services with: hermes memory setup)", name)
	case s.Missing != "":
		return fmt.Sprintf("%s, not ready: %s", name, s.Missing)
	}
	if own := n.Service(); own != nil {
		return fmt.Sprintf("%s (its commands: hermes memory %s)", name, name)
	}
	return name
}

// find returns a service by its name.
func (n noun) find(name string) (external.Service, error) {
	for _, s := range n.Services() {
		if s.Name == name {
			return s, nil
		}
	}
	return external.Service{}, fmt.Errorf("there is no memory service %q; list them with `hermes memory setup`", name)
}

func (n noun) setup() *cobra.Command {
	return factory.Verb("setup [NAME]", "List memory services or choose one", "hermes memory setup local", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		if len(c.Args) == 0 {
			for _, s := range n.Services() {
				missing := ""
				if s.Missing != "" {
					missing = " (" + s.Missing + ")"
				}
				c.Say("%-12s %s%s", s.Name, s.Title, missing)
			}
			return nil
		}
		s, err := n.find(c.Args[0])
		if err != nil {
			return err
		}
		if err := n.set(ctx, "memory.provider", s.Name); err != nil {
			return err
		}
		c.Say("The service %s is used from the next session on.", s.Name)
		if s.Missing != "" {
			c.Say("Before that: %s", s.Missing)
		}
		return nil
	})
}

func (n noun) off() *cobra.Command {
	var all bool
	cmd := factory.Verb("off", "Turn off the memory service, or all memory", "hermes memory off --all", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		if err := n.set(ctx, "memory.provider", ""); err != nil {
			return err
		}
		if !all {
			c.Say("No memory service is used from the next session on.")
			return nil
		}
		for _, key := range []string{"memory.memory_enabled", "memory.user_profile_enabled"} {
			if err := n.set(ctx, key, "false"); err != nil {
				return err
			}
		}
		c.Say("Memory is off from the next session on. The files are kept.")
		return nil
	})
	cmd.Flags().BoolVar(&all, "all", false, "turn off MEMORY.md and USER.md too")
	return cmd
}

func (n noun) set(ctx context.Context, key, value string) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	_, err = cfg.Set(ctx, key, value)
	return err
}
