package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/internal/atomicfile"
)

// Pin is what the user agreed to when a plugin was enabled.
type Pin struct {
	// Digest is that of its folder, see [Digest].
	Digest string    `json:"digest"`
	Offer  Offer     `json:"offer"`
	At     time.Time `json:"at"`
	// Source is where the plugin came from, see [source.Source.Place]. It is empty in a pin of a time when the
	// record of the source had no seal.
	Source string `json:"source,omitempty"`

	damaged error // why it could not be read
}

// Pins is the file of all pins. It may be used by several processes.
type Pins struct{ path string }

// PinsIn returns the pins of a folder of plugins.
func PinsIn(folder string) Pins { return Pins{filepath.Join(folder, ".enabled.json")} }

type pinsFile struct {
	Version int                        `json:"version"`
	Plugins map[string]json.RawMessage `json:"plugins"`
}

// Read returns the pins by the names of plugins. One that is damaged has no digest, so that it enables
// nothing until the plugin is enabled again. A file that cannot be read enables nothing, and is an error.
func (p Pins) Read() (map[string]Pin, error) {
	raw, err := p.read()
	if err != nil {
		return nil, err
	}
	pins := map[string]Pin{}
	for name, data := range raw {
		var pin Pin
		err := json.Unmarshal(data, &pin)
		if err == nil && pin.Digest == "" {
			err = errors.New("it has no digest")
		}
		guards := err != nil || slices.ContainsFunc(pin.Offer.Hooks, func(h Hook) bool { return h.Guard })
		if err == nil {
			err = pin.Offer.check() // which brings it into its one form
		}
		if err != nil {
			pin = Pin{damaged: fmt.Errorf("what you enabled is damaged in %s (%w); use `hermes plugins enable %s` again", p.path, err, name)}
			if guards {
				pin.Offer = guardsAll()
			}
		}
		pins[name] = pin
	}
	return pins, nil
}

// guardsAll is what a plugin guards whose offer cannot be read: it may have been anything.
func guardsAll() Offer { return Offer{Hooks: []Hook{{Event: EventBeforeTool, Guard: true}}} }

// missing returns an error if the file is not there although there was one: its lock stays. Who has it
// removed, and what it said, is not known. A home where nothing was ever enabled has neither.
func (p Pins) missing() error {
	if _, err := os.Stat(p.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The lock of [Pins.change], to whose name Acquire adds an ending.
	if _, err := os.Stat(p.path + ".lock.lock"); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return fmt.Errorf("which plugins are enabled is not known, because %s is missing; put it back, or use `hermes plugins enable NAME` or `hermes plugins disable NAME` for each plugin of your settings", p.path)
}

// read returns the pins as they are in the file.
func (p Pins) read() (map[string]json.RawMessage, error) {
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]json.RawMessage{}, nil
	}
	var f pinsFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && f.Version != 1 {
		err = fmt.Errorf("it has the version %d, which this Hermes does not know", f.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("which plugins are enabled cannot be read from %s: %w; repair it, or remove it and enable your plugins again", p.path, err)
	}
	if f.Plugins == nil {
		f.Plugins = map[string]json.RawMessage{}
	}
	return f.Plugins, nil
}

// Set pins a plugin.
func (p Pins) Set(ctx context.Context, name string, pin Pin) error {
	data, err := json.Marshal(pin)
	if err != nil {
		return err
	}
	return p.change(ctx, func(m map[string]json.RawMessage) { m[name] = data })
}

// Remove removes the pin of a plugin, if it has one.
func (p Pins) Remove(ctx context.Context, name string) error {
	return p.change(ctx, func(m map[string]json.RawMessage) { delete(m, name) })
}

// change changes the file. Other pins stay as they are, damaged or not.
func (p Pins) change(ctx context.Context, f func(map[string]json.RawMessage)) error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, p.path+".lock", "the list of enabled plugins", 10*time.Second)
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := p.read()
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
