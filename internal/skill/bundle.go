package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/yamledit"
)

// Bundle is a name for several skills that are used together.
type Bundle struct {
	Name, Description string
	Skills            []string
	// Instruction is shown to the model after the skills.
	Instruction string
}

// Bundles lists the user's bundles by name.
func (l *Library) Bundles() ([]Bundle, error) {
	entries, err := os.ReadDir(l.cfg.Home.Bundles())
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Bundle
	var faults []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".yaml")
		if !ok || CheckName(name) != nil {
			continue
		}
		b, err := l.bundle(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, b)
	}
	return out, errors.Join(faults...)
}

func (l *Library) bundleFile(name string) string {
	return filepath.Join(l.cfg.Home.Bundles(), name+".yaml")
}

// bundle reads a bundle. The error for a missing one wraps hermes.ErrNotFound.
func (l *Library) bundle(name string) (Bundle, error) {
	raw, err := os.ReadFile(l.bundleFile(name))
	if os.IsNotExist(err) {
		return Bundle{}, fmt.Errorf("there is no bundle %q: %w", name, hermes.ErrNotFound)
	}
	if err != nil {
		return Bundle{}, err
	}
	doc, err := yamledit.Parse(raw)
	if err != nil {
		return Bundle{}, fmt.Errorf("the bundle %s: %w", l.bundleFile(name), err)
	}
	value, err := yamledit.Value(doc.Root())
	fields, _ := value.(map[string]any)
	if err != nil || fields == nil {
		return Bundle{}, fmt.Errorf("the bundle %s must have lines of key: value, including skills", l.bundleFile(name))
	}
	return Bundle{Name: name, Description: text(fields["description"]), Skills: list(fields["skills"]), Instruction: text(fields["instruction"])}, nil
}

// SaveBundle stores a bundle. It replaces an existing one only if replace is set.
func (l *Library) SaveBundle(b Bundle, replace bool) error {
	if err := CheckName(b.Name); err != nil {
		return err
	}
	if len(b.Skills) == 0 {
		return errors.New("a bundle needs at least one skill; add it with --skill NAME")
	}
	if _, err := os.Lstat(l.bundleFile(b.Name)); err == nil && !replace {
		return fmt.Errorf("the bundle %q already exists; use --force to replace it", b.Name)
	}
	if err := l.cfg.Home.Make(l.cfg.Home.Bundles()); err != nil {
		return err
	}
	var out strings.Builder
	if b.Description != "" {
		fmt.Fprintf(&out, "description: %s\n", yamledit.Flow(b.Description))
	}
	fmt.Fprintf(&out, "skills: %s\n", yamledit.Flow(b.Skills))
	if b.Instruction != "" {
		fmt.Fprintf(&out, "instruction: %s\n", yamledit.Flow(b.Instruction))
	}
	return atomicfile.Write(l.bundleFile(b.Name), []byte(out.String()), atomicfile.Options{})
}

// DeleteBundle deletes a bundle, but not its skills.
func (l *Library) DeleteBundle(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	err := os.Remove(l.bundleFile(name))
	if os.IsNotExist(err) {
		return fmt.Errorf("there is no bundle %q; list them with `hermes bundles list`: %w", name, hermes.ErrNotFound)
	}
	return err
}
