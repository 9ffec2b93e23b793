package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/cdp"
	"hermes/internal/liveness"
	"hermes/internal/proc"
)

// Config says which browser is started, and how.
type Config struct {
	Options
	// Program is its path; empty looks for one, see Find.
	Program string
	// Folder is where temporary profiles are made; empty is the system's folder for temporary
	// files.
	Folder string
	// Profile is a folder that keeps cookies and logins from one start to the next. Empty is
	// a temporary one, which Close removes. One that a living browser uses is refused.
	Profile string
	// Launch starts the program, such as below a keeper or within walls; nil is proc.Start.
	// The process must get Command.Files as its descriptors 3 and 4 (not on Windows), and
	// what it returns must end everything below the process.
	Launch func(context.Context, proc.Command) (*proc.Process, error)
	// Env is the environment. Home and temporary folder are set to those of the profile.
	Env []string
	// Files are open files that it gets as descriptors, from 5 on.
	Files []*os.File
	// Proxy is the address of a proxy for all traffic, also that to this machine.
	Proxy string
	// Args are further arguments.
	Args []string
	// Headed shows the windows.
	Headed bool
	// NoSandbox turns Chromium's own sandbox off. It must be set where that cannot work:
	// for root, and within walls that forbid user namespaces.
	NoSandbox bool
	// Port has the browser listen on a port of loopback instead of a pipe, which any
	// program of this machine could use. Windows has no other way here.
	Port bool
}

const (
	prefix      = "hermes-browser-"
	startWait   = 60 * time.Second
	grace       = 3 * time.Second
	storeWait   = 10 * time.Second // for what the profile keeps
	profileLock = "hermes-" + liveness.LockName
)

// Sweep removes temporary profiles whose owner was killed. Start does it, too.
func Sweep(folder string) { liveness.Sweep(folder, prefix) }

// Start starts a browser. It has no tab that is worked with yet; see [Browser.NewPage].
func Start(ctx context.Context, c Config) (*Browser, error) {
	path, err := Find(c.Program)
	if err != nil {
		return nil, err
	}
	Sweep(c.Folder)
	p := &program{}
	if err := p.take(c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("the browser did not start within %s", startWait))
	defer cancel()
	transport, err := p.start(ctx, path, c)
	if err != nil {
		return nil, errors.Join(p.explain(err), p.close())
	}
	b := open(transport, p, c.Options)
	if err := b.prepare(ctx); err != nil {
		err = p.explain(err)
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// program is a browser that was started here.
type program struct {
	process *proc.Process
	profile string
	temp    *liveness.Folder // nil for a persistent profile
	lock    *liveness.Lock   // of a persistent profile
	said    tail
}

func (p *program) persistent() bool { return p.temp == nil }

// take makes the profile's folder, or makes sure that no other browser uses it.
func (p *program) take(c Config) error {
	if c.Profile == "" {
		folder, err := liveness.TempFolder(c.Folder, prefix)
		if err != nil {
			return fmt.Errorf("make a folder for the browser: %w", err)
		}
		p.temp, p.profile = folder, folder.Path
		return nil
	}
	if err := os.MkdirAll(c.Profile, 0o700); err != nil {
		return fmt.Errorf("make the folder of the profile: %w", err)
	}
	lock, err := liveness.Take(filepath.Join(c.Profile, profileLock))
	switch {
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("the profile %s is used by another browser: close that one first", c.Profile)
	case err != nil:
		return fmt.Errorf("lock the profile: %w", err)
	}
	p.lock, p.profile = lock, c.Profile
	return nil
}

func (p *program) start(ctx context.Context, path string, c Config) (cdp.Transport, error) {
	c.Port = c.Port || runtime.GOOS == "windows"
	scratch := filepath.Join(p.profile, "tmp")
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	command := proc.Command{
		Path: path, Args: arguments(c, p.profile), Dir: p.profile, Grace: grace, Stdout: io.Discard, Stderr: &p.said,
		Env: append(slices.Clone(c.Env), "HOME="+p.profile, "TMPDIR="+scratch, "XDG_CONFIG_HOME="+p.profile,
			"XDG_CACHE_HOME="+p.profile, "XDG_DATA_HOME="+p.profile),
		Files: append([]*os.File{nil, nil}, c.Files...),
	}
	if c.Port {
		if runtime.GOOS == "windows" {
			command.Files = nil
		}
		return p.startWithPort(ctx, c, command)
	}
	return p.startWithPipe(ctx, c, command)
}

// launch starts the program, which goes on when ctx ends.
func (p *program) launch(ctx context.Context, c Config, command proc.Command) (err error) {
	start := c.Launch
	if start == nil {
		start = proc.Start
	}
	p.process, err = start(context.WithoutCancel(ctx), command)
	return err
}

func (p *program) startWithPort(ctx context.Context, c Config, command proc.Command) (cdp.Transport, error) {
	address := make(chan string, 1)
	p.said.watch = address
	if err := p.launch(ctx, c, command); err != nil {
		return nil, err
	}
	select {
	case url := <-address:
		return cdp.Dial(ctx, url, nil)
	case <-p.process.Done():
		return nil, errors.New("the browser ended at once")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *program) startWithPipe(ctx context.Context, c Config, command proc.Command) (cdp.Transport, error) {
	its, toIt, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromIt, itsOut, err := os.Pipe()
	if err != nil {
		closeAll(its, toIt)
		return nil, err
	}
	command.Files[0], command.Files[1] = its, itsOut
	err = p.launch(ctx, c, command)
	closeAll(its, itsOut)
	if err != nil {
		closeAll(fromIt, toIt)
		return nil, err
	}
	return cdp.Pipe(fromIt, toIt), nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// arguments are those of the program. What speaks to the vendor, asks the user or stays
// behind is off.
func arguments(c Config, profile string) []string {
	args := []string{
		"--user-data-dir=" + profile, "--site-per-process", "--no-first-run", "--no-default-browser-check", "--no-pings",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
		"--disable-default-apps", "--disable-extensions", "--disable-breakpad", "--disable-crash-reporter",
		"--disable-client-side-phishing-detection", "--disable-domain-reliability", "--disable-dev-shm-usage",
		"--disable-search-engine-choice-screen", "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication",
		"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
		"--disable-hang-monitor", "--password-store=basic", "--use-mock-keychain", "--mute-audio", "--hide-scrollbars",
		"--window-size=" + strconv.Itoa(cmp.Or(max(c.Width, 0), 1280)) + "," + strconv.Itoa(cmp.Or(max(c.Height, 0), 800)),
	}
	if !c.Headed {
		args = append(args, "--headless", "--disable-gpu")
	}
	if c.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	if c.Proxy != "" {
		args = append(args, "--proxy-server="+c.Proxy, "--proxy-bypass-list=<-loopback>",
			"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp") // the name depends on the version
	}
	if c.Port {
		args = append(args, "--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1")
	} else {
		args = append(args, "--remote-debugging-pipe")
	}
	return append(append(args, c.Args...), "about:blank")
}

// explain adds what the browser said last to an error of its start.
func (p *program) explain(err error) error {
	if p.process != nil && errors.Is(err, cdp.ErrClosed) {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		_, _ = p.process.Wait(ctx) // for its last words
	}
	last := p.said.last()
	switch {
	case strings.Contains(last, "--no-sandbox"):
		return fmt.Errorf("start the browser: %w; its own sandbox does not work for this user here", err)
	case last != "":
		return fmt.Errorf("start the browser: %w; it said: %s", err, last)
	}
	return fmt.Errorf("start the browser: %w", err)
}

// ask asks the browser to end, so that it stores what the profile keeps.
func (p *program) ask(b *Browser) {
	ctx, cancel := context.WithTimeout(context.Background(), storeWait)
	defer cancel()
	if b.conn.Call(ctx, "", "Browser.close", nil, nil) == nil {
		_, _ = p.process.Wait(ctx)
	}
}

// close ends all processes, and removes a temporary profile.
func (p *program) close() error {
	if p.process != nil {
		p.process.Close()
	}
	if p.temp != nil {
		return p.temp.Remove()
	}
	if p.lock != nil {
		return p.lock.Free()
	}
	return nil
}
