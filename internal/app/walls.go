package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/confine"
	"hermes/internal/egress"
	"hermes/internal/egress/swap"
	"hermes/internal/environment"
	"hermes/internal/httpc"
	"hermes/internal/isolation"
	"hermes/internal/lineage"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/landlock"
)

// makeConfinement makes the walls of this program, nil if it has none: it was not started
// as one that can become a keeper, or the user switched them off.
func (a *App) makeConfinement() (*confine.Program, error) {
	cfg, err := a.config()
	if err != nil || !a.opts.Sandbox.Keeper || cfg.Terminal().Sandbox == isolation.SandboxOff {
		return nil, err
	}
	userHome, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("a sandbox needs to know the user's home folder: %w", err)
	}
	proxy, allow, deny, err := a.wayOut(cfg)
	if err != nil {
		return nil, err
	}
	a.closing(func() error { proxy.Close(); return nil })
	mode := confine.Strict // also if the setting is misspelt
	if cfg.Terminal().Sandbox == isolation.SandboxAuto {
		mode = confine.Auto
	}
	var registries []egress.Rule
	if cfg.Security().Egress.Registries {
		registries = egress.Registries()
	}
	return confine.New(confine.Settings{
		Mode: mode, Home: userHome, State: cfg.Home().Root(), Cache: cfg.Home().Cache("sandbox"), Name: lineage.ProcessName,
		Proxy: proxy, Allow: append(allow, registries...), Registries: registries, Deny: deny, Log: a.log(), Strongest: a.opts.Sandbox.Strongest,
	}), nil
}

// wayOut makes the proxy of commands, and the hosts that the user allows or forbids by name.
func (a *App) wayOut(cfg *config.Config) (p *egress.Proxy, allow, deny []egress.Rule, err error) {
	if err := cfg.RestrictionFault("security", "egress"); err != nil {
		return nil, nil, nil, err
	}
	set := cfg.Security().Egress
	for _, list := range []struct {
		key   string
		rules []string
		into  *[]egress.Rule
	}{{"allow", set.Allow, &allow}, {"deny", set.Deny, &deny}} {
		for _, text := range list.rules {
			r, err := egress.ParseRule(text)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("security.egress.%s: %w", list.key, err)
			}
			*list.into = append(*list.into, r)
		}
	}
	for _, secret := range set.Secrets {
		if cfg.Getenv(secret.Name) == "" {
			a.log().Warn("a declared secret has no value: put it into Hermes' .env", "setting", "security.egress.secrets", "name", secret.Name)
		}
	}
	if _, err := swap.New(swap.Config{Secrets: declared(cfg)}); err != nil { // before the first command
		return nil, nil, nil, fmt.Errorf("security.egress.secrets: %w", err)
	}
	blocked, err := a.blocked()
	if err != nil {
		return nil, nil, nil, err
	}
	upstream, err := httpc.ProxiesOf(cfg.Getenv).Func()
	if err != nil {
		return nil, nil, nil, err
	}
	return egress.New(egress.Config{
		Deny: blocked.forbids, Upstream: upstream, Connect: a.opts.Sandbox.Connect, Resolve: a.opts.Sandbox.Resolve, IPv4: cfg.Network().ForceIPv4, Log: a.log(),
	}), allow, deny, nil
}

// declared lists the secrets that commands use without seeing them. One that has no value
// is left out, and its use fails.
func declared(cfg *config.Config) (list []swap.Secret) {
	for _, s := range cfg.Security().Egress.Secrets {
		value, _ := cfg.LookupEnv(s.Name)
		if value == "" {
			continue
		}
		list = append(list, swap.Secret{
			Name: s.Name, Value: hermes.Secret(value), Hosts: s.Hosts, Methods: s.Methods, Paths: s.Paths, Headers: s.Headers, Query: s.Query,
		})
	}
	return list
}

// isDeclared reports whether a secret is declared for a host.
func isDeclared(cfg *config.Config) func(host, port string) bool {
	s, err := swap.New(swap.Config{Secrets: declared(cfg)})
	return func(host, port string) bool {
		number, bad := strconv.ParseUint(port, 10, 16)
		return err == nil && bad == nil && s.Handles(host, uint16(number))
	}
}

// declaredValues are the values of declared secrets, which no one may see.
func declaredValues(cfg *config.Config) (list []string) {
	for _, s := range cfg.Security().Egress.Secrets {
		if value, _ := cfg.LookupEnv(s.Name); value != "" {
			list = append(list, value)
		}
	}
	return list
}

// HostWalls says which walls around commands this host allows. It builds some to find
// out.
func (a *App) HostWalls(ctx context.Context) isolation.HostWalls {
	if a.opts.HostWalls != nil {
		return a.opts.HostWalls(ctx)
	}
	p, err := a.confinement()
	if err != nil {
		return isolation.HostWalls{Why: err.Error()}
	}
	if p == nil {
		return isolation.HostWalls{Why: "this version has no sandbox for " + runtime.GOOS}
	}
	s, err := p.Probe(ctx)
	w := hostWalls(s)
	if err != nil {
		w.Why = err.Error()
	}
	return w
}

func hostWalls(s confine.State) isolation.HostWalls {
	w := isolation.HostWalls{Why: strings.Join(s.Reasons, "; "), Abilities: abilities()}
	if s.Layer > sandbox.None {
		w.Layer = s.Layer.String()
	}
	return w
}

// abilities lists what walls are made of here.
func abilities() []isolation.Ability {
	abi, err := landlock.ABI()
	if err != nil {
		return []isolation.Ability{{Name: "Landlock", Detail: err.Error()}}
	}
	list := []isolation.Ability{{Name: "Landlock", Allowed: true, Detail: fmt.Sprintf("version %d", abi)}}
	for _, row := range landlock.Lacks(abi) {
		list = append(list, isolation.Ability{Name: row.Right, Detail: row.Instead})
	}
	return list
}

// Sandbox says in one sentence which walls are in force for new sessions, as far as that
// is known without building them.
func (a *App) Sandbox(ctx context.Context) string {
	cfg, err := a.config()
	if err != nil {
		return ""
	}
	mode := cfg.Terminal().Sandbox
	if a.opts.HostWalls != nil {
		return a.opts.HostWalls(ctx).Line(mode)
	}
	p, err := a.confinement()
	if p == nil || err != nil {
		return isolation.HostWalls{}.Line(mode)
	}
	s := p.State()
	if !s.Known {
		s.Layer = min(sandbox.Expect(), sandbox.A)
	}
	return hostWalls(s).Line(mode)
}

// walled is what the walls of a session ask it for. The zero value is a session that has
// been allowed nothing, and has read nothing.
type walled struct {
	granted func() []hermes.Need // what the user has allowed all its commands
	read    func() string        // the untrusted text that it has read
}

// walledFolder returns the folder around which programs get walls, with links followed. If it is "",
// none are made: then the programs have what it returns in their place, nil if the settings want no
// walls.
func (a *App) walledFolder(cfg *config.Config, dir string) (workspace string, none isolation.Walls, err error) {
	mode := cfg.Terminal().Sandbox
	if mode == isolation.SandboxOff {
		return "", nil, nil
	}
	p, err := a.confinement()
	if err != nil {
		return "", nil, err
	}
	if p == nil {
		if why := a.HostWalls(context.Background()).Refusal(mode); why != "" {
			return "", isolation.NoCommands(why), nil
		}
		return "", nil, nil
	}
	workspace, err = filepath.EvalSymlinks(dir)
	return workspace, nil, err
}

// walls makes the walls around the commands of a session, nil if the settings want none.
func (a *App) walls(cfg *config.Config, local environment.LocalConfig, of walled) (isolation.Walls, error) {
	workspace, none, err := a.walledFolder(cfg, local.Dir)
	if workspace == "" {
		return none, err
	}
	p, err := a.confinement() // walledFolder has made it
	if err != nil {
		return nil, err
	}
	environ := slices.Clone(environment.Variables(local))
	files := a.credentialFiles(cfg)
	return p.Walls(confine.Config{Workspace: workspace, Environ: environ, Granted: files.granted(of.granted), Given: files.given, Read: of.read, Secrets: swap.Config{
		Secrets: declared(cfg), Roots: a.opts.Sandbox.Roots, Java: hasProgram(environ, "java"),
	}}), nil
}

// bare returns what ends everything that a program of an MCP server, a plugin or a hook started,
// where it has no walls; nil if this system, or this program, cannot.
func (a *App) bare() isolation.Bare {
	if !a.opts.Sandbox.Keeper || !sandbox.Bare {
		return nil
	}
	return confine.NewBare(lineage.ProcessName)
}

// hasProgram reports whether a program is in the PATH of an environment.
func hasProgram(environ []string, name string) bool {
	for _, v := range environ {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
				return true
			}
		}
	}
	return false
}
