package logfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Entry is one line of a log.
type Entry struct {
	Time      time.Time
	Level     slog.Level
	Message   string
	Session   string
	Component string
	Fields    []Field // the other attributes, in the order written
	// Raw is the line itself. For a line that is not a record, other fields are empty.
	Raw string
}

// Field is one attribute; groups are part of the name, with a dot.
type Field struct{ Name, Value string }

// Parse reads a line. A line that is not a JSON object is kept as Raw.
func Parse(line string) Entry {
	e := Entry{Raw: line}
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return e
	}
	var fields []Field
	if err := object(d, "", &fields); err != nil {
		return e
	}
	for _, f := range fields {
		switch f.Name {
		case slog.TimeKey:
			e.Time, _ = time.Parse(time.RFC3339Nano, f.Value)
		case slog.LevelKey:
			_ = e.Level.UnmarshalText([]byte(f.Value))
		case slog.MessageKey:
			e.Message = f.Value
		case SessionKey:
			e.Session = f.Value
		case ComponentKey:
			e.Component = f.Value
		default:
			e.Fields = append(e.Fields, f)
		}
	}
	return e
}

// object reads the rest of an object, flat.
func object(d *json.Decoder, prefix string, fields *[]Field) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		key := prefix + fmt.Sprint(name)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if raw[0] == '{' {
			inner := json.NewDecoder(bytes.NewReader(raw))
			if _, err := inner.Token(); err != nil {
				return err
			}
			if err := object(inner, key+".", fields); err != nil {
				return err
			}
			continue
		}
		text := string(raw)
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &text); err != nil {
				return err
			}
		}
		*fields = append(*fields, Field{key, text})
	}
	_, err := d.Token()
	return err
}

// Filter selects entries that match all its fields. The zero Filter selects every
// entry.
type Filter struct {
	Level     slog.Leveler // at least; nil is any
	Session   string       // a prefix
	Component string       // the whole name, or the part before a dot
	Since     time.Time
}

// Match reports whether an entry is selected. A line that is not a record matches
// only the zero Filter.
func (f Filter) Match(e Entry) bool {
	if e.Time.IsZero() {
		return f == Filter{}
	}
	return (f.Level == nil || e.Level >= f.Level.Level()) &&
		strings.HasPrefix(e.Session, f.Session) &&
		(f.Component == "" || e.Component == f.Component || strings.HasPrefix(e.Component, f.Component+".")) &&
		!e.Time.Before(f.Since)
}

// Last returns the newest n matching entries of a log, oldest first, rotated files
// included, and the size of the current file, where Follow continues. A log that
// does not exist has no entries.
func Last(folder, name string, n int, f Filter) (entries []Entry, size int64, err error) {
	for i := 0; len(entries) < n; i++ {
		path := filepath.Join(folder, name+Suffix)
		if i > 0 {
			path = fmt.Sprintf("%s.%d", path, i)
		}
		src, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			if i == 0 {
				continue // it may just have been rotated
			}
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the log %s: %w", name, err)
		}
		if i == 0 {
			size = int64(len(src))
		}
		entries = append(entries, newest(src, n-len(entries), f)...)
	}
	slices.Reverse(entries)
	return entries, size, nil
}

// newest reads lines from the end.
func newest(src []byte, n int, f Filter) []Entry {
	var found []Entry
	for len(src) > 0 && len(found) < n {
		src = bytes.TrimSuffix(src, []byte("\n"))
		line := src
		if i := bytes.LastIndexByte(src, '\n'); i >= 0 {
			line, src = src[i+1:], src[:i+1]
		} else {
			src = nil
		}
		if len(line) == 0 {
			continue
		}
		if e := Parse(string(line)); f.Match(e) {
			found = append(found, e)
		}
	}
	return found
}

// File is a log that exists.
type File struct {
	Name    string
	Bytes   int64 // of all its files
	Files   int
	Changed time.Time
}

// List names the logs of a folder. A missing folder has none.
func List(folder string) ([]File, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list logs: %w", err)
	}
	var logs []File
	for _, e := range entries {
		name, _, found := strings.Cut(e.Name(), Suffix)
		info, err := e.Info()
		if !found || err != nil || !info.Mode().IsRegular() {
			continue
		}
		i := slices.IndexFunc(logs, func(l File) bool { return l.Name == name })
		if i < 0 {
			logs = append(logs, File{Name: name})
			i = len(logs) - 1
		}
		logs[i].Bytes += info.Size()
		logs[i].Files++
		if info.ModTime().After(logs[i].Changed) {
			logs[i].Changed = info.ModTime()
		}
	}
	return logs, nil
}
