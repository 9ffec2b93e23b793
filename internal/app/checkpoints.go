package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/config"
	"hermes/internal/environment/remote"
	"hermes/internal/git"
	snapshots "hermes/internal/hook/checkpoint"
	"hermes/internal/upkeep"
)

// Checkpoints returns the store of file snapshots of this home.
func (a *App) Checkpoints() (*checkpoint.Store, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return a.checkpoints(cfg), nil
}

func (a *App) checkpoints(cfg *config.Config) *checkpoint.Store {
	return checkpoint.New(a.checkpointConfig(cfg))
}

// checkpointConfig is the configuration of the store of this machine.
func (a *App) checkpointConfig(cfg *config.Config) checkpoint.Config {
	c := cfg.Checkpoints()
	userHome, _ := os.UserHomeDir() // without one there is no home to keep out
	return checkpoint.Config{
		Folder: cfg.Home().Checkpoints(), Home: userHome, Now: a.opts.Now,
		Limits: checkpoint.Limits{
			Snapshots: c.MaxSnapshots, TotalSize: int64(c.MaxTotalSizeMB) << 20, FileSize: int64(c.MaxFileSizeMB) << 20,
			Age: time.Duration(c.RetentionDays) * 24 * time.Hour, Interval: time.Duration(c.MinIntervalHours) * time.Hour,
		},
	}
}

// scriptRunner is an environment elsewhere that runs scripts of the program itself.
type scriptRunner interface {
	Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (int, error)
	PlaceName() string
}

// checkpointsIn returns the store of file snapshots that the place of a session keeps, nil if
// the place runs no scripts.
func (a *App) checkpointsIn(cfg *config.Config, session string, env hermes.Environment) *checkpoint.Store {
	scripts, ok := env.(scriptRunner)
	if !ok {
		return nil
	}
	name := cmp.Or(scripts.PlaceName(), "session "+session)
	c := a.checkpointConfig(cfg)
	c.Place = scripts
	c.Folder = filepath.Join(cfg.Home().Cache("checkpoints"), fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:16])
	return checkpoint.New(c)
}

// checkpointsOf returns the store of the place of a session that is open and not on this machine,
// and the session's folder there.
func (a *App) checkpointsOf(ctx context.Context, row hermes.Session) (*checkpoint.Store, string, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, "", err
	}
	run := row.StoredRun()
	env, err := a.elsewhere(hermes.RunSpec{Session: row.ID, Workspace: run.Workspace, Origin: run.Origin})
	if err != nil {
		return nil, "", err
	}
	store := a.checkpointsIn(cfg, row.ID, env)
	if store == nil {
		return nil, "", fmt.Errorf("the place of this session, %s, keeps no checkpoints", run.Workspace.Backend)
	}
	if err := store.Reach(ctx); err != nil {
		return nil, "", err
	}
	dir, err := env.Files().Resolve(cmp.Or(run.Workspace.Dir, "."))
	return store, dir, err
}

// CheckpointsAt is a store of file snapshots of a session or of a backend. Close must be called.
type CheckpointsAt struct {
	*checkpoint.Store
	// Elsewhere says that its folders are not on this machine.
	Elsewhere bool
	dir       string
	files     hermes.Files
	close     func() error
}

// Close ends the connection with the place.
func (c *CheckpointsAt) Close() error { return c.close() }

// Folder returns the absolute path of a folder where the session works; "" is its own.
func (c *CheckpointsAt) Folder(dir string) string {
	if dir = cmp.Or(dir, c.dir); c.files == nil {
		return dir
	}
	at, err := c.files.Resolve(dir)
	if err != nil {
		return dir
	}
	return at
}

// CheckpointsAt opens the snapshots that are kept where a session works, or where new ones with
// a backend do if session is "". Only a place that goes on without its sessions can be opened; the
// error says so, or why it cannot be reached.
func (a *App) CheckpointsAt(ctx context.Context, name, session string) (*CheckpointsAt, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	w := hermes.Workspace{Backend: name}
	if session != "" {
		db, err := a.Database(ctx)
		if err != nil {
			return nil, err
		}
		row, err := db.FindSession(ctx, session)
		if err != nil {
			return nil, err
		}
		w, session = row.Run.Workspace, row.ID
	} else if w, err = a.workspace(hermes.RunSpec{Workspace: w}); err != nil {
		return nil, err
	}
	if !w.Elsewhere() {
		return &CheckpointsAt{Store: a.checkpoints(cfg), dir: w.Dir, close: func() error { return nil }}, nil
	}
	b, err := a.backendOf(w.Backend)
	if err != nil {
		return nil, err
	}
	runner, err := b.open(a, cfg, sessionPlace{session: cmp.Or(session, "checkpoints"), workspace: w})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", b.name, err)
	}
	env := remote.New(remote.Config{Runner: runner, Dir: w.Dir, Notes: cfg.Home().Join("run", "places")})
	if env.PlaceName() == "" { // to open it would make one that is empty, or end the one of a session that runs
		return nil, errors.Join(fmt.Errorf("the place of %s ends with its session, and its checkpoints with it; use /rollback in the session", b.name), env.Close())
	}
	store := a.checkpointsIn(cfg, session, env)
	if err := store.Reach(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the checkpoints in %s cannot be reached: %w", b.name, err), env.Close())
	}
	return &CheckpointsAt{Store: store, Elsewhere: true, dir: w.Dir, files: env.Files(), close: env.Close}, nil
}

// checkpointHook makes snapshots before calls that change files.
func (a *App) checkpointHook(cfg *config.Config, stores *snapshots.Stores) hermes.Hook {
	if !cfg.Checkpoints().Enabled {
		return hermes.Hook{Name: "checkpoint"}
	}
	return snapshots.New(snapshots.Config{Stores: stores, Log: a.log(), Prune: cfg.Checkpoints().AutoPrune})
}

// checkpointStores knows the stores of file snapshots of all sessions.
func (a *App) checkpointStores(cfg *config.Config) *snapshots.Stores {
	userHome, _ := os.UserHomeDir() // without one there is no home to keep out
	return snapshots.NewStores(snapshots.StoresConfig{
		Here: a.checkpoints(cfg), Home: userHome,
		Elsewhere: func(session string, env hermes.Environment) *checkpoint.Store {
			return a.checkpointsIn(cfg, session, env)
		},
	})
}

// cutOff says that a rollback of the session was cut off, by a crash for example, and finishes
// what it began with files; "" if none was.
func (a *App) cutOff(ctx context.Context, id string) string {
	s, err := a.Checkpoints()
	if err != nil {
		return ""
	}
	cut, ok, err := s.CutOff(id)
	if err != nil {
		a.log().Warn("look for a rollback that was cut off", "session", id, "error", err)
	}
	if !ok || err != nil {
		return ""
	}
	db, err := a.Database(ctx)
	if err != nil {
		return ""
	}
	here := func(message int64) (bool, error) {
		if message == 0 {
			return false, nil
		}
		list, err := db.Messages(ctx, id, hermes.Range{After: message - 1, Before: message + 1})
		return len(list) > 0, err
	}
	left, err := here(cut.Message)
	back, err2 := here(cut.Back)
	if err := errors.Join(err, err2); err != nil { // its record stays for the next look
		a.log().Warn("look for what a rollback did to messages", "session", id, "error", err)
		return ""
	}
	if !left && (back || cut.Back == 0) {
		if err := s.EndRollback(id); err != nil { // both parts were done
			a.log().Warn("end a rollback", "session", id, "error", err)
		}
		return ""
	}
	files := "the files may not all be restored"
	if row, err := db.FindSession(ctx, id); err == nil && !row.Run.Workspace.Elsewhere() {
		if plan, err := s.Plan(ctx, cut.Folder, cut.Snapshot, checkpoint.RestoreOptions{}); err == nil && len(plan.Steps) == 0 {
			files = "the files are restored"
		}
	}
	messages := "the messages since are still here"
	if cut.Back != 0 {
		messages = "the messages are as they were"
	}
	return fmt.Sprintf("A rollback to checkpoint %d was cut off: %s, and %s. Finish it with /rollback %d", cut.Number, files, messages, cut.Number)
}

// GitDiff returns what git says changed in a folder: what is staged, or all since the last
// commit, with the names of new files. The settings of the repository start no program.
func (a *App) GitDiff(ctx context.Context, dir string, staged, stat bool, paths []string) (string, error) {
	cfg, err := a.config()
	if err != nil {
		return "", err
	}
	if git.Root(dir) == "" {
		return "", fmt.Errorf("%s is in no repository of git; use /diff for the changes of a session", dir)
	}
	r, done := a.repository(cfg, dir)
	defer done()
	return r.Diff(ctx, staged, stat, paths)
}

// pruneCheckpoints removes old snapshots if that is due.
func (a *App) pruneCheckpoints(ctx context.Context, cfg *config.Config) error {
	if !cfg.Checkpoints().AutoPrune {
		return nil
	}
	due, err := a.checkpoints(cfg).PruneIfDue(ctx)
	if err == nil && !due.Due {
		return upkeep.ErrNotDue
	}
	return err
}
