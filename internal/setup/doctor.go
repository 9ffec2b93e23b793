// Package setup looks after an installation: what is there, what is missing and
// what can be mended.
//
// The doctor is a list of checks as values (checks.go and its neighbours); each
// gives one finding with what to do about it, and some can mend what they find
// without risk. What a check needs of the rest of the house, such as the database,
// is handed in as a func, so that the doctor also works where the rest does not.
// Start at Checks.
package setup

import (
	"context"
	"fmt"
	"time"

	"hermes/internal/config"
	"hermes/internal/home"
)

// Verdict says how a check ended.
type Verdict int

// The verdicts. Only Fail makes the doctor's exit status 1.
const (
	OK Verdict = iota
	Warn
	Fail
)

// String is the mark before a line.
func (v Verdict) String() string { return [...]string{"✓", "!", "✗"}[v] }

// Finding is what a check found.
type Finding struct {
	Verdict Verdict
	Text    string
	Do      string // what the person can do; "" if nothing is to be done
}

// Check is one thing to look at.
type Check struct {
	Name string
	Run  func(ctx context.Context) Finding
	// Fix mends what Run finds and says what it did. It is called only when Run
	// did not say OK, loses nothing, and is nil where only the person can decide.
	Fix func(ctx context.Context) (done string, err error)
}

// Result is a check with its finding and what was mended.
type Result struct {
	Name string
	Finding
	Fixed  string // what was done; "" if nothing
	FixErr error
}

// Deps are what the checks look through. Home, Load, LookPath, Getenv, Free and
// Now are required; a nil func skips its check.
type Deps struct {
	Home home.Dir
	// Load reads the configuration anew.
	Load func() *config.Config
	// Database opens the database, looks for damage and closes it. It is called
	// only if the file exists.
	Database func(ctx context.Context) error
	// Model says which model would answer, or why none.
	Model    func(ctx context.Context) (string, error)
	LookPath func(name string) (string, error)
	Getenv   func(name string) string
	// Free is the space left for us on the disk of a folder, in bytes.
	Free func(folder string) (uint64, error)
	// Terminal is whether input and output are a terminal, and its width.
	Terminal Terminal
	OS       string // in the manner of runtime.GOOS
	Now      func() time.Time
}

// Terminal is what the program runs in.
type Terminal struct {
	Input, Output bool
	Columns       int
}

// Checks is the list of everything that the doctor looks at, in order.
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
	return append(checks,
		shellCheck(d),
		programCheck(d, "git", "checkpoints, worktrees and @diff need it"),
		programCheck(d, "python", "execute_code needs it"),
		searchCheck(d),
		terminalCheck(d),
		diskCheck(d),
		sizeCheck(d),
		clockCheck(d),
	)
}

// Diagnose runs the checks one after another and hands each result to report.
// With fix, what can be mended is, and the check runs again. A check that panics
// is a failed check. It returns how many failed.
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
			f = Finding{Fail, fmt.Sprintf("the check itself broke: %v", fault), "Please report it"}
		}
	}()
	return c.Run(ctx)
}
