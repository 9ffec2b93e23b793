// Package factory makes what the commands work with: the app, the settings, the
// database, the user's terminal and editor.
//
// Each command line has one Factory. It knows the global flags and makes one app
// when a command first asks for it; [Factory.Close] closes all that was opened. It
// does not know the commands. Start at New; io.go asks the user.
package factory

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/config"
	"hermes/internal/store"
)

// Factory makes what a command works with. Its fields are set before the command
// runs: Global and Run by the flags, the funcs by New and by tests.
type Factory struct {
	// Global is what the flags of all commands say about the program, Run what
	// flags say about a session.
	Global app.Options
	Run    hermes.RunSpec
	IO

	Now func() time.Time
	// Tick starts a clock that ticks four times a second.
	Tick func() (tick <-chan time.Time, stop func())
	// Dir is the working folder.
	Dir func() (string, error)
	// Config reads the configuration again at every call.
	Config func() (*config.Config, error)
	// Store opens the database, and Reader the same for commands that only read,
	// also where nothing can be written. Repair recovers what can be read of a
	// damaged one. The command closes none of them.
	Store, Reader func(ctx context.Context) (store.Database, error)
	Repair        func(ctx context.Context) (store.Repaired, error)
	// Mask removes secrets from what is given away. Shown does so for what the
	// user is shown, if the settings say so.
	Mask, Shown func(string) string

	app    func() *app.App
	opened atomic.Pointer[app.App] // once the app is made
}

// New makes a factory. It reads and opens nothing. Without Getenv the environment of
// the process is used.
func New(global app.Options, streams IO) *Factory {
	if global.Getenv == nil {
		global.Getenv = os.Getenv
	}
	f := &Factory{Global: global, IO: streams, Now: time.Now, Dir: os.Getwd}
	f.app = sync.OnceValue(func() *app.App {
		a := app.New(f.Global)
		f.opened.Store(a)
		return a
	})
	f.Tick = func() (<-chan time.Time, func()) {
		t := time.NewTicker(time.Second / 4)
		return t.C, t.Stop
	}
	f.Config = func() (*config.Config, error) { return f.App().ReadConfig() }
	f.Store = func(ctx context.Context) (store.Database, error) { return f.App().Database(ctx) }
	f.Reader = func(ctx context.Context) (store.Database, error) { return f.App().Reader(ctx) }
	f.Repair = func(ctx context.Context) (store.Repaired, error) { return f.App().Repair(ctx) }
	f.Mask = func(text string) string { return f.App().Mask(text) }
	f.Shown = func(text string) string { return f.App().Shown(text) }
	f.complete()
	return f
}

// App returns the app of this command line. It is made at the first call, from the
// flags; the command must not close it.
func (f *Factory) App() *app.App { return f.app() }

// OpenLog returns the program's log if it is open, else nil. It makes no app.
func (f *Factory) OpenLog() *slog.Logger {
	if a := f.opened.Load(); a != nil {
		return a.OpenLog()
	}
	return nil
}

// Close closes what the app opened. It makes no app.
func (f *Factory) Close() error {
	if a := f.opened.Load(); a != nil {
		return a.Close()
	}
	return nil
}

// RunOn returns what the flags say about a session, as one of a platform in the
// process's folder.
func (f *Factory) RunOn(platform string) (hermes.RunSpec, error) {
	run := f.Run
	run.Origin.Platform = platform
	var err error
	run.Workspace.Dir, err = os.Getwd()
	return run, err
}

// WriteJSON prints a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
