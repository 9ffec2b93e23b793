// Package profile is the command `hermes profile`. It lists, creates, selects and
// deletes profiles: separate homes with their own settings, sessions, memory and
// skills.
//
// It does not decide which profile a run uses; internal/home does. Start at
// NewCmd.
package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/home"
)

// base is the factory with ways to find profiles.
type base struct {
	*factory.Factory
	used func(home.Dir) (bool, error)
}

// NewCmd makes `hermes profile`; without a verb it lists. used reports whether a process
// has a profile open, so that it must not be deleted; nil means unknown.
func NewCmd(f *factory.Factory, used func(home.Dir) (bool, error)) *cobra.Command {
	b := base{f, used}
	list := NewListCmd(b, nil)
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Manage profiles with separate settings, sessions, memory and skills",
		Long: "Manage profiles. A profile is a separate home in profiles/ of the main home. Use one for a single run\n" +
			"with `-p NAME`, or from now on with `hermes profile use NAME`. A profile is not a sandbox.",
		Example: "  hermes profile create work --clone\n  hermes profile use work",
		Args:    cobra.NoArgs,
		RunE:    list.RunE,
	}
	cmd.AddCommand(list, NewShowCmd(b, nil), NewUseCmd(b, nil), NewCreateCmd(b, nil), NewDeleteCmd(b, nil))
	return cmd
}

// home is the home to work from. With a *home.ProfileError there is also the main home.
// That is enough here, since these commands repair the choice of a missing profile.
func (b base) home() (home.Dir, error) {
	h, err := b.App().Home()
	if _, missing := errors.AsType[*home.ProfileError](err); missing && h != (home.Dir{}) {
		return h, nil
	}
	return h, err
}

// existing returns a profile that exists.
func existing(root home.Dir, name string) (home.Dir, error) {
	p, err := root.Sub(name)
	if err != nil {
		return home.Dir{}, err
	}
	if p.Profile() != home.Default && !p.Exists() {
		return home.Dir{}, &home.ProfileError{Name: p.Profile(), Missing: true}
	}
	return p, nil
}

// completeNames offers the names of the profiles.
func completeNames(b base) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		h, err := b.home()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, _ := h.Profiles()
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// weigh sums the sizes of the files below a folder.
func weigh(folder string) (files int, bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			files++
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}

func there(path string) string {
	if _, err := os.Stat(path); err != nil {
		return "none"
	}
	return path
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20)) }
