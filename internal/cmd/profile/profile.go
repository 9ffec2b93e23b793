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

	"hermes/internal/home"
)

// Deps are what the verbs need.
type Deps struct {
	// Home is the home of this run, like home.Find. With a *home.ProfileError it
	// also returns the main home. That is enough here, since these commands repair
	// the choice of a missing profile.
	Home func() (home.Dir, error)
	// Used reports whether a process has a profile open, so that it must not be
	// deleted; nil means unknown.
	Used func(home.Dir) (bool, error)
}

// NewCmd makes `hermes profile`; without a verb it lists.
func NewCmd(d Deps) *cobra.Command {
	list := NewListCmd(d, nil)
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Manage profiles with separate settings, sessions, memory and skills",
		Long: "Manage profiles. A profile is a separate home in profiles/ of the main home. Use one for a single run\n" +
			"with `-p NAME`, or from now on with `hermes profile use NAME`. A profile is not a sandbox.",
		Example: "  hermes profile create work --clone\n  hermes profile use work",
		Args:    cobra.NoArgs,
		RunE:    list.RunE,
	}
	cmd.AddCommand(list, NewShowCmd(d, nil), NewUseCmd(d, nil), NewCreateCmd(d, nil), NewDeleteCmd(d, nil))
	return cmd
}

// home is the home to work from.
func (d Deps) home() (home.Dir, error) {
	h, err := d.Home()
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
func completeNames(d Deps) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		h, err := d.home()
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
