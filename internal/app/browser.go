package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/config"
	"hermes/internal/confine"
	"hermes/internal/egress"
	"hermes/internal/httpc"
	"hermes/internal/isolation"
	"hermes/internal/lineage"
	"hermes/internal/liveness"
	"hermes/internal/netguard"
	"hermes/internal/proc"
	"hermes/internal/sandbox"
	webtools "hermes/internal/tool/browser"
	"hermes/internal/toolbox"
)

// browsers starts and connects the browsers of sessions.
type browsers struct {
	app    *App
	config *config.Config
	proxy  func() (*egress.Proxy, error)

	mu       sync.Mutex
	attached map[string]string // by session, the address of a browser that the user named
	folders  map[string]string // by session, where its browser may read and write
}

// newBrowser makes the tools for web pages in a browser.
func (a *App) newBrowser(cfg *config.Config) (*webtools.Toolset, *browsers) {
	s := cfg.Browser()
	b := &browsers{app: a, config: cfg, attached: map[string]string{}, folders: map[string]string{}}
	b.proxy = sync.OnceValues(b.makeProxy)
	return webtools.New(webtools.Config{
		Open: b.open, Place: b.place, Outside: b.outside, Missing: b.missing, Request: a.requestOf, Judge: b.judge,
		Secret: func(text string) bool { return a.Mask(text) != text },
		Keep:   toolbox.Spillover{Dir: cfg.Home().Cache("web")}.Keep,
		Idle:   s.InactivityTimeout, Timeout: s.CommandTimeout, NoScripts: !s.AllowEvaluate, Free: !s.RestrictEvaluate,
		Ended: b.forget, Files: b, Look: a.look, Sees: a.models.Sees,
	}), b
}

// forget forgets which browser a session that has ended was attached to.
func (b *browsers) forget(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.attached, session)
}

// missing says why there is no browser. The address of one that runs may still come from /browser connect.
func (b *browsers) missing() string {
	kind, why := b.choice()
	if kind == "cdp" {
		return ""
	}
	return why
}

// requestOf returns the newest message of the user, or the task of a child.
func (a *App) requestOf(ctx context.Context, s hermes.SessionRef) string {
	db, err := a.Database(ctx)
	if err != nil {
		return "" // then the page is cut without it
	}
	const page, most = 50, 20
	r := hermes.Range{Last: page, Raw: true}
	for range most {
		list, err := db.Messages(ctx, s.ID, r)
		if err != nil {
			return ""
		}
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Role == hermes.RoleUser && !list[i].Synthetic {
				return list[i].Text()
			}
		}
		if len(list) < page {
			return ""
		}
		r.Before = list[0].ID
	}
	return ""
}

// guard decides which addresses a browser may open.
func (b *browsers) guard() (*netguard.Guard, error) {
	g, err := b.app.webGuard()
	if err == nil && b.app.opts.Sandbox.Resolve != nil {
		g.Resolve = b.app.opts.Sandbox.Resolve
	}
	return g, err
}

func (b *browsers) judge(ctx context.Context, url string) error {
	g, err := b.guard()
	if err != nil {
		return err
	}
	_, err = g.Judge(ctx, url)
	return err
}

// makeProxy makes the proxy that all traffic of browsers takes. It decides as for other requests of tools:
// each host is looked up once, and the connection goes to an address that was judged.
func (b *browsers) makeProxy() (*egress.Proxy, error) {
	a := b.app
	blocked, err := a.blocked()
	if err != nil {
		return nil, err
	}
	upstream, err := httpc.ProxiesOf(b.config.Getenv).Func()
	if err != nil {
		return nil, err
	}
	g, err := b.guard()
	if err != nil {
		return nil, err
	}
	p := egress.New(egress.Config{
		Deny: blocked.forbids, Upstream: upstream, IPv4: b.config.Network().ForceIPv4, Log: a.log(),
		Connect: a.opts.Sandbox.Connect, Resolve: a.opts.Sandbox.Resolve, Limits: egress.Limits{Asking: 256},
		Decide: func(_ context.Context, r egress.Request) egress.Verdict {
			v := egress.Verdict{Allow: true, Private: g.Private, Protocol: egress.Any}
			if r.Port == 443 {
				v.Protocol = egress.TLS
			}
			return v
		},
	})
	a.closing(func() error { p.Close(); return nil })
	return p, nil
}

// open starts a browser for a session, or connects to one. local starts one in any case.
func (b *browsers) open(ctx context.Context, session string, local bool) (*browser.Browser, func() error, error) {
	s := b.config.Browser()
	b.mu.Lock()
	address := b.attached[session]
	b.mu.Unlock()
	kind, why := b.choice()
	switch {
	case local:
		return b.start(ctx, session)
	case address != "":
		return b.connect(ctx, address)
	case kind == "local":
		return b.start(ctx, session)
	case why != "":
		return nil, nil, errors.New(why)
	case kind == "cdp":
		return b.connect(ctx, s.CDPURL)
	}
	return b.rent(ctx, kind)
}

// options are those of the settings. Without more, downloads are refused.
func (b *browsers) options() browser.Options {
	s := b.config.Browser()
	return browser.Options{Dialogs: browser.DialogPolicy(s.DialogPolicy), DialogTimeout: s.DialogTimeout, CallTimeout: s.CommandTimeout}
}

// connect connects to a browser that the user named. Nothing of it is started or ended here.
func (b *browsers) connect(ctx context.Context, address string) (*browser.Browser, func() error, error) {
	client, err := httpc.New(httpc.Options{})
	if err != nil {
		return nil, nil, err
	}
	c, err := browser.Connect(ctx, address, client, b.options())
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the browser at %s: %w", b.app.Mask(address), err)
	}
	return c, func() error { return nil }, nil
}

// plainName is what a folder of a session may be called.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// folder makes a folder below the cache, for one session if it is named.
func (b *browsers) folder(kind, session string) (string, error) {
	dir := b.config.Home().Cache(kind)
	if session != "" {
		if !plainName.MatchString(session) {
			return "", fmt.Errorf("the session %q cannot have a folder", session)
		}
		dir = filepath.Join(dir, session)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the browser: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// closed reports whether a folder is a home or has one in it.
func (b *browsers) closed(dir string) bool {
	const end = string(filepath.Separator)
	user, _ := os.UserHomeDir() // without one there is nothing to protect
	for _, home := range []string{user, b.config.Home().Path()} {
		if real, err := filepath.EvalSymlinks(home); err == nil && strings.HasPrefix(real+end, strings.TrimSuffix(dir, end)+end) {
			return true
		}
	}
	return false
}

const browserFolder = "hermes-browser-"

// start starts a browser within the strongest walls that this host allows, with one way out.
func (b *browsers) start(ctx context.Context, session string) (*browser.Browser, func() error, error) {
	s := b.config.Browser()
	proxy, err := b.proxy()
	if err != nil {
		return nil, nil, err
	}
	parent, err := b.folder("browser", "")
	if err != nil {
		return nil, nil, err
	}
	liveness.Sweep(parent, browserFolder)
	own, err := liveness.TempFolder(parent, browserFolder)
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the browser: %w", err)
	}
	p := &place{session: proxy.Session(egress.SessionConfig{Name: session, Open: true}), own: own}
	if p.downloads, err = b.folder("browser-downloads", session); err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	o := b.options()
	o.Downloads.Folder = p.downloads
	c := browser.Config{
		Options: o, Program: s.Program, Folder: own.Path, Headed: s.Headed, NoSandbox: os.Geteuid() == 0,
		Env: b.app.clientVariables(b.config), Args: []string{"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"},
	}
	if s.Profile != "" {
		if !plainName.MatchString(s.Profile) {
			return nil, nil, errors.Join(errors.New("browser.profile must be a plain name, such as work"), p.close())
		}
		c.Profile = b.config.Home().Join("browser-profiles", s.Profile)
		if err := os.MkdirAll(c.Profile, 0o700); err != nil {
			return nil, nil, errors.Join(err, p.close())
		}
	}
	write := []string{own.Path, p.downloads}
	if c.Profile != "" {
		write = append(write, c.Profile)
	}
	read := []string{"/usr", "/etc", "/opt", "/proc", "/sys"}
	if program, err := browser.Find(s.Program); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			dir := filepath.Dir(real)
			if b.closed(dir) {
				return nil, nil, errors.Join(fmt.Errorf("the browser's program is in %s, which contains a home folder, and a browser may read the folder of its program: move the program into a folder of its own and set browser.program to its path", dir), p.close())
			}
			read = append(read, dir)
		}
	}
	if err := p.enter(ctx, b.app, b.config, s.Headed, read, write); err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	c.Proxy = "http://" + p.listener.Addr().String()
	c.Launch = func(ctx context.Context, command proc.Command) (*proc.Process, error) {
		command.Launcher, command.Guard = p.launcher, &b.app.guard
		return proc.Start(ctx, command)
	}
	made, err := browser.Start(ctx, c)
	if err != nil && p.walls && !c.NoSandbox && strings.Contains(err.Error(), "its own sandbox does not work") {
		c.NoSandbox = true // the walls hold
		made, err = browser.Start(ctx, c)
	}
	if err != nil {
		return nil, nil, errors.Join(err, p.close())
	}
	b.mu.Lock()
	b.folders[session] = own.Path
	b.mu.Unlock()
	return made, func() error {
		b.mu.Lock()
		delete(b.folders, session)
		b.mu.Unlock()
		return p.close()
	}, nil
}

// place is where a browser runs: its walls, its way out and its folders.
type place struct {
	session   *egress.Session
	own       *liveness.Folder
	downloads string
	launcher  proc.Launcher // nil below this process
	walls     bool
	listener  net.Listener
	end       func() error // of the launcher; may be nil
	serving   sync.WaitGroup
}

// enter builds the strongest walls that this host and the settings allow. Within those of layer A there is no
// other way out than the proxy.
func (p *place) enter(ctx context.Context, a *App, cfg *config.Config, headed bool, read, write []string) error {
	mode := cfg.Terminal().Sandbox
	var why error
	if a.opts.Sandbox.Keeper && mode != isolation.SandboxOff && !headed { // windows need the desktop
		for layer := min(cmp.Or(a.opts.Sandbox.Strongest, sandbox.A), sandbox.Expect()); layer > sandbox.None; layer-- {
			k, err := sandbox.Start(ctx, sandbox.Config{Name: lineage.ProcessName, Policy: sandbox.Policy{
				Layer: layer, Read: read, Links: []string{"/bin", "/lib", "/lib64", "/sbin"},
				Write: write, Temp: write[0], Network: sandbox.Proxied, Nested: true,
			}})
			if err != nil {
				why = err
				continue
			}
			p.launcher, p.walls, p.end, p.listener = k, true, k.Close, k.Listener()
			if layer != sandbox.A && mode == isolation.SandboxStrict {
				return errors.New("terminal.sandbox is strict, and this host does not allow the sandbox that a browser needs; use `hermes doctor` to see what is missing")
			}
			break
		}
	}
	if !p.walls && mode == isolation.SandboxStrict {
		return errors.Join(errors.New("terminal.sandbox is strict, and no sandbox can be built around a browser here; use `hermes doctor` to see what is missing"), why)
	}
	if why != nil {
		a.log().Warn("the browser runs within weaker walls", "walls", p.walls, "error", why)
	}
	if !p.walls && a.opts.Sandbox.Keeper && sandbox.Bare {
		bare := confine.NewBare(lineage.ProcessName)
		p.end = bare.Close
		var err error
		if p.launcher, err = bare.Launcher(ctx); err != nil {
			return err
		}
	}
	if p.listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen for the browser: %w", err)
		}
		p.listener = l
	}
	p.serving.Go(func() { _ = p.session.Serve(p.listener) }) // it ends with the session
	return nil
}

// close ends what is left below the launcher, the way out, and the folders. One with downloads stays.
func (p *place) close() error {
	var err error
	if p.end != nil {
		err = p.end()
	}
	p.session.Close()
	p.serving.Wait()
	if p.downloads != "" {
		_ = os.Remove(p.downloads) // not if something is in it
	}
	return errors.Join(err, p.own.Remove())
}
