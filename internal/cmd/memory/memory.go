// Package memory is the command `hermes memory`: what Hermes knows beyond a
// session, to look at, to change, to approve and to carry elsewhere.
//
// What a memory may hold is the matter of internal/memory; this package asks
// and prints. Changes hold for the prompt of the next session. Start at NewCmd.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/config"
	"hermes/internal/memory"
)

// Deps are what the verbs need.
type Deps struct {
	// File opens the files of memory.
	File func() (*memory.File, error)
	// Load reads the configuration anew.
	Load func() (*config.Config, error)
	// Services are the outside services there are.
	Services func() []Service
}

// Service is an outside service that can remember beside the files.
type Service struct {
	Name, Title string
	// Missing says what it needs before it can be used; "" for nothing.
	Missing string
}

// NewCmd makes `hermes memory`; alone it shows the status.
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
		RunE: status.RunE,
	}
	cmd.PersistentFlags().StringVar(&whose, "for", "", "whose USER.md, as platform:user; without it the owner's (see memory.scope)")
	cmd.AddCommand(status, newListCmd(d), newAddCmd(d), newReplaceCmd(d), newRemoveCmd(d),
		newPendingCmd(d), newApproveCmd(d), newRejectCmd(d), newExportCmd(d), newImportCmd(d), newSetupCmd(d), newOffCmd(d))
	return cmd
}

// forUser is the book of somebody who speaks on a platform.
func forUser(b *memory.File, whose string) (*memory.File, error) {
	platform, user, ok := strings.Cut(whose, ":")
	if !ok || platform == "" || user == "" {
		return nil, fmt.Errorf("--for %q: write platform:user, such as telegram:12345", whose)
	}
	of := b.For(platform, user)
	if of == b {
		return nil, errors.New("all people share one USER.md; `hermes config set memory.scope user` gives each their own")
	}
	return of, nil
}

func newStatusCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how full memory is and what else remembers", Args: cobra.NoArgs,
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
		fmt.Fprintf(out, "%-8s %d %s   %s\n", t, len(s.Entries), plural(len(s.Entries), "entry", "entries"), s.Usage())
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
		fmt.Fprintf(out, ", %d waiting (hermes memory pending)", len(waiting))
	}
	fmt.Fprintln(out)
	cfg, err := d.Load()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "service  %s\n", service(d, cfg.Memory().Provider))
	return nil
}

// listUsers tells who has a USER.md of their own.
func listUsers(b *memory.File, out io.Writer) error {
	list, err := b.Users()
	if err == nil && len(list) > 0 {
		fmt.Fprintf(out, "people   %s (--for NAME)\n", strings.Join(list, ", "))
	}
	return err
}

// service says which outside service is used and whether it can be.
func service(d Deps, name string) string {
	if name == "" {
		return "none (hermes memory setup NAME)"
	}
	for _, s := range d.Services() {
		if s.Name != name {
			continue
		}
		if s.Missing != "" {
			return fmt.Sprintf("%s, not usable: %s", name, s.Missing)
		}
		return name
	}
	return fmt.Sprintf("%s, which is unknown (hermes memory setup lists them)", name)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func newSetupCmd(d Deps) *cobra.Command {
	return &cobra.Command{
		Use: "setup [NAME]", Short: "Choose the service that remembers beside the files", Args: cobra.MaximumNArgs(1),
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
		fmt.Fprintf(out, "%s remembers from the next session on.\n", name)
		if s.Missing != "" {
			fmt.Fprintf(out, "First: %s\n", s.Missing)
		}
		return nil
	}
	return fmt.Errorf("there is no service %q; `hermes memory setup` lists them", name)
}

func newOffCmd(d Deps) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "off", Short: "Use no outside service, or no memory at all", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := set(cmd.Context(), d, "memory.provider", ""); err != nil {
				return err
			}
			if !all {
				fmt.Fprintln(cmd.OutOrStdout(), "No outside service is used from the next session on.")
				return nil
			}
			for _, key := range []string{"memory.memory_enabled", "memory.user_profile_enabled"} {
				if err := set(cmd.Context(), d, key, "false"); err != nil {
					return err
				}
			}
			fmt.Fprintln(cmd.OutOrStdout(), "Nothing is remembered from the next session on. The files are kept.")
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also leave out MEMORY.md and USER.md")
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
