package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
)

// Pin is what the user agreed to when a plugin was enabled.
type Pin struct {
	// Digest is that of its folder, see [Digest].
	Digest string    `json:"digest"`
	Offer  Offer     `json:"offer"`
	At     time.Time `json:"at"`
}

// Pins is the file of all pins. It may be used by several processes.
type Pins struct{ path string }

// PinsIn returns the pins of a folder of plugins.
func PinsIn(folder string) Pins { return Pins{filepath.Join(folder, ".enabled.json")} }

type pinsFile struct {
	Version int            `json:"version"`
	Plugins map[string]Pin `json:"plugins"`
}

// Read returns the pins by the names of plugins. A file that cannot be read enables nothing, and
// is an error.
func (p Pins) Read() (map[string]Pin, error) {
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Pin{}, nil
	}
	var f pinsFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && f.Version != 1 {
		err = fmt.Errorf("it has the version %d, which this Hermes does not know", f.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("which plugins are enabled cannot be read from %s: %w", p.path, err)
	}
	for name, pin := range f.Plugins {
		if err := pin.Offer.check(); err != nil {
			return nil, fmt.Errorf("%s is damaged at %s: %w", p.path, name, err)
		}
		f.Plugins[name] = pin // check brings it into its one form
	}
	if f.Plugins == nil {
		f.Plugins = map[string]Pin{}
	}
	return f.Plugins, nil
}

// Set pins a plugin.
func (p Pins) Set(ctx context.Context, name string, pin Pin) error {
	return p.change(ctx, func(m map[string]Pin) { m[name] = pin })
}

// Remove removes the pin of a plugin, if it has one.
func (p Pins) Remove(ctx context.Context, name string) error {
	return p.change(ctx, func(m map[string]Pin) { delete(m, name) })
}

func (p Pins) change(ctx context.Context, f func(map[string]Pin)) error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, p.path+".lock", "the list of enabled plugins", 10*time.Second)
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := p.Read()
	if err != nil {
		return err
	}
	f(all)
	data, err := json.MarshalIndent(pinsFile{1, all}, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(p.path, append(data, '\n'), atomicfile.Options{Mode: 0o600})
}
