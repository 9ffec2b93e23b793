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
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/memory"
	"hermes/internal/text"
)

// Source is where the memory comes from.
type Source interface {
	// File opens the memory files.
	File() (*memory.File, error)
	// Services lists the external services that can remember in addition.
	Services() []memory.External
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

func (f fromApp) Services() []memory.External { return f.App().MemoryServices() }

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
	status := newStatusCmd(n)
	cmd := &cobra.Command{
		Use: "memory", Short: "Show and change what Hermes remembers", Args: cobra.NoArgs,
		RunE:    status.RunE,
		Example: "  hermes memory list\n  hermes memory add \"prefers tabs\"\n  hermes memory pending",
	}
	cmd.PersistentFlags().StringVar(n.whose, "for", "", "use the USER.md of `platform:user` (default: the owner's; see memory.scope)")
	cmd.AddCommand(status, newListCmd(n), newAddCmd(n), newReplaceCmd(n), newRemoveCmd(n),
		newPendingCmd(n), newApproveCmd(n), newRejectCmd(n), newExportCmd(n), newImportCmd(n), newSetupCmd(n), newOffCmd(n))
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

func newStatusCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how full memory is and which service is used", Args: cobra.NoArgs, Example: "  hermes memory status",
		RunE: func(cmd *cobra.Command, _ []string) error { return status(n, cmd.OutOrStdout()) },
	}
}

func status(n noun, out io.Writer) error {
	b, err := n.file()
	if err != nil {
		return err
	}
	for _, t := range memory.Targets() {
		if !b.Has(t) {
			fmt.Fprintf(out, "%-8s off\n", t)
			continue
		}
		s, err := b.Read(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-8s %s   %s\n", t, text.Plural(len(s.Entries), "entry", "entries"), s.Usage())
	}
	if err := listUsers(b, out); err != nil {
		return err
	}
	waiting, err := b.Proposals()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "approval %s", onOff(b.Approval()))
	if len(waiting) > 0 {
		fmt.Fprintf(out, ", %d pending (hermes memory pending)", len(waiting))
	}
	fmt.Fprintln(out)
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "service  %s\n", service(n, cfg.Memory().Provider))
	return nil
}

// listUsers prints the users who have their own USER.md.
func listUsers(b *memory.File, out io.Writer) error {
	list, err := b.Users()
	if err == nil && len(list) > 0 {
		fmt.Fprintf(out, "users    %s (--for NAME)\n", strings.Join(list, ", "))
	}
	return err
}

// service describes the configured service and whether it can be used.
func service(n noun, name string) string {
	if name == "" {
		return "none (set one with: hermes memory setup NAME)"
	}
	for _, s := range n.Services() {
		if s.Name != name {
			continue
		}
		if s.Missing != "" {
			return fmt.Sprintf("%s, not ready: %s", name, s.Missing)
		}
		return name
	}
	return fmt.Sprintf("%s (unknown; list services with: hermes memory setup)", name)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func newSetupCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "setup [NAME]", Short: "List memory services or choose one", Args: cobra.MaximumNArgs(1), Example: "  hermes memory setup local",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, s := range n.Services() {
					fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s%s\n", s.Name, s.Title, bracketed(s.Missing))
				}
				return nil
			}
			return choose(cmd.Context(), n, cmd.OutOrStdout(), args[0])
		},
	}
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func choose(ctx context.Context, n noun, out io.Writer, name string) error {
	for _, s := range n.Services() {
		if s.Name != name {
			continue
		}
		if err := set(ctx, n, "memory.provider", name); err != nil {
			return err
		}
		fmt.Fprintf(out, "The service %s is used from the next session on.\n", name)
		if s.Missing != "" {
			fmt.Fprintf(out, "Before that: %s\n", s.Missing)
		}
		return nil
	}
	return fmt.Errorf("there is no memory service %q; list them with `hermes memory setup`", name)
}

func newOffCmd(n noun) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "off", Short: "Turn off the memory service, or all memory", Args: cobra.NoArgs, Example: "  hermes memory off --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := set(cmd.Context(), n, "memory.provider", ""); err != nil {
				return err
			}
			if !all {
				fmt.Fprintln(cmd.OutOrStdout(), "No memory service is used from the next session on.")
				return nil
			}
			for _, key := range []string{"memory.memory_enabled", "memory.user_profile_enabled"} {
				if err := set(cmd.Context(), n, key, "false"); err != nil {
					return err
				}
			}
			fmt.Fprintln(cmd.OutOrStdout(), "Memory is off from the next session on. The files are kept.")
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "turn off MEMORY.md and USER.md too")
	return cmd
}

func set(ctx context.Context, n noun, key, value string) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	_, err = cfg.Set(ctx, key, value)
	return err
}
