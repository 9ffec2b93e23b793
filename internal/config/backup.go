package config

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes/internal/atomicfile"
	"hermes/internal/home"
)

// Copies of config.yaml are kept as backups/config/<time>-<reason>.yaml: the last
// good content, and the content before an edit or a migration.
const (
	reasonGood    = "good"
	reasonEdit    = "edit"
	reasonMigrate = "migrate"

	keptCopies = 5 // of each reason
	copyTime   = "20060102T150405.000Z"
	copySuffix = ".yaml"
)

// keepGood copies a file that was read without error, if the newest copy differs.
// The copy has the date of the file, so usually comparing date and size is enough.
// An error is ignored: the next start tries again.
func (c *Config) keepGood(src []byte) {
	info, err := os.Stat(c.home.Config())
	if err != nil {
		return
	}
	names := copies(c.home, reasonGood)
	if len(names) > 0 {
		path := filepath.Join(c.home.Backups("config"), names[0])
		was, err := os.Stat(path)
		if err == nil && was.Size() == info.Size() {
			if was.ModTime().Equal(info.ModTime()) {
				return
			}
			if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, src) {
				_ = os.Chtimes(path, info.ModTime(), info.ModTime())
				return
			}
		}
	}
	if path, err := keepCopy(c.home, reasonGood, src, c.options.Now()); err == nil {
		_ = os.Chtimes(path, info.ModTime(), info.ModTime())
	}
}

// keepCopy writes one copy and removes the oldest of its reason.
func keepCopy(h home.Dir, reason string, src []byte, now time.Time) (string, error) {
	folder := h.Backups("config")
	if err := h.Make(folder); err != nil {
		return "", err
	}
	path := filepath.Join(folder, now.UTC().Format(copyTime)+"-"+reason+copySuffix)
	if err := atomicfile.Write(path, src, atomicfile.Options{}); err != nil {
		return "", err
	}
	for i, name := range copies(h, reason) {
		if i >= keptCopies {
			_ = os.Remove(filepath.Join(folder, name))
		}
	}
	return path, nil
}

// copies lists the copies of one reason ("" is any), the newest first.
func copies(h home.Dir, reason string) []string {
	entries, err := os.ReadDir(h.Backups("config"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		stamp, why, found := strings.Cut(strings.TrimSuffix(e.Name(), copySuffix), "-")
		if _, err := time.Parse(copyTime, stamp); err == nil && found && (why == reason || reason == "") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// newestGood returns the newest copy that can be used: one that keepGood made,
// else one from before an edit.
func (c *Config) newestGood() (path string, root *yaml.Node, made time.Time) {
	for _, name := range append(copies(c.home, reasonGood), copies(c.home, "")...) {
		path = filepath.Join(c.home.Backups("config"), name)
		root, err := usable(os.ReadFile(path))
		if err != nil || root == nil {
			continue
		}
		stamp, _, _ := strings.Cut(name, "-")
		made, _ = time.Parse(copyTime, stamp)
		return path, root, made
	}
	return "", nil, time.Time{}
}
