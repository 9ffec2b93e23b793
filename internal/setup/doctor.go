// Package setup implements the checks of `hermes doctor`: what is missing or wrong
// in an installation, and what can be fixed.
//
// Each check returns one finding with a hint what to do; some can fix what they
// find without risk. The package does not know the rest of the program: a check
// that needs the database or the model gets a function, so that the doctor works
// even when they do not. Start at Checks; the checks are in check_home.go and
// check_machine.go.
package setup

import (
	"context"
	"fmt"
	"time"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/isolation"
	"hermes/internal/trust"
)

// Verdict is the outcome of a check.
type Verdict int

// The verdicts. Only Fail makes the doctor's exit status 1.
const (
	OK Verdict = iota
	Warn
	Fail
)

// String is the mark at the start of a line.
func (v Verdict) String() string { return [...]string{"✓", "!", "✗"}[v] }

// Finding is what a check found.
type Finding struct {
	Verdict Verdict
	Text    string
	Do      string // what the user can do; "" if nothing
}

// Check checks one thing.
type Check struct {
	Name string
	Run  func(ctx context.Context) Finding
	// Fix fixes what Run finds and says what it did. It is called only if Run
	// did not return OK, and must lose nothing. Nil means that only the user can
	// decide.
	Fix func(ctx context.Context) (done string, err error)
}

// Result is a check with its finding and what was fixed.
type Result struct {
	Name string
	Finding
	Fixed  string // what was done; "" if nothing
	FixErr error
}

// Deps are what the checks need. Home, Load, LookPath, Getenv, Free and Now are
// required; without Database, Model,
// Sandbox, Backend, Web or Project their checks are skipped.
type Deps struct {
	Home home.Dir
	// Load reads the configuration again at every call.
	Load func() *config.Config
	// Database opens the database, checks it for damage and closes it. It is
	// called only if the file exists.
	Database func(ctx context.Context) error
	// Model returns the model that new sessions use, or why there is none.
	Model func(ctx context.Context) (string, error)
	// Sandbox says which walls around commands this host allows; nil skips the check.
	Sandbox func(ctx context.Context) isolation.HostWalls
	// Backend says which backend new sessions use, and why it cannot be used; nil skips the check.
	Backend func(ctx context.Context) (name string, err error)
	// OtherBackends says of each backend that new sessions do not use what is missing here
	// to use it, nil for nothing; nil skips the check.
	OtherBackends func() (map[string]error, error)
	// Web says which services search the web and read pages, and what is wrong with their settings;
	// nil skips the check.
	Web func() (string, error)
	// Project returns the project settings of the working folder and what the user
	// decided about them; nil skips the check.
	Project  func() (trust.Project, trust.Decision, error)
	LookPath func(name string) (string, error)
	Getenv   func(name string) string
	// Free is the free space for the user on the disk of a folder, in bytes.
	Free func(folder string) (uint64, error)
	// Terminal says whether input and output are a terminal, and its width.
	Terminal Terminal
	OS       string // like runtime.GOOS
	Now      func() time.Time
}

// Terminal describes the terminal of the program.
type Terminal struct {
	Input, Output bool
	Columns       int
}

// Checks returns all checks in order.
func Checks(d Deps) []Check {
	checks := []Check{
		homeCheck(d),
		privacyCheck(d),
		configCheck(d),
		envCheck(d),
	}
	if d.Database != nil {
		checks = append(checks, databaseCheck(d))
	}
	if d.Model != nil {
		checks = append(checks, modelCheck(d))
	}
	if d.Sandbox != nil {
		checks = append(checks, sandboxCheck(d))
	}
	if d.Backend != nil {
		checks = append(checks, backendCheck(d))
	}
	if d.OtherBackends != nil {
		checks = append(checks, otherBackendsCheck(d))
	}
	if d.Web != nil {
		checks = append(checks, webCheck(d))
	}
	if d.Project != nil {
		checks = append(checks, projectCheck(d))
	}
	return append(checks,
		shellCheck(d),
		programCheck(d, "git", "worktrees and @diff need it"),
		programCheck(d, "python", "without it scripts of execute_code have no libraries"),
		searchCheck(d),
		terminalCheck(d),
		diskCheck(d),
		sizeCheck(d),
		clockCheck(d),
	)
}

// Diagnose runs the checks one after another and passes each result to report.
// With fix it fixes what can be fixed and runs the check again. A check that
// panics has failed. Diagnose returns how many checks failed.
func Diagnose(ctx context.Context, checks []Check, fix bool, report func(Result)) (failed int) {
	for _, c := range checks {
		if ctx.Err() != nil {
			return failed
		}
		r := Result{Name: c.Name, Finding: examine(ctx, c)}
		if fix && c.Fix != nil && r.Verdict != OK {
			if r.Fixed, r.FixErr = c.Fix(ctx); r.FixErr == nil {
				r.Finding = examine(ctx, c)
			}
		}
		if r.Verdict == Fail {
			failed++
		}
		report(r)
	}
	return failed
}

func examine(ctx context.Context, c Check) (f Finding) {
	defer func() {
		if fault := recover(); fault != nil {
			f = Finding{Fail, fmt.Sprintf("the check itself failed: %v", fault), "Please report this"}
		}
	}()
	return c.Run(ctx)
}
