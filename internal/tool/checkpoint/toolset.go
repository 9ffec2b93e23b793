// Package checkpoint is the toolset with which the model makes a named snapshot of the files of
// its session, and undoes its own changes since one.
//
// A restore is worked out once, when its risk is assessed: the files of that plan are judged by
// the rules, the user sees them, and the plan itself is applied. If files changed meanwhile,
// nothing is. internal/checkpoint keeps the snapshots, and the file tools judge paths. Start at
// New; plan.go remembers plans, restore.go applies them.
package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/policy"
	"hermes/internal/text"
)

// Config configures the tools.
type Config struct {
	// Of returns the store of a session's files, which may be that of another place, and the folder
	// that snapshots of them are made of. nil is none: the tools are not available.
	Of    func(ctx context.Context, h hermes.Host) (*checkpoint.Store, string, error)
	Files Files
}

// Files is what the tools use of the file tools.
type Files interface {
	// JudgeWrites judges a write of each path.
	JudgeWrites(ctx context.Context, h hermes.Host, paths ...string) ([]policy.PathVerdict, []error)
	// Lock keeps other calls from changing files until unlock is called.
	Lock(ctx context.Context, paths ...string) (unlock func(), err error)
	// Replaced notes that a session changed files of which it does not know the new content.
	Replaced(ctx context.Context, h hermes.Host, paths ...string)
}

// Toolset holds the two tools. It serves any number of sessions at once.
type Toolset struct {
	config Config
	plans  *plans
}

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset.
func New(c Config) *Toolset { return &Toolset{config: c, plans: newPlans()} }

// Name is "checkpoint".
func (t *Toolset) Name() string { return "checkpoint" }

// Available says that there is no store if that is so.
func (t *Toolset) Available(context.Context) string {
	if t.config.Of == nil {
		return "checkpoints are off; turn them on with: hermes config set checkpoints.enabled true"
	}
	return ""
}

// Tools returns both tools.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{t.checkpoint(), t.restore()}, nil
}

// Hook returns the hook by which the toolset forgets the plan of a call that has run or was
// refused.
func (t *Toolset) Hook() hermes.Hook {
	return hermes.Hook{Name: "checkpoint-tools", AfterTool: func(_ context.Context, c *hermes.Call, _ *hermes.Result) {
		if c.Name == nameRestore && c.Host != nil {
			t.plans.drop(c)
		}
	}}
}

const nameCheckpoint = "checkpoint"

type checkpointArgs struct {
	Name string `json:"name,omitempty"`
}

type checkpointResult struct {
	Checkpoint int                  `json:"checkpoint"`
	Name       string               `json:"name,omitempty"`
	Files      int                  `json:"files"`
	LeftOut    []checkpoint.Omitted `json:"left_out,omitempty"`
}

func (t *Toolset) checkpoint() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name:        nameCheckpoint,
		Description: "Save the state of the files.",
	}, t.make)
}

// maxName bounds a name, in characters.
const maxName = 60

func (t *Toolset) make(ctx context.Context, c *hermes.Call, in checkpointArgs) (hermes.Result, error) {
	name := strings.TrimSpace(in.Name)
	switch {
	case utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, unicode.IsControl):
		return hermes.Result{}, fmt.Errorf("name is one line of at most %d characters: say what is about to change", maxName)
	case name != "" && strings.Trim(name, "0123456789") == "":
		return hermes.Result{}, errors.New("a number is not a name: use words")
	}
	store, folder, err := t.config.Of(ctx, c.Host)
	if err != nil {
		return hermes.Result{}, err
	}
	m := t.meta(c)
	if err := room(store, folder, m); err != nil {
		return hermes.Result{}, err
	}
	m.Name, m.Reason = name, "checkpoint of the model"
	s, _, err := store.Snapshot(ctx, folder, m, checkpoint.SnapshotOptions{Always: true})
	if err != nil {
		return hermes.Result{}, err
	}
	return hermes.JSONResult(checkpointResult{Checkpoint: s.Number, Name: name, Files: s.Files, LeftOut: s.LeftOut})
}

// maxOfTurn bounds the snapshots of one turn: only so many are kept of a folder, and those that
// the user needs must not make room for more of the model's.
const maxOfTurn = 6

// room refuses one more snapshot of a turn that has enough.
func room(store *checkpoint.Store, folder string, m checkpoint.Meta) error {
	w, err := store.List(folder)
	if err != nil {
		return err
	}
	n := 0
	for _, s := range w.Snapshots {
		if s.Session == m.Session && s.Turn == m.Turn {
			n++
		}
	}
	if n >= maxOfTurn {
		return fmt.Errorf("this turn has %d checkpoints already, and more would push out older ones: go on without, or tell the user", n)
	}
	return nil
}

func (t *Toolset) meta(c *hermes.Call) checkpoint.Meta {
	s := c.Host.Session()
	m := checkpoint.Meta{Session: s.ID, Turn: strconv.FormatInt(s.Turn, 10)}
	if is, ok := c.Host.(hermes.TurnHost); ok && is.Answers() != 0 { // as the hook for snapshots has it
		m.Turn += "." + strconv.FormatInt(is.Answers(), 10)
		m.At, _ = json.Marshal(checkpoint.Position{Message: is.Answers()}) // a number always has a JSON form
	}
	return m
}

// find returns the snapshot with a number, id or name, the newest if several have the name.
func find(store *checkpoint.Store, folder, ref string) (checkpoint.Snapshot, error) {
	w, err := store.List(folder)
	if err != nil {
		return checkpoint.Snapshot{}, err
	}
	ref = strings.TrimSpace(ref)
	for _, s := range slices.Backward(w.Snapshots) {
		if strconv.Itoa(s.Number) == ref || s.ID == ref || ref != "" && s.Name == ref {
			return s, nil
		}
	}
	var known []string
	for _, s := range slices.Backward(w.Snapshots) {
		if len(known) == 10 {
			known = append(known, "…")
			break
		}
		about := s.Name
		if about == "" {
			about = s.Reason
		}
		known = append(known, fmt.Sprintf("%d (%s)", s.Number, text.OneLine(about, 60)))
	}
	if len(known) == 0 {
		return checkpoint.Snapshot{}, fmt.Errorf("%w: %s has none yet", checkpoint.ErrUnknown, folder)
	}
	return checkpoint.Snapshot{}, fmt.Errorf("%w as %q; newest first, there are %s", checkpoint.ErrUnknown, ref, strings.Join(known, ", "))
}
