package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
	"hermes/internal/home"
)

// cloned are the parts that --clone copies.
var cloned = []string{"config.yaml", ".env", "SOUL.md", "skills", "memories"}

// history is what no clone copies: what happened, and what can be created again.
var history = []string{
	"state.db", "state.db-wal", "state.db-shm", "state.db-journal", "sessions", "checkpoints", "cron", "logs", "cache", "backups",
	"state-snapshots", "terminal-sessions", "profiles", "active_profile", "pending", "pairing", "history", "sandboxes",
}

// plan says what a new profile begins with.
type plan struct {
	clone bool   // copy settings, secrets, identity, skills and memory
	all   bool   // copy everything but history
	from  string // the profile to copy; "" is the current one
	use   bool
}

func (n noun) create() *cobra.Command {
	var o plan
	cmd := n.verb("create NAME", "Create a profile", "hermes profile create work --clone", cobra.ExactArgs(1), func(c *call) error { return c.create(o) })
	f := cmd.Flags()
	f.BoolVar(&o.clone, "clone", false, "copy settings, secrets, SOUL.md, skills and memory")
	f.BoolVar(&o.all, "clone-all", false, "copy everything except sessions, checkpoints, jobs, logs and caches")
	f.StringVar(&o.from, "clone-from", "", "profile to copy from (default: the current one)")
	f.BoolVar(&o.use, "use", false, "use the new profile from now on")
	return cmd
}

func (c *call) create(o plan) error {
	p, err := c.home.Sub(c.Args[0])
	if err != nil {
		return err
	}
	if p.Profile() == home.Default {
		return errors.New("the default profile always exists; choose another name")
	}
	if p.Exists() {
		return fmt.Errorf("profile %s already exists (%s)", p.Profile(), p.Path())
	}
	from := c.home
	if o.from != "" {
		if from, err = c.existing(o.from); err != nil {
			return err
		}
		o.clone = o.clone || !o.all
	}
	if err := o.make(p, from); err != nil {
		// Remove the incomplete profile.
		return errors.Join(err, os.RemoveAll(p.Path()))
	}
	c.Say("Created profile %s in %s. Use it with `hermes -p %s`.", p.Profile(), p.Path(), p.Profile())
	if !o.use {
		return nil
	}
	return stick(p)
}

func (o plan) make(p, from home.Dir) error {
	if err := p.Make(p.Path()); err != nil {
		return err
	}
	if !o.clone && !o.all {
		return nil
	}
	entries, err := os.ReadDir(from.Path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		wanted := slices.Contains(cloned, name)
		if o.all {
			wanted = !slices.Contains(history, name) && filepath.Ext(name) != ".lock" && filepath.Ext(name) != ".pid"
		}
		if !wanted {
			continue
		}
		if err := copyTree(filepath.Join(from.Path(), name), filepath.Join(p.Path(), name)); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
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
