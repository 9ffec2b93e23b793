package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/plugin"
	"hermes/internal/plugin/source"
	"hermes/internal/text"
)

// mostDiff is how many lines of a diff an update shows.
const mostDiff = 60

func (n noun) update() *cobra.Command {
	var yes bool
	cmd := factory.Verb("update [NAME]", "Fetch plugins again from where they came", "hermes plugins update words", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		names, err := plugin.Installed(cfg.Home().Plugins())
		if err != nil {
			return err
		}
		if name := c.Arg(0); name != "" {
			if !slices.Contains(names, name) {
				return fmt.Errorf("there is no plugin %s; `hermes plugins list` shows all", text.VisibleName(name))
			}
			names = []string{name}
		}
		if len(names) == 0 {
			c.Say("No plugins.")
			return nil
		}
		var errs []error
		for _, name := range names {
			err := n.updateOne(ctx, c, name, yes)
			if errors.Is(err, factory.ErrCanceled) {
				c.Say("%s stays as it is.", name)
			} else if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
		return errors.Join(errs...)
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask; one that wants more than before is not updated")
	return cmd
}

// again returns the source of a plugin as it is now.
func (n noun) again(ctx context.Context, folder, name string) (s source.Source, err error) {
	s, ok, err := plugin.SourceOf(folder, name)
	switch {
	case err != nil:
		return s, err
	case !ok:
		return s, errors.New("it was not installed by a command, so it is not known where to fetch it from; change its files there, then enable it again, or use `hermes plugins install SOURCE --replace`")
	}
	if s.Kind == source.Folder || s.Kind == source.Archive {
		if _, err := os.Stat(s.From); err != nil {
			return s, fmt.Errorf("%s is not there any more; install it from another place with `hermes plugins install SOURCE --replace`", text.Visible(s.From))
		}
	}
	s, _, err = n.App().NewestPlugin(ctx, s)
	return s, err
}

// version is an installed plugin, or one that may follow it.
type version struct {
	dir      string
	digest   string
	manifest plugin.Manifest
}

func versionIn(dir string, m plugin.Manifest) (version, error) {
	d, err := plugin.Digest(dir)
	return version{dir, d, m}, err
}

// updateOne fetches a plugin, shows what changes, and asks once.
func (n noun) updateOne(ctx context.Context, c *factory.Call, name string, yes bool) (err error) {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	dir := filepath.Join(cfg.Home().Plugins(), name)
	was, wasOK := oldVersion(dir)
	s, err := n.again(ctx, cfg.Home().Plugins(), name)
	if err != nil {
		return err
	}
	i, err := n.App().PluginInstaller(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	staged, err := i.Stage(ctx, s)
	if err != nil {
		return err
	}
	if staged.Manifest.Name != name {
		return fmt.Errorf("its source is now a plugin %s; remove this one, and install that", staged.Manifest.Name)
	}
	next, err := versionIn(staged.Dir, staged.Manifest)
	if err != nil {
		return err
	}
	if wasOK && next.digest == was.digest {
		c.Say("%s is the newest: %s.", name, s)
		return nil
	}
	c.Say("%s: %s %s", name, s, text.VisibleName(staged.Manifest.Version))
	for _, note := range slices.Concat(staged.Notes, staged.Lacks) {
		n.note(c, note)
	}
	if err := n.showChanges(c, was, next); err != nil {
		return err
	}
	pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
	if err != nil {
		return err
	}
	if !slices.Contains(on(cfg), name) || !wasOK || pins[name].Digest != was.digest { // what is there is not what the user enabled
		if !yes {
			if err := n.Confirm(c.In, c.Out, "Update it? It stays off."); err != nil {
				return err
			}
		}
		if err := i.Put(staged, true); err != nil {
			return err
		}
		c.Say("Updated %s.", name)
		return nil
	}
	if wider := was.manifest.Wider(next.manifest); yes && len(wider) > 0 {
		return wantsMore(wider)
	}
	return n.replaceEnabled(ctx, c, cfg, i, staged, next, yes)
}

// wantsMore refuses what the user has to look at.
func wantsMore(wider []string) error {
	return fmt.Errorf("it wants more than before (%s), to which --yes does not agree; update it without --yes", text.Visible(text.OneLine(strings.Join(wider, "; "), 300)))
}

// oldVersion reads an installed plugin. One that cannot be read can be updated, too: what is wrong may
// be what the update corrects.
func oldVersion(dir string) (v version, ok bool) {
	m, _, err := plugin.ReadManifest(dir)
	if err != nil {
		return version{dir: dir}, false
	}
	v, err = versionIn(dir, m)
	return v, err == nil
}

// showChanges shows how the manifest and the files differ.
func (n noun) showChanges(c *factory.Call, was, next version) error {
	for _, line := range was.manifest.Changes(next.manifest) {
		c.Say("%s", n.fold("  ", text.OneLine(line, 300)))
	}
	files, diff, err := plugin.FileChanges(was.dir, next.dir)
	if err != nil {
		return err
	}
	const most = 30
	for _, f := range files[:min(len(files), most)] {
		c.Say("%s", n.fold("  ", text.OneLine(f, 300)))
	}
	if len(files) > most {
		c.Say("  and %d more files", len(files)-most)
	}
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	for _, line := range lines[:min(len(lines), mostDiff)] {
		c.Say("%s", n.fold("  | ", text.Short(line, 200)))
	}
	if len(lines) > mostDiff {
		c.Say("… %s more", text.Plural(len(lines)-mostDiff, "line", "lines"))
	}
	return nil
}

// replaceEnabled replaces a plugin that is enabled. The new version is started before, in a sandbox
// that gives it nothing, to show what it offers; where there is no sandbox, or it does not start in
// that, the user is asked before.
func (n noun) replaceEnabled(ctx context.Context, c *factory.Call, cfg *config.Config, i *plugin.Installer, staged *plugin.Staged, next version, yes bool) error {
	pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
	if err != nil {
		return err
	}
	name := staged.Manifest.Name
	offer, looked := plugin.Offer{}, false
	if n.App().HostWalls(ctx).Layer != "" {
		if offer, err = n.App().TryPlugin(ctx, staged.Dir, staged.Manifest); err == nil {
			looked = true
			n.shown(c, name, pins[name].Offer, offer)
		}
	}
	enable := true
	if !yes {
		if !n.Terminal() {
			return errNoTerminal
		}
		question := "Update it and enable it again"
		if !looked {
			question += ", which starts it to see what it offers"
		}
		answer, err := n.Line(c.In, c.Out, question+"? y: yes, o: update it and leave it off [y/o/N] ")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
		case "o", "off":
			enable = false
		default:
			return factory.ErrCanceled
		}
	}
	if enable && !looked {
		if offer, err = n.App().LookAtPlugin(ctx, staged.Dir, staged.Manifest); err != nil {
			return fmt.Errorf("the new version cannot be used: %w", err)
		}
		n.shown(c, name, pins[name].Offer, offer)
	}
	if wider := pins[name].Offer.Wider(offer); yes && len(wider) > 0 {
		return wantsMore(wider)
	}
	if enable {
		if err := n.fits(cfg, name, offer, on(cfg)); err != nil {
			return fmt.Errorf("the new version cannot be used: %w", err)
		}
	}
	if after, err := plugin.Digest(staged.Dir); err != nil || after != next.digest {
		return errors.Join(errors.New("its files changed meanwhile; try it again"), err)
	}
	if err := i.Put(staged, true); err != nil {
		return err
	}
	if !enable {
		c.Say("Updated %s. It is off until `hermes plugins enable %s`.", name, name)
		return nil
	}
	if err := plugin.PinsIn(cfg.Home().Plugins()).Set(ctx, name, plugin.Pin{Digest: next.digest, Offer: offer, At: n.Now().UTC(), Source: staged.Source.Place()}); err != nil {
		return fmt.Errorf("it was updated, but is off: %w", err)
	}
	c.Say("Updated %s. New sessions have it.", name)
	return nil
}

// shown shows how what a plugin offers changes, and all that is new or different.
func (n noun) shown(c *factory.Call, name string, old, now plugin.Offer) {
	if old.Same(now) {
		c.Say("  what it offers is the same")
	}
	for _, line := range old.Changes(now) {
		c.Say("%s", n.fold("  ", line))
	}
	n.tell(c, name, old.New(now))
}
