package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
	"hermes/internal/home"
)

// CreateOptions are the flags and arguments of `profile create`.
type CreateOptions struct {
	base
	Out   io.Writer
	Name  string
	Clone bool   // copy settings, secrets, identity, skills and memory
	All   bool   // copy everything but history
	From  string // the profile to copy; "" is the current one
	Use   bool
}

// NewCreateCmd makes `profile create`; tests replace its work with runF.
func NewCreateCmd(b base, runF func(*CreateOptions) error) *cobra.Command {
	o := &CreateOptions{base: b}
	if runF == nil {
		runF = runCreate
	}
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a profile", Args: cobra.ExactArgs(1),
		Example: "  hermes profile create work --clone",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Name = cmd.OutOrStdout(), args[0]
			return runF(o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Clone, "clone", false, "copy settings, secrets, SOUL.md, skills and memory")
	f.BoolVar(&o.All, "clone-all", false, "copy everything except sessions, checkpoints, jobs, logs and caches")
	f.StringVar(&o.From, "clone-from", "", "profile to copy from (default: the current one)")
	f.BoolVar(&o.Use, "use", false, "use the new profile from now on")
	return cmd
}

// cloned are the parts that --clone copies.
var cloned = []string{"config.yaml", ".env", "SOUL.md", "skills", "memories"}

// history is what no clone copies: what happened, and what can be created again.
var history = []string{
	"state.db", "state.db-wal", "state.db-shm", "state.db-journal", "sessions", "checkpoints", "cron", "logs", "cache", "backups",
	"state-snapshots", "terminal-sessions", "profiles", "active_profile", "pending", "pairing", "history", "sandboxes",
}

func runCreate(o *CreateOptions) error {
	h, err := o.home()
	if err != nil {
		return err
	}
	p, err := h.Sub(o.Name)
	if err != nil {
		return err
	}
	if p.Profile() == home.Default {
		return errors.New("the default profile always exists; choose another name")
	}
	if p.Exists() {
		return fmt.Errorf("profile %s already exists (%s)", p.Profile(), p.Path())
	}
	from := h
	if o.From != "" {
		if from, err = existing(h, o.From); err != nil {
			return err
		}
		o.Clone = o.Clone || !o.All
	}
	if err := o.make(p, from); err != nil {
		// Remove the incomplete profile.
		return errors.Join(err, os.RemoveAll(p.Path()))
	}
	fmt.Fprintf(o.Out, "Created profile %s in %s. Use it with `hermes -p %s`.\n", p.Profile(), p.Path(), p.Profile())
	if !o.Use {
		return nil
	}
	return stick(p)
}

func (o *CreateOptions) make(p, from home.Dir) error {
	if err := p.Make(p.Path()); err != nil {
		return err
	}
	if !o.Clone && !o.All {
		return nil
	}
	entries, err := os.ReadDir(from.Path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		wanted := slices.Contains(cloned, e.Name())
		if o.All {
			wanted = !slices.Contains(history, e.Name()) && filepath.Ext(e.Name()) != ".lock" && filepath.Ext(e.Name()) != ".pid"
		}
		if !wanted {
			continue
		}
		if err := copyTree(filepath.Join(from.Path(), e.Name()), filepath.Join(p.Path(), e.Name())); err != nil {
			return fmt.Errorf("copy %s: %w", e.Name(), err)
		}
	}
	return nil
}

// copyTree copies files and folders with their modes. It follows a link only at
// the top, where users link to their own files. Below, it skips links and
// everything that is not a regular file.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		return copyFile(from, to, info.Mode().Perm())
	}
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir() || path == from:
			return os.MkdirAll(target, 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return copyFile(path, target, info.Mode().Perm())
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return atomicfile.Write(to, src, atomicfile.Options{Mode: mode})
}
