package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/order"
	"hermes/internal/policy"
	"hermes/internal/skill/guard"
)

// State is the state of an installed skill on disk.
type State string

// The states.
const (
	Intact State = "intact"
	Edited State = "edited here"
	Gone   State = "missing"
)

// StateOf compares an installed skill with its record.
func (l *Library) StateOf(name string, rec Installed) (State, error) {
	files, err := guard.Read(l.installedFolder(rec))
	if errors.Is(err, fs.ErrNotExist) {
		return Gone, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the skill %q: %w", name, err)
	}
	if sum, _ := hashFiles(files); sum != rec.Hash {
		return Edited, nil
	}
	return Intact, nil
}

// Audited is an installed skill with the result of a new scan.
type Audited struct {
	Name   string
	Record Installed
	State  State
	Report guard.Report
}

// Audit scans the installed skills again with the current rules.
func (l *Library) Audit(ctx context.Context) ([]Audited, error) {
	lock, err := l.Installed()
	if err != nil {
		return nil, err
	}
	var out []Audited
	for name, rec := range lock.Skills {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a := Audited{Name: name, Record: rec}
		if a.State, err = l.StateOf(name, rec); err != nil {
			return nil, err
		}
		if files, err := guard.Read(l.installedFolder(rec)); err == nil {
			a.Report = Scan(files)
		}
		out = append(out, a)
	}
	order.By(out, func(a, b Audited) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// logInstall adds a line to the installation log.
func (l *Library) logInstall(what, name string, p Package, v guard.Verdict) {
	line, err := json.Marshal(map[string]any{
		"at": l.cfg.Now().UTC(), "what": what, "name": name, "source": p.Source, "identifier": p.Identifier, "trust": p.Trust, "verdict": v,
	})
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(l.hubFolder(), "audit.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // the lock file records the installation anyway
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// Scan looks in the files of a skill for what may do harm, also for orders to the
// model.
func Scan(files []guard.File) guard.Report {
	return guard.Scan(files, guard.Options{Injection: policy.Injection, Fold: policy.Fold})
}
