package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/text"
)

// archived is a line of ARCHIVE.jsonl.
type archived struct {
	Target Target    `json:"target"`
	Text   string    `json:"text"`
	At     time.Time `json:"archived_at"`
	Origin Origin    `json:"origin,omitzero"`
}

// evict removes the oldest entries until the rest fits, but none that was just
// written.
func (d *draft) evict(limit int) []string {
	var out []string
	for i := 0; i < len(d.entries) && size(d.entries) > limit; {
		if slices.Contains(d.written, d.entries[i]) {
			i++
			continue
		}
		out = append(out, d.entries[i])
		d.entries = slices.Delete(d.entries, i, i+1)
	}
	return out
}

// write replaces a target by a draft. Entries that move to the archive are
// stored there first.
func (b *File) write(ctx context.Context, t Target, d draft, evicted []string, by Origin) (State, error) {
	if by.At.IsZero() {
		by.At = b.cfg.Now().UTC().Truncate(time.Second)
	}
	write := func() error {
		if err := b.makeFolder(t); err != nil {
			return err
		}
		if err := b.archive(t, evicted); err != nil {
			return err
		}
		content := join(d.entries)
		if content != "" {
			content += "\n"
		}
		if err := atomicfile.Write(b.path(t), []byte(content), atomicfile.Options{}); err != nil {
			return err
		}
		return b.sign(t, d, by)
	}
	record := b.cfg.Record
	if record == nil {
		record = func(_ context.Context, _ Origin, _ string, _ []string, write func() error) error { return write() }
	}
	what := fmt.Sprintf("%s: %s", b.nameOf(t), text.Line(strings.Join(d.notes, "; "), 100))
	if err := record(ctx, by, what, []string{b.path(t)}, write); err != nil {
		return State{}, err
	}
	s := b.state(t, d.entries)
	s.Notes, s.Evicted = d.notes, evicted
	return s, nil
}

func (b *File) archivePath(t Target) string { return filepath.Join(b.folder(t), "ARCHIVE.jsonl") }

func (b *File) archive(t Target, evicted []string) error {
	if len(evicted) == 0 {
		return nil
	}
	known := b.origins(t).of(t)
	var lines []byte
	for _, text := range evicted {
		line, err := json.Marshal(archived{t, text, b.cfg.Now().UTC().Truncate(time.Second), known[hash(text)]})
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	f, err := os.OpenFile(b.archivePath(t), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("archive old memories: %w", err)
	}
	if _, err := f.Write(lines); err != nil {
		f.Close()
		return fmt.Errorf("archive old memories: %w", err)
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return fmt.Errorf("archive old memories: %w", err)
	}
	return f.Close()
}
