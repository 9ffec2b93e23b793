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
	"hermes/internal/plugin/upstream"
	"hermes/internal/text"
)

// wishes are the flags of an installation.
type wishes struct {
	commit, branch            string
	replace, yes, credentials bool
	python                    upstream.Grants
	secrets, variables        []string
	address                   string // of the service of a plugin that comes along
}

func (n noun) install() *cobra.Command {
	var w wishes
	cmd := factory.Verb("install SOURCE", "Copy a plugin from a folder, an archive or a git repository, or one that comes along", "hermes plugins install ./words\n  hermes plugins install spotify\n  hermes plugins install https://example.org/words.git@0123456789abcdef0123456789abcdef01234567\n  hermes plugins install ./calculator --host api.example.org", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		s, err := n.source(c.Arg(0), w)
		if err != nil {
			return err
		}
		if s.Kind == source.Git && s.Commit == "" {
			if s, err = n.newest(ctx, c, s, w.yes); err != nil {
				return err
			}
		}
		i, err := n.App().PluginInstaller(ctx)
		if err != nil {
			return err
		}
		return errors.Join(n.put(ctx, c, i, s, w.replace), i.Close())
	})
	f := cmd.Flags()
	f.StringVar(&w.commit, "commit", "", "take this commit of a repository, 40 hexadecimal digits")
	f.StringVar(&w.branch, "branch", "", "take the newest commit of this branch")
	f.BoolVar(&w.replace, "replace", false, "replace an installed plugin of the same name")
	f.BoolVarP(&w.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&w.credentials, "credentials", false, "let git use your settings, keys and stored passwords")
	f.StringArrayVar(&w.python.Hosts, "host", nil, "a host that a plugin of the Python Hermes may reach")
	f.StringArrayVar(&w.python.Read, "read", nil, "a path that it may read")
	f.StringArrayVar(&w.python.Write, "write", nil, "a path that it may write")
	f.StringArrayVar(&w.secrets, "secret", nil, "a secret that it uses, as NAME=HOST")
	f.StringArrayVar(&w.variables, "set", nil, "a plain variable that it gets, as NAME=VALUE")
	f.StringArrayVar(&w.python.Tools, "tool", nil, "a tool of the session that it may call")
	f.BoolVar(&w.python.Complete, "complete", false, "let it ask a model")
	f.StringVar(&w.address, "address", "", "where the service of a plugin that comes along is, in place of the public one")
	return cmd
}

// source is what the user typed: the name of a plugin that comes along, or where to get another.
func (n noun) source(typed string, w wishes) (source.Source, error) {
	if b, ok := n.find(typed); ok {
		return source.Source{Kind: source.Bundled, From: b.Name, Address: w.address}, nil
	}
	if w.address != "" {
		return source.Source{}, errors.New("--address is for plugins that come along; `hermes plugins list --available` lists them")
	}
	return w.source(typed)
}

// source reads where to get a plugin that does not come along.
func (w wishes) source(typed string) (s source.Source, err error) {
	if s, err = source.Parse(typed); err != nil {
		return s, err
	}
	if s.Kind != source.Git && (w.commit != "" || w.branch != "" || w.credentials) {
		return s, errors.New("--commit, --branch and --credentials are for a git repository")
	}
	if w.commit != "" {
		if s.Commit != "" && s.Commit != w.commit {
			return s, errors.New("the address names another commit than --commit")
		}
		if s, err = s.WithCommit(w.commit); err != nil {
			return s, err
		}
	}
	s.Branch, s.Credentials = w.branch, w.credentials
	g, err := w.grants()
	if err != nil {
		return s, err
	}
	if !g.Empty() {
		s.Python = &g
	}
	return s, nil
}

// grants are what flags allow a plugin of the Python Hermes.
func (w wishes) grants() (upstream.Grants, error) {
	g := w.python
	for _, list := range []*[]string{&g.Read, &g.Write} {
		*list = slices.Clone(*list)
		for i, p := range *list {
			if strings.HasPrefix(p, "~/") {
				continue
			}
			whole, err := filepath.Abs(p)
			if err != nil {
				return g, err
			}
			(*list)[i] = whole
		}
	}
	for _, pair := range w.secrets {
		name, host, ok := strings.Cut(pair, "=")
		if !ok || name == "" || host == "" {
			return g, fmt.Errorf("--secret %s is not NAME=HOST", text.VisibleName(pair))
		}
		if g.Secrets == nil {
			g.Secrets = map[string][]string{}
		}
		g.Secrets[name] = append(g.Secrets[name], host)
	}
	for _, pair := range w.variables {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || strings.Contains(pair, "\x00") {
			return g, fmt.Errorf("--set %s is not NAME=VALUE", text.VisibleName(name))
		}
		if g.Variables == nil {
			g.Variables = map[string]string{}
		}
		g.Variables[name] = value
	}
	return g, nil
}

// newest shows the newest commit of a repository, and asks whether to take it.
func (n noun) newest(ctx context.Context, c *factory.Call, s source.Source, yes bool) (source.Source, error) {
	found, branch, err := n.App().NewestPlugin(ctx, s)
	if err != nil {
		return s, err
	}
	c.Say("The branch %s of %s is at the commit %s.", text.VisibleName(branch), text.Visible(found.From), found.Commit)
	if yes {
		return found, nil
	}
	if !n.Terminal() {
		return s, fmt.Errorf("no terminal to ask on; name the commit with --commit %s", found.Commit)
	}
	return found, n.Confirm(c.In, c.Out, "Install this commit?")
}

// put fetches and installs a plugin, and says what there is to know about it.
func (n noun) put(ctx context.Context, c *factory.Call, i *plugin.Installer, s source.Source, replace bool) error {
	staged, err := i.Stage(ctx, s)
	if err != nil {
		return err
	}
	for _, note := range staged.Notes {
		n.note(c, note)
	}
	if err := i.Put(staged, replace); err != nil {
		return err
	}
	m := staged.Manifest
	c.Say("Installed %s %s from %s. Nothing of it runs before `hermes plugins enable %s`.", m.Name, text.VisibleName(m.Version), staged.Source, m.Name)
	if staged.Source.Python != nil {
		c.Say("It was written for the Python Hermes, and declares nothing itself. It reads its own files and gets what you allow with flags of `install`.")
		n.granted(c, m)
	}
	if staged.Source.Kind == source.Bundled {
		return n.helpBundled(c, m)
	}
	for _, l := range staged.Lacks {
		n.note(c, l)
	}
	return nil
}

func (n noun) remove() *cobra.Command {
	var keep bool
	cmd := factory.Verb("remove NAME", "Remove a plugin and what it stored", "hermes plugins remove words", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) (err error) {
		name := c.Arg(0)
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		if !plugin.ValidName(name) {
			return fmt.Errorf("%q is not the name of a plugin", text.VisibleName(name))
		}
		i, err := n.App().PluginInstaller(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, i.Close()) }()
		named, err := isNamed(cfg, name)
		if err != nil {
			return err
		}
		_, gone := os.Lstat(filepath.Join(cfg.Home().Plugins(), name))
		if gone != nil && !named {
			return fmt.Errorf("there is no plugin %s; `hermes plugins list` shows all", name)
		}
		// The files are last, so that after a kill a second try finds the plugin.
		if err := forget(ctx, cfg, name); err != nil {
			return err
		}
		if !keep {
			if err := n.App().RemovePluginData(name); err != nil {
				return fmt.Errorf("what %s stored cannot be removed: %w", name, err)
			}
		}
		if gone == nil {
			if err := i.Remove(name); err != nil {
				return err
			}
		}
		c.Say("Removed %s.", name)
		return nil
	})
	cmd.Flags().BoolVar(&keep, "keep-data", false, "keep what the plugin stored")
	return cmd
}

// isNamed reports whether settings or pins name a plugin, installed or not.
func isNamed(cfg *config.Config, name string) (bool, error) {
	pins, err := plugin.PinsIn(cfg.Home().Plugins()).Read()
	_, pinned := pins[name]
	return pinned || slices.Contains(cfg.Plugins().Enabled, name), err
}

// forget takes a plugin out of the settings, and its pin.
func forget(ctx context.Context, cfg *config.Config, name string) error {
	if err := plugin.PinsIn(cfg.Home().Plugins()).Remove(ctx, name); err != nil {
		return err
	}
	return put(ctx, cfg, slices.DeleteFunc(slices.Clone(cfg.Plugins().Enabled), func(e string) bool { return e == name }))
}
