// Package profile is the command `hermes profile`: several homes beside each
// other, each with settings, sessions, memory and skills of its own.
//
// Which profile a run uses is decided by internal/home; here profiles are
// listed, chosen for good, made and deleted. Start at NewCmd.
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
	// Home is the home of this run, in the manner of home.Find: with a
	// *home.ProfileError the root comes along, which is enough here, since these
	// commands mend a chosen profile that is missing.
	Home func() (home.Dir, error)
	// Used reports whether a process has a profile open, so that it must not be
	// deleted; nil means that nobody can tell.
	Used func(home.Dir) (bool, error)
}

// NewCmd makes `hermes profile`; alone it lists.
func NewCmd(d Deps) *cobra.Command {
	list := NewListCmd(d, nil)
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Keep several homes: settings, sessions, memory and skills apart",
		Long: "A profile is a full home of its own below profiles/ in the root home. `-p NAME` uses one for a single\n" +
			"call, `hermes profile use NAME` from then on. Profiles keep things apart; they are not a sandbox.",
		Args: cobra.NoArgs,
		RunE: list.RunE,
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

// existing returns a profile that is there.
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

// completeNames offers the profiles.
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
