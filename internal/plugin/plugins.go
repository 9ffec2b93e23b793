package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
)

// Config is what plugins need of the program.
type Config struct {
	// Version is that of the program, which plugins are told.
	Version string
	// Program is the path of this program, see [Manifest.Words].
	Program string
	// Environment makes the place in which the program of a plugin runs, for it alone: with its
	// variables and walls. The plugin closes it.
	Environment func(m Manifest, dir string) (hermes.Environment, error)
	// Complete asks a model for a plugin. Nil refuses.
	Complete func(ctx context.Context, c Completion) (Completed, error)
	// ResultLimit is the size in bytes above which a result is stored outside of the context.
	ResultLimit int
	// Memory says how memories of plugins are used.
	Memory MemoryUse
	// Taken reports the names that a plugin of a kind cannot have, because something built in is called
	// so, nor its commands: a plugin never takes the place of it. Nil is none.
	Taken func(kind, name string) bool
	// Started reports whether a plugin was ever started in this home. One of the settings that was, and
	// has no pin, may have had guards. Nil knows none.
	Started func(name string) bool
	Now     func() time.Time
	Log     *slog.Logger
}

// Completion is a question of a plugin to a model, within what it declared.
type Completion struct {
	Plugin         string
	Session        hermes.SessionRef
	System, Prompt string
	MaxTokens      int
}

// Completed is the answer of a model.
type Completed struct{ Model, Text string }

// Plugins are all plugins of the program. They may be used concurrently.
type Plugins struct {
	list   []*Plugin
	unused []State // those of which not even a guard is left
	life   context.Context
	stop   context.CancelCauseFunc
	once   sync.Once
}

var errClosing = errors.New("the program is shutting down")

// New makes the plugins of a folder that the user enabled, by names. It starts none. taken reports
// the names of tools that others have. Of two plugins with the same tool or command, the one that is
// named first is used. An error is about one plugin, which is left out; there may
// be several, joined.
func New(c Config, folder string, enabled []string, taken func(tool string) bool) (*Plugins, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Plugins{}
	s.life, s.stop = context.WithCancelCause(context.Background())
	if len(enabled) == 0 {
		return s, nil
	}
	if err := Recover(s.life, folder); err != nil {
		c.Log.Warn("what a command on plugins left cannot be cleaned up", slog.Any("err", err))
	}
	pins, err := PinsIn(folder).Read()
	if err == nil {
		err = PinsIn(folder).missing()
	}
	if err != nil {
		s.refuse(c, enabled, err)
		return s, err
	}
	first := slices.Clone(enabled) // where two have the same name, the one that was enabled first has it
	enabled = slices.Compact(slices.Sorted(slices.Values(enabled)))
	loaded := make([]*Plugin, len(enabled))
	errs := make([]error, len(enabled))
	var loading sync.WaitGroup
	for i, name := range enabled { // their files are read, which takes time
		loading.Go(func() { loaded[i], errs[i] = load(c, folder, name, pins) })
	}
	loading.Wait()
	used := map[string]Offer{}
	for _, name := range first {
		i, _ := slices.BinarySearch(enabled, name)
		p := loaded[i]
		if _, again := used[name]; again || p == nil || p.broken != "" {
			continue
		}
		if why := c.unusable(p.pin.Offer, taken, used); why != "" {
			errs[i] = fmt.Errorf("the plugin %s is not used: %s", name, why)
			if !p.guardsOnly(why) {
				loaded[i] = nil
			}
			continue
		}
		used[name] = p.pin.Offer
	}
	for i, p := range loaded {
		if p != nil {
			p.life = s.life
			s.list = append(s.list, p)
		} else if errs[i] != nil {
			why := strings.TrimPrefix(errs[i].Error(), fmt.Sprintf("the plugin %s is not used: ", enabled[i]))
			s.unused = append(s.unused, State{Name: enabled[i], Phase: PhaseUnused, Reason: why})
		}
	}
	return s, errors.Join(errs...)
}

// refuse makes plugins of which nothing is known guards that refuse every call, for the reason.
func (s *Plugins) refuse(c Config, enabled []string, why error) {
	for _, name := range enabled {
		if ValidName(name) {
			p := refusing(c, name, why)
			p.life = s.life
			s.list = append(s.list, p)
		}
	}
}

// refusing is a plugin of which nothing is known: it refuses every call.
func refusing(c Config, name string, why error) *Plugin {
	return &Plugin{cfg: c, manifest: Manifest{Name: name}, pin: Pin{Offer: guardsAll()}, broken: why.Error()}
}

// load reads a plugin, and refuses it if it is not as the user enabled it.
func load(c Config, folder, name string, pins map[string]Pin) (*Plugin, error) {
	if !ValidName(name) {
		return nil, fmt.Errorf("plugins.enabled names %q, which no plugin can be called", name)
	}
	pin, ok := pins[name]
	if !ok && c.Started != nil && c.Started(name) {
		err := fmt.Errorf("the plugin %s is named in plugins.enabled and was used here, but what you enabled is not recorded any more; use `hermes plugins enable %s`, or `hermes plugins disable %s`", name, name, name)
		return refusing(c, name, err), err
	}
	if !ok {
		return nil, fmt.Errorf("the plugin %s is named in plugins.enabled, but you did not look at it yet: use `hermes plugins enable %s`", name, name)
	}
	p := &Plugin{cfg: c, dir: filepath.Join(folder, name), pin: pin}
	if err := p.look(name); err != nil {
		p.manifest = Manifest{Name: name}
		guards := p.guardsOnly(err.Error())
		err = fmt.Errorf("the plugin %s is not used: %w", name, err)
		if !guards {
			p = nil
		}
		return p, err
	}
	return p, nil
}

// look reads the manifest and compares the files with what the user enabled.
func (p *Plugin) look(name string) (err error) {
	if p.pin.damaged != nil {
		return p.pin.damaged
	}
	if p.dir, err = filepath.EvalSymlinks(p.dir); err != nil {
		return fmt.Errorf("it is not installed; `hermes plugins install` installs one, and `hermes plugins disable %s` forgets it", name)
	}
	if p.manifest, _, err = ReadManifest(p.dir); err != nil {
		return err
	}
	if p.manifest.Name != name {
		return fmt.Errorf("its manifest calls it %s", p.manifest.Name)
	}
	if err := p.cfg.shadows(p.manifest); err != nil {
		return err
	}
	if d, err := Digest(p.dir); err != nil || d != p.pin.Digest {
		return p.changed(err)
	}
	return nil
}

// shadows refuses a plugin that would be chosen by the name of something built in.
func (c Config) shadows(m Manifest) error {
	for _, kind := range []string{KindMemory, KindContext} { // those that are chosen by their names
		if m.has(kind) && c.Taken != nil && c.Taken(kind, m.Name) {
			return fmt.Errorf("the %s %s is built in; the plugin needs another name", kind, m.Name)
		}
	}
	return nil
}

// commandsShadow refuses slash commands that are called as built-in ones.
func (c Config) commandsShadow(o Offer) error {
	for _, one := range o.Commands {
		if c.Taken != nil && c.Taken(KindCommands, one.Name) {
			return fmt.Errorf("there is a command /%s already; the plugin has to name its own differently", one.Name)
		}
	}
	return nil
}

// unusable returns why an offer cannot be used beside what is built in, the tools of others and the
// offers of other plugins, "" if it can.
func (c Config) unusable(o Offer, taken func(tool string) bool, others map[string]Offer) string {
	if why := o.Shadows(taken); why != "" {
		return why
	}
	if err := c.commandsShadow(o); err != nil {
		return err.Error()
	}
	return o.Clash(others)
}

// guardsOnly makes a plugin that cannot be used one of guards that refuse, for the reason: what the
// user had guarded is not unguarded because the guard is broken. It returns false if it has none.
func (p *Plugin) guardsOnly(why string) bool {
	p.broken = why
	p.pin.Offer = Offer{Hooks: slices.DeleteFunc(slices.Clone(p.pin.Offer.Hooks), func(h Hook) bool { return !h.Guard })}
	return len(p.pin.Offer.Hooks) > 0
}

// List returns the plugins that are used, sorted by name.
func (s *Plugins) List() []*Plugin { return slices.Clone(s.list) }

// Toolsets returns a toolset for each plugin with tools, sorted by name.
func (s *Plugins) Toolsets() []hermes.Toolset {
	var sets []hermes.Toolset
	for _, p := range s.list {
		if len(p.pin.Offer.Tools) > 0 {
			sets = append(sets, newToolset(p))
		}
	}
	return sets
}

// Sections returns the sections of the prompt, in the order of the plugins. Names are
// PLUGIN/SECTION.
func (s *Plugins) Sections() []Section {
	var list []Section
	for _, p := range s.list {
		for _, section := range p.pin.Offer.Sections {
			list = append(list, Section{p.Name() + "/" + section.Name, section.Text})
		}
	}
	return list
}

// Close ends all plugins, at the same time, and returns when everything that they started is gone.
func (s *Plugins) Close() error {
	s.once.Do(func() { s.stop(errClosing) })
	for _, p := range s.list {
		p.mu.Lock() // whoever gets it later starts nothing more
		p.retry = time.Time{}
		p.mu.Unlock()
		p.running.Wait()
	}
	return nil
}

// Look starts a plugin that may not be enabled yet, asks what it offers, and ends it.
func Look(ctx context.Context, c Config, dir string, m Manifest) (o Offer, err error) {
	if err := c.shadows(m); err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, m.startTime(), fmt.Errorf("it did not answer within %v", m.startTime()))
	defer cancel()
	env, err := c.Environment(m, dir)
	if err != nil {
		return o, err
	}
	conn, err := start(ctx, env, c.Program, dir, m, nil)
	if err != nil {
		return o, err
	}
	if err = conn.hello(ctx, c.Version, m); err == nil {
		o, err = conn.ask(ctx, m)
	}
	if err != nil {
		err = reasonOf(conn, err)
	} else {
		err = c.commandsShadow(o)
	}
	return o, errors.Join(err, conn.end())
}
