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
	"hermes/internal/config"
	"hermes/internal/memory"
	"hermes/internal/text"
)

// Deps are what the verbs need.
type Deps struct {
	// File opens the memory files.
	File func() (*memory.File, error)
	// Load reads the configuration again at every call.
	Load func() (*config.Config, error)
	// Services lists the memory services that can be configured.
	Services func() []Service
}

// Service is an external service that can remember in addition to the files.
type Service struct {
	Name, Title string
	// Missing says what it needs before it can be used; "" if nothing.
	Missing string
}

// NewCmd makes `hermes memory`. Without a verb it shows the status.
func NewCmd(d Deps) *cobra.Command {
	var whose string
	file := d.File
	d.File = func() (*memory.File, error) {
		b, err := file()
		if err != nil || whose == "" {
			return b, err
		}
		return forUser(b, whose)
	}
	status := newStatusCmd(d)
	cmd := &cobra.Command{
		Use: "memory", Short: "Show and change what Hermes remembers", Args: cobra.NoArgs,
		RunE:    status.RunE,
		Example: "  hermes memory list\n  hermes memory add \"prefers tabs\"\n  hermes memory pending",
	}
	cmd.PersistentFlags().StringVar(&whose, "for", "", "use the USER.md of `platform:user` (default: the owner's; see memory.scope)")
	cmd.AddCommand(status, newListCmd(d), newAddCmd(d), newReplaceCmd(d), newRemoveCmd(d),
		newPendingCmd(d), newApproveCmd(d), newRejectCmd(d), newExportCmd(d), newImportCmd(d), newSetupCmd(d), newOffCmd(d))
	return cmd
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

func newStatusCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how full memory is and which service is used", Args: cobra.NoArgs, Example: "  hermes memory status",
		RunE: func(cmd *cobra.Command, _ []string) error { return status(d, cmd.OutOrStdout()) },
	}
}

func status(d Deps, out io.Writer) error {
	b, err := d.File()
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
	cfg, err := d.Load()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "service  %s\n", service(d, cfg.Memory().Provider))
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
func service(d Deps, name string) string {
	if name == "" {
		return "none (set one with: hermes memory setup NAME)"
	}
	for _, s := range d.Services() {
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

func newSetupCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "setup [NAME]", Short: "List memory services or choose one", Args: cobra.MaximumNArgs(1), Example: "  hermes memory setup local",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, s := range d.Services() {
					fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s%s\n", s.Name, s.Title, bracketed(s.Missing))
				}
				return nil
			}
			return choose(cmd.Context(), d, cmd.OutOrStdout(), args[0])
		},
	}
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func choose(ctx context.Context, d Deps, out io.Writer, name string) error {
	for _, s := range d.Services() {
		if s.Name != name {
			continue
		}
		if err := set(ctx, d, "memory.provider", name); err != nil {
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

func newOffCmd(d Deps) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "off", Short: "Turn off the memory service, or all memory", Args: cobra.NoArgs, Example: "  hermes memory off --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := set(cmd.Context(), d, "memory.provider", ""); err != nil {
				return err
			}
			if !all {
				fmt.Fprintln(cmd.OutOrStdout(), "No memory service is used from the next session on.")
				return nil
			}
			for _, key := range []string{"memory.memory_enabled", "memory.user_profile_enabled"} {
				if err := set(cmd.Context(), d, key, "false"); err != nil {
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

func set(ctx context.Context, d Deps, key, value string) error {
	cfg, err := d.Load()
	if err != nil {
		return err
	}
	_, err = cfg.Set(ctx, key, value)
	return err
}
