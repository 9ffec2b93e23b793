package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/internal/atomicfile"
	"hermes/internal/cmd/factory"
	"hermes/internal/plugin"
	"hermes/internal/plugin/source"
	"hermes/internal/text"
)

// heir is a plugin that is about to get its private home for the first time, or again.
type heir struct {
	name  string
	place string // where it comes from, see [source.Source.Place]
	// record is the file that says where the plugin came from that had the home last. It is beside the
	// home, where plugins cannot write.
	record string
}

// heir refuses a plugin with the name of one that comes along, unless it is that one. It tells the user
// what another plugin of that name stored, which this one would get; with yes that is
// refused.
func (n noun) heir(c *factory.Call, folder, name string, yes bool) (heir, error) {
	from, _, err := plugin.SourceOf(folder, name)
	if err != nil {
		return heir{}, err
	}
	if err := n.ownName(name, from); err != nil {
		return heir{}, err
	}
	home, err := n.App().PluginHome(name)
	if err != nil {
		return heir{}, err
	}
	h := heir{name, from.Place(), filepath.Join(filepath.Dir(home), "source")}
	entries, err := os.ReadDir(home)
	if len(entries) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return h, err
	}
	before, err := os.ReadFile(h.record)
	const clear = "`hermes plugins remove %s` clears it"
	switch {
	case errors.Is(err, fs.ErrNotExist) && from.Kind == source.Bundled: // the login
	case errors.Is(err, fs.ErrNotExist):
		c.Note("A plugin %s stored something before, and this one gets it; "+clear+".", name, name)
	case err != nil:
		return h, err
	case string(before) == h.place:
	case yes:
		return h, fmt.Errorf("another plugin %s, from %s, stored something that this one would get, to which --yes does not agree; "+clear, name, text.VisibleName(string(before)), name)
	default:
		c.Note("%s", n.fold("", fmt.Sprintf("Another plugin %s, from %s, stored something, and this one from %s gets it; "+clear+".", name, text.VisibleName(string(before)), text.VisibleName(h.place), name)))
	}
	return h, nil
}

// enters records that the plugin gets the home now.
func (h heir) enters() error {
	if err := os.MkdirAll(filepath.Dir(h.record), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(h.record, []byte(h.place), atomicfile.Options{Mode: 0o600})
}

// ownName refuses a plugin from a source that is called as one that comes along.
func (n noun) ownName(name string, from source.Source) error {
	return source.Tools{IsBundled: func(name string) bool { _, ok := n.find(name); return ok }}.Refuse(name, from)
}

// onlyBundled refuses to log in for a plugin that is installed and does not come along.
func (n noun) onlyBundled(plugins, name string) error {
	if _, err := os.Lstat(filepath.Join(plugins, name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	from, _, err := plugin.SourceOf(plugins, name)
	if err == nil && from.Kind != source.Bundled {
		err = fmt.Errorf("the plugin %s that is installed is not the one that comes along, and would get the login; use `hermes plugins remove %s`, then `hermes plugins install %s`", name, name, name)
	}
	return err
}
