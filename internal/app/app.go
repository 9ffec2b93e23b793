package app

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/confine"
	"hermes/internal/credential"
	"hermes/internal/environment/places"
	"hermes/internal/environment/remote"
	"hermes/internal/home"
	"hermes/internal/hook/script"
	"hermes/internal/isolation"
	"hermes/internal/lease"
	"hermes/internal/lineage"
	"hermes/internal/mcp"
	"hermes/internal/memory"
	"hermes/internal/models"
	"hermes/internal/owner"
	"hermes/internal/permission"
	"hermes/internal/prefixwatch"
	"hermes/internal/proc"
	"hermes/internal/redact"
	"hermes/internal/replay"
	"hermes/internal/review"
	"hermes/internal/sandbox"
	"hermes/internal/session"
	"hermes/internal/skill"
	"hermes/internal/spend"
	"hermes/internal/store"
	"hermes/internal/store/sqlite"
	"hermes/internal/undo"
)

// Version is the version of the program.
const Version = "0.1.0"

// Options concern the whole program; the zero value is a plain start. What concerns one session
// is in its hermes.RunSpec.
type Options struct {
	Profile          string
	IgnoreUserConfig bool

	// Extra are the toolsets of a custom build, offered in addition to the others.
	Extra []hermes.Toolset

	// Note is called with the model that was chosen if the user named none; it
	// may be nil.
	Note func(text string)

	// Announce makes the process known as one that runs an agent, before its first
	// command; stop ends that. Nil announces nothing.
	Announce func() (stop func(), err error)

	// HostWalls says which walls around commands this host allows; nil asks the host.
	HostWalls func(ctx context.Context) isolation.HostWalls

	// Sandbox is what walls around commands need.
	Sandbox Sandbox

	// Runner makes the place of a session for a backend other than local; nil makes the real one.
	Runner func(backend, session string) (remote.Runner, error)

	// AboveOf looks for agents above a process that wants to reach the sessions; nil looks
	// everywhere.
	AboveOf func(pid int) lineage.Above

	// Home, if set, is used instead of the home from the environment.
	Home string
	// BaseURL, if set, is the model service to use instead of the configured one, and
	// BaseModel its model.
	BaseURL, BaseModel string
	// Getenv reads the environment; nil means the process's. Environ lists it for
	// commands, as NAME=value.
	Getenv  func(string) string
	Environ func() []string
	Now     func() time.Time
}

// Sandbox says whether commands get walls, and what tests change about them.
type Sandbox struct {
	// Keeper says that this program can become a keeper of walls: its main calls
	// sandbox.Main first. Without it there are no walls.
	Keeper bool
	// Strongest is the strongest layer to build; 0 is every one.
	Strongest sandbox.Layer
	// Connect and Resolve are the network that commands reach; nil is the real one. The requests of tools find their
	// hosts with Resolve, too.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Roots   []*x509.Certificate // authorities of that network
}

// App is one run of the program. What it has is made once, on first use, serves all sessions,
// and is closed at the end, in reverse order. Its methods may be called concurrently.
type App struct {
	opts Options
	base
	calls
	knowledge
	process

	mu       sync.Mutex
	opened   atomic.Pointer[store.Database] // read without mu, also while Close waits
	sessions *session.Manager
	closers  []func() error // called in reverse order
}

// base is what all other parts need.
type base struct {
	home        func() (home.Dir, error)
	config      func() (*config.Config, error)
	blocked     func() (*blocklist, error) // nil if there is none
	log         func() *slog.Logger
	mask        func() *redact.Redactor
	permissions func() (*permission.File, error)
	masked      atomic.Bool              // mask has returned, so that it never waits again
	credentials func() *credential.Store // keys and logins; nil if there is no home
	record      func() (*audit.Log, error)
}

// calls is what calls of models go through.
type calls struct {
	models     *models.Models
	aux        func() *auxiliary.Client
	watch      func() *prefixwatch.Watch
	meter      func() (*spend.Governor, error)
	spendFault func() error // what CheckSpend returns
}

// knowledge is what is kept for later sessions, and what looks for it.
type knowledge struct {
	memoryFile     func() (*memory.File, error)
	externalMemory func() hermes.MemoryProvider // nil if there is none
	skills         func() (*skill.Library, error)
	trials         func() *replay.Trials // of the skills that models write
	review         func() *review.Runner
}

// process is what the commands and tools of all sessions share.
type process struct {
	tooling func() *tooling
	mcp     func() *mcp.Servers // nil if there are none
	// confinement is the walls around commands, nil if there are none.
	confinement func() (*confine.Program, error)
	guard       proc.Guard      // of the commands
	places      places.Places   // of the sessions that do not work on this machine
	scripts     func() *scripts // the hooks that the user configured
	mark        func() *lineage.Mark
	leaseOwner  func() hermes.Owner // names this process as the owner of leases
	projects    func() (*projects, error)
	worktrees   func() (*Worktrees, error)
	listening   func() *owner.Owner // where other processes reach its sessions
	messenger   atomic.Pointer[hermes.Messenger]
}

// New makes an app. It reads nothing yet.
func New(o Options) *App {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &App{opts: o}
	a.home = sync.OnceValues(a.findHome)
	a.config = sync.OnceValues(a.loadConfig)
	a.blocked = sync.OnceValues(a.makeBlocklist)
	a.mask = sync.OnceValue(a.makeMask)
	a.permissions = sync.OnceValues(a.makePermissions)
	a.log = sync.OnceValue(a.makeLog)
	a.tooling = sync.OnceValue(a.makeTooling)
	a.mcp = sync.OnceValue(a.makeMCP)
	a.confinement = sync.OnceValues(a.makeConfinement)
	a.scripts = sync.OnceValue(a.makeScripts)
	a.memoryFile = sync.OnceValues(a.makeMemoryFile)
	a.externalMemory = sync.OnceValue(a.makeExternalMemory)
	a.skills = sync.OnceValues(a.makeSkills)
	a.meter = sync.OnceValues(a.makeSpend)
	a.projects = sync.OnceValues(a.makeProjects)
	a.worktrees = sync.OnceValues(a.makeWorktrees)
	a.spendFault = sync.OnceValue(a.findSpendFault)
	a.aux = sync.OnceValue(a.makeAuxiliary)
	a.review = sync.OnceValue(a.makeReview)
	a.trials = sync.OnceValue(a.makeTrials)
	a.watch = sync.OnceValue(func() *prefixwatch.Watch { return prefixwatch.New(a.log(), a.opts.Now) })
	a.credentials = sync.OnceValue(a.makeCredentials)
	a.record = sync.OnceValues(a.makeAudit)
	a.mark = sync.OnceValue(a.makeMark)
	a.leaseOwner = sync.OnceValue(a.makeLeaseOwner)
	a.listening = sync.OnceValue(a.makeListening)
	a.models = models.New(models.Config{
		Providers: a.providers, Fixed: o.BaseURL != "", Watch: func(next hermes.Models) hermes.Models { return a.watch().Models(next) }, Log: a.log,
	})
	return a
}

func (a *App) findHome() (home.Dir, error) {
	if a.opts.Home != "" {
		return home.At(a.opts.Home), nil
	}
	return home.Find(home.Source{Getenv: a.opts.Getenv, Profile: a.opts.Profile})
}

func (a *App) loadConfig() (*config.Config, error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	return config.Load(h, config.Options{
		IgnoreUser: a.opts.IgnoreUserConfig, Now: a.opts.Now, Toolset: func(cfg *config.Config, name string) (bool, []string) {
			return a.newCatalogue(cfg, a.tooling().sets).Known(name)
		},
		Coming: func(cfg *config.Config, name string) bool {
			return a.newCatalogue(cfg, a.tooling().sets).Coming(name)
		},
		Hooks: func(cfg *config.Config) []config.HookFault {
			_, _, problems := script.Parse(cfg.Hooks(), cfg.Home().Config())
			return hookFaults(problems)
		},
		KeyOf: keyOf, LookupEnv: func(name string) (string, bool) { // an empty variable is not set
			v := a.opts.Getenv(name)
			return v, v != ""
		},
		Journal: func(ctx context.Context, what, path string, write func() error) error {
			err := a.changes(h).Record(ctx, undo.Note{Kind: "config", Actor: "person", What: what}, []string{path}, write)
			if err == nil {
				a.recordSetting(ctx, what)
			}
			return err
		},
	}), nil
}

// Changes returns the journal of changes that can be undone.
func (a *App) Changes() (*undo.Journal, error) {
	h, err := a.home()
	return a.changes(h), err
}

// Home returns the home of this run: the root home or a profile.
func (a *App) Home() (home.Dir, error) { return a.home() }

// Config returns the configuration, read on first use.
func (a *App) Config() (*config.Config, error) { return a.config() }

// ReadConfig reads the configuration again, for commands that change it.
func (a *App) ReadConfig() (*config.Config, error) { return a.loadConfig() }

// Database opens the database on first use. The app closes it.
func (a *App) Database(ctx context.Context) (store.Database, error) {
	if s := a.opened.Load(); s != nil { // also while Close waits for callers of Database
		return *s, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.opened.Load(); s != nil {
		return *s, nil
	}
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, StoreConfig(cfg))
	if err != nil {
		return nil, err
	}
	var db store.Database = s
	a.opened.Store(&db)
	a.closers = append(a.closers, s.Close)
	return db, nil
}

// Reader opens the database for reading. If nothing can be written, for example on a full
// disk, it can still be read. The app closes it.
func (a *App) Reader(ctx context.Context) (store.Database, error) {
	s, err := a.Database(ctx)
	if err == nil || !sqlite.Unwritable(err) {
		return s, err
	}
	cfg, _ := a.config() // it was read to open the database
	if _, missing := os.Stat(cfg.Home().Database()); missing != nil {
		return nil, err // there is nothing to read
	}
	r, readErr := sqlite.OpenReadOnly(ctx, StoreConfig(cfg))
	if readErr != nil {
		return nil, readErr // it also says why nothing can be written
	}
	a.closing(r.Close)
	return r, nil
}

// StoreConfig returns the configuration of the database.
func StoreConfig(cfg *config.Config) sqlite.Config {
	db := cfg.Database()
	return sqlite.Config{
		Path: cfg.Home().Database(), Journal: db.JournalMode, Synchronous: db.Synchronous,
		AutoCheckpoint: db.WALAutocheckpoint, JournalLimit: int64(db.JournalSizeLimit), OwnerGone: lease.Gone(cfg.Home().Join("run")),
		Backups: cfg.Home().Backups("database"),
	}
}

// Close closes everything that was opened, in reverse order.
func (a *App) Close() error {
	a.mu.Lock()
	closers := a.closers
	a.closers = nil
	a.mu.Unlock() // closers may still call other methods
	var errs []error
	for _, c := range slices.Backward(closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// closing adds a func that Close calls.
func (a *App) closing(f func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closers = append(a.closers, f)
}

// Mask removes secrets from text.
func (a *App) Mask(text string) string { return a.mask().Text(text) }

// Shown removes secrets from text that the user is shown again, unless
// security.redact_secrets is off.
func (a *App) Shown(text string) string {
	if cfg, err := a.config(); err == nil && !cfg.Security().RedactSecrets {
		return text
	}
	return a.Mask(text)
}
