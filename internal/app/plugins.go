package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/command"
	"hermes/internal/config"
	"hermes/internal/confine"
	"hermes/internal/egress/swap"
	"hermes/internal/environment"
	"hermes/internal/isolation"
	"hermes/internal/mcp/setting"
	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/source"
	"hermes/internal/prompt"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/plan"
	"hermes/internal/text"
	"hermes/internal/toolset"
)

// makePlugins makes the plugins that the user enabled. It starts none. An error says which are not used.
func (a *App) makePlugins(cfg *config.Config, sets []hermes.Toolset) (*plugin.Plugins, error) {
	set := cfg.Plugins()
	enabled := slices.DeleteFunc(slices.Clone(set.Enabled), func(name string) bool { return slices.Contains(set.Disabled, name) })
	var taken func(string) bool
	if len(enabled) > 0 {
		taken = takenBy(sets)
	}
	all, err := plugin.New(a.pluginConfig(cfg), cfg.Home().Plugins(), enabled, taken)
	if err != nil {
		a.log().Warn("plugins", "err", err)
	}
	return all, err
}

// notPlugged says which plugins that the user enabled are not used, a sentence each.
func (a *App) notPlugged() (warnings []string) {
	err := a.tooling().notPlugged
	list := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		list = many.Unwrap()
	}
	for _, err := range list {
		if err != nil {
			warnings = append(warnings, text.Visible(text.OneLine(err.Error(), 500)))
		}
	}
	return warnings
}

// takenBy reports the names of tools that toolsets have, and those of the table, which may come.
func takenBy(sets []hermes.Toolset) func(tool string) bool {
	c := toolset.NewCatalogue(sets, nil, nil)
	names, _ := c.Expand(context.Background(), c.Names()...)
	return func(tool string) bool { return slices.Contains(names, tool) }
}

// TakenTools reports the names that tools of plugins cannot have.
func (a *App) TakenTools() func(tool string) bool {
	return takenBy(slices.DeleteFunc(slices.Clone(a.tooling().sets), func(s hermes.Toolset) bool {
		return strings.HasPrefix(s.Name(), plugin.ToolsetName(""))
	}))
}

// LookAtPlugin starts a plugin in its walls, asks what it offers, and ends it.
func (a *App) LookAtPlugin(ctx context.Context, dir string, m plugin.Manifest) (plugin.Offer, error) {
	cfg, err := a.config()
	if err != nil {
		return plugin.Offer{}, err
	}
	return plugin.Look(ctx, a.pluginConfig(cfg), dir, m)
}

// TryPlugin starts a plugin that the user has not agreed to yet, asks what it offers, and ends it: in walls
// that give it nothing that it declares but the files of its programs, and with a home that is removed
// afterwards.
func (a *App) TryPlugin(ctx context.Context, dir string, m plugin.Manifest) (o plugin.Offer, err error) {
	cfg, err := a.config()
	if err != nil {
		return o, err
	}
	m.Capabilities = plugin.Capabilities{Programs: m.Capabilities.Programs}
	trial := "trial of " + m.Name // which no plugin can be called
	c := a.pluginConfig(cfg)
	c.Environment = func(m plugin.Manifest, dir string) (hermes.Environment, error) {
		return a.pluginEnvironment(cfg, m, trial, c.Program, dir)
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(plan.PrivateFolder(cfg.Home().Cache("sandbox"), plan.Plugin, trial)))
	}()
	return plugin.Look(ctx, c, dir, m)
}

// PluginInstaller begins to change the folder of plugins. The caller closes it.
func (a *App) PluginInstaller(ctx context.Context) (*plugin.Installer, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return plugin.Begin(ctx, cfg.Home().Plugins(), a.sourceTools(cfg))
}

// NewestPlugin returns a source at the newest commit of its branch, and the name of that.
func (a *App) NewestPlugin(ctx context.Context, s source.Source) (newest source.Source, branch string, err error) {
	cfg, err := a.config()
	if err != nil {
		return s, "", err
	}
	return s.Newest(ctx, a.sourceTools(cfg))
}

func (a *App) sourceTools(cfg *config.Config) source.Tools {
	return source.Tools{Env: func() []string { return environment.Variables(a.variables(cfg)) }, Guard: &a.guard, Bundled: writeBundled, IsBundled: isBundled}
}

func isBundled(name string) bool {
	_, ok := bundled.Find(name)
	return ok
}

// writeBundled writes the files of a plugin that comes along.
func writeBundled(name, address, dir string) error {
	b, ok := bundled.Find(name)
	if !ok {
		return fmt.Errorf("no plugin %s comes along with this Hermes; `hermes plugins list --available` lists them", name)
	}
	return b.Write(dir, address)
}

// RemovePluginData removes what a plugin wrote into its private home.
func (a *App) RemovePluginData(name string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	return os.RemoveAll(plan.PrivateFolder(cfg.Home().Cache("sandbox"), plan.Plugin, name))
}

// pluginConfig is what plugins need of the program.
func (a *App) pluginConfig(cfg *config.Config) plugin.Config {
	self, _ := os.Executable() // without one a manifest that means this program has it from the PATH
	return plugin.Config{
		Version: Version, Program: self, Environment: func(m plugin.Manifest, dir string) (hermes.Environment, error) {
			return a.pluginEnvironment(cfg, m, m.Name, self, dir)
		},
		Memory: plugin.MemoryUse{Chosen: cfg.Memory().Provider, Allowed: a.ownersMemory},
		Taken: func(kind, name string) bool {
			switch kind {
			case plugin.KindMemory:
				return a.isBuiltinMemory(cfg, name)
			case plugin.KindContext:
				return name == builtinEngine
			}
			return kind == plugin.KindCommands && command.BuiltIn(name)
		},
		Started: func(name string) bool {
			_, err := os.Stat(pluginHome(cfg, name))
			return !errors.Is(err, fs.ErrNotExist) // unknown is careful
		},
		Complete: a.completeFor, ResultLimit: cfg.ToolBudget().MCPResultChars, Now: a.opts.Now, Log: a.log(),
	}
}

// mostProcesses is how many processes a plugin, an MCP server or a hook may have at once.
const mostProcesses = 512

// pluginEnvironment makes the place of the program of a plugin: with basic variables, the secrets
// that it declares, and walls of its own. owner is whose private home it gets.
func (a *App) pluginEnvironment(cfg *config.Config, m plugin.Manifest, owner, self, dir string) (hermes.Environment, error) {
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	c := a.variables(cfg)
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !basicVariable(name) || name == "HOME"
	})
	c.Dir, c.Home, c.Temp, c.Guard = dir, userHome, cfg.Terminal().TempDir, &a.guard
	c.Processes = mostProcesses
	private := pluginHome(cfg, owner) // also where there are no walls, so that it finds the same files
	if err := os.MkdirAll(private, 0o700); err != nil {
		return nil, err
	}
	c.Env = append(c.Env, "HOME="+private)
	secrets, err := pluginSecrets(cfg, m)
	if err != nil {
		return nil, err
	}
	needs := pluginNeeds(m.Capabilities, variable(c.Env, "PATH"), userHome, m.Words(self, dir)[0])
	if c.Walls, err = a.wallsOf(cfg, c, confine.Config{
		Profile: plan.Plugin, Name: owner, Granted: func() []hermes.Need { return needs }, Given: func() []string { return []string{dir} },
		Secrets: swap.Config{Secrets: secrets, Roots: a.opts.Sandbox.Roots},
	}); err != nil {
		return nil, err
	}
	bare, err := a.withoutWalls(c.Walls, len(secrets) > 0)
	if err != nil {
		return nil, err
	}
	if bare { // no one could put the values in later
		for _, s := range secrets {
			value := string(s.Value)
			c.Env, c.Passthrough = append(c.Env, s.Name+"="+value), append(c.Passthrough, s.Name)
			c.Keys = slices.DeleteFunc(c.Keys, func(key string) bool { return key == value }) // else it would be left out
		}
	}
	c.Bare = a.bare()
	return environment.NewLocal(c)
}

// withoutWalls reports whether nothing will be around a program with some walls: the settings want
// none, or this host is known to allow none. It asks the host only if it matters.
func (a *App) withoutWalls(w isolation.Walls, matters bool) (bool, error) {
	if w == nil || !matters {
		return w == nil, nil
	}
	p, err := a.confinement()
	if err != nil || p == nil { // then the walls let no program run
		return false, err
	}
	s, err := p.Probe(context.Background())
	return s.Known && s.Layer == sandbox.None, err
}

// pluginHome is the private home of a plugin, which it finds as HOME.
func pluginHome(cfg *config.Config, name string) string {
	return filepath.Join(plan.PrivateFolder(cfg.Home().Cache("sandbox"), plan.Plugin, name), "home")
}

// PluginHome returns the private home of a plugin, which may not exist yet.
func (a *App) PluginHome(name string) (string, error) {
	cfg, err := a.config()
	if err != nil {
		return "", err
	}
	return pluginHome(cfg, name), nil
}

// pluginSecrets are the secrets that a plugin declares, with their values.
func pluginSecrets(cfg *config.Config, m plugin.Manifest) (list []swap.Secret, err error) {
	for _, s := range m.Capabilities.Secrets {
		value, _ := cfg.LookupEnv(s.Name)
		if value == "" {
			return nil, fmt.Errorf("it needs the secret %s; set it with `hermes config set %s VALUE`", s.Name, s.Name)
		}
		var hosts []string
		for _, h := range s.Hosts {
			hosts = append(hosts, strings.TrimSuffix(plugin.WithPort(h), ":443"))
		}
		list = append(list, swap.Secret{Name: s.Name, Value: hermes.Secret(value), Hosts: hosts, Methods: []string{"*"}, Paths: []string{"/"}})
	}
	return list, nil
}

// declaredPath is the path that a plugin declares. The home of the user may be a link: no plugin chose it.
func declaredPath(p, userHome string) string {
	rest, ok := strings.CutPrefix(p, "~/")
	if !ok {
		return filepath.Clean(p)
	}
	if real, err := filepath.EvalSymlinks(userHome); err == nil {
		userHome = real
	}
	return filepath.Join(userHome, rest)
}

// PluginGaps says which paths that a plugin declares have no effect behind walls, a sentence each: those that
// are not there, and links, which could lead elsewhere tomorrow.
func (a *App) PluginGaps(c plugin.Capabilities) (gaps []string) {
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	for _, p := range slices.Concat(c.Read, c.Write) {
		at := declaredPath(p, userHome)
		switch real, err := filepath.EvalSymlinks(at); {
		case err != nil:
			gaps = append(gaps, p+" is not there, so it is not opened; make it, and start the session after that")
		case real != at:
			gaps = append(gaps, p+" leads to "+real+" through a link, so it is not opened; declare that path")
		}
	}
	return gaps
}

// pluginNeeds are what a plugin declares that it reaches.
func pluginNeeds(c plugin.Capabilities, path, userHome, program string) []hermes.Need {
	var needs []hermes.Need
	for _, h := range c.Hosts {
		needs = append(needs, hermes.Need{Kind: hermes.RefusedHost, Name: plugin.WithPort(h)})
	}
	for _, p := range c.Write {
		needs = append(needs, hermes.Need{Kind: hermes.RefusedWrite, Name: declaredPath(p, userHome)})
	}
	for _, p := range c.Read {
		needs = append(needs, hermes.Need{Kind: hermes.RefusedRead, Name: declaredPath(p, userHome)})
	}
	for _, name := range append(slices.Clone(c.Programs), program) {
		if filepath.IsAbs(name) { // a file of the plugin, whose folder is given anyway, or this program
			needs = append(needs, hermes.Need{Kind: hermes.RefusedRead, Name: name})
			continue
		}
		for _, p := range (setting.Server{Program: setting.Program{Command: name}}).Reads(path, userHome) { // what a program outside of the system needs to run
			needs = append(needs, hermes.Need{Kind: hermes.RefusedRead, Name: p})
		}
	}
	return needs
}

// completeFor asks a model for a plugin, as the side task plugin.
func (a *App) completeFor(ctx context.Context, c plugin.Completion) (plugin.Completed, error) {
	m := a.aux().Model(auxiliary.Plugin, c.Session.Model)
	answer, err := hermes.Collect(m.Stream(ctx, &hermes.Request{
		System: c.System, Messages: []hermes.Message{{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: c.Prompt}}}}, MaxTokens: c.MaxTokens, Session: c.Session.ID,
	}))
	if err != nil {
		return plugin.Completed{}, fmt.Errorf("the model did not answer: %w", err)
	}
	return plugin.Completed{Model: m.ID(), Text: answer.Text()}, nil
}

// pluginsIn adds the sections of plugins to a prompt.
func (a *App) pluginsIn(in *prompt.Input, run hermes.RunSpec) {
	all := a.tooling().plugins
	if all == nil || run.Prompt.IgnoreRules {
		return
	}
	for _, s := range all.Sections() {
		in.Guides = append(in.Guides, prompt.Section{Name: "plugin-" + strings.ReplaceAll(s.Name, "/", "-"), Tier: prompt.Context, Text: s.Text})
	}
}
