package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// pendingChanges is where changes of the model wait for the person: those of
// memory and those of skills.
type pendingChanges struct {
	noun string // what the changes are of
	use  string // how the command is used
	ids  func() ([]string, error)
	// on and off say what holds with and without the approval.
	on, off  string
	approval func() bool
	set      func(ctx context.Context, on bool) error
}

func (w pendingChanges) empty() Result {
	return Result{Text: "No changes of " + w.noun + " are waiting."}
}

// decide does the same with the changes that are named, or with all. Those
// before one that fails are done, and are told.
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

// drop is the line of a change that was rejected.
func drop(reject func(id string) error) func(id string) (string, error) {
	return func(id string) (string, error) { return code(id) + " is dropped.", reject(id) }
}

// switched shows whether changes wait, and sets it where a word says so.
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

// hint is the line under a list that says how many changes wait.
func (w pendingChanges) hint(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%d waiting for you: `/%s pending`\n", n, w.noun)
}
