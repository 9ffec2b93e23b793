package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/text"
)

// pendingChanges are changes by the model that need the user's approval, either
// of memory or of skills.
type pendingChanges struct {
	noun string // what is changed: memory or skills
	use  string // how the command is used
	ids  func() ([]string, error)
	// on and off describe the setting with and without approval.
	on, off  string
	approval func() bool
	set      func(ctx context.Context, on bool) error
}

func (w pendingChanges) empty() Result {
	return Result{Text: "No pending changes of " + w.noun + "."}
}

// decide approves or rejects the named changes, or all of them. It stops at the
// first error and reports the changes before it.
func (w pendingChanges) decide(which string, do func(id string) (string, error)) (Result, error) {
	ids := strings.Fields(which)
	if len(ids) == 0 {
		return Result{}, errors.New(w.use)
	}
	if which == "all" {
		var err error
		if ids, err = w.ids(); err != nil {
			return Result{}, err
		}
	}
	var lines []string
	for _, id := range ids {
		line, err := do(id)
		if err != nil {
			return Result{Text: strings.Join(lines, "\n\n")}, err
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return w.empty(), nil
	}
	return Result{Text: strings.Join(lines, "\n\n")}, nil
}

// drop rejects a change and returns the line that reports it.
func drop(reject func(id string) error) func(id string) (string, error) {
	return func(id string) (string, error) { return "Rejected " + code(id) + ".", reject(id) }
}

// switched turns the approval on or off, and shows the setting.
func (w pendingChanges) switched(ctx context.Context, to string) (Result, error) {
	switch to = strings.ToLower(to); to {
	case "on", "off":
		if err := w.set(ctx, to == "on"); err != nil {
			return Result{}, err
		}
	case "":
	default:
		return Result{}, errors.New(w.use)
	}
	if w.approval() {
		return Result{Text: w.on}, nil
	}
	return Result{Text: w.off}, nil
}

// hint is the line under a list that says how many changes are pending.
func (w pendingChanges) hint(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%s: `/%s pending`\n", text.Plural(n, "pending change", "pending changes"), w.noun)
}
