package learning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hermes"
)

// Bounds of an imported file.
const (
	maxImport = 4 << 20 // bytes
	maxRows   = 5000
)

// row is one line of an export.
type row struct {
	Tool    string    `json:"tool,omitempty"`
	Class   string    `json:"error_type,omitempty"`
	Pattern string    `json:"pattern"`
	Fix     string    `json:"fix"`
	Context string    `json:"context,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Touched time.Time `json:"touched_at,omitzero"`
	Seen    int       `json:"seen,omitempty"`
	Shown   int       `json:"times_used,omitempty"`
	Helped  int       `json:"helped,omitempty"`
	Failed  int       `json:"failed,omitempty"`
}

// Export writes the learnings that have a fix, one JSON object per line, and
// returns their number.
func (b *Store) Export(ctx context.Context, w io.Writer) (int, error) {
	list, err := b.Find(ctx, hermes.LearningQuery{Known: true, Limit: -1})
	if err != nil {
		return 0, err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, l := range list {
		err := enc.Encode(row{l.Tool, l.Class, l.Pattern, l.Fix, l.Context, l.Tags, l.Created.UTC(), l.Touched.UTC(), l.Seen, l.Shown, l.Helped, l.Failed})
		if err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// Import adds the learnings of a JSON lines file that are new. A failure that
// already has a fix is not changed, and counts are not imported. admit checks
// and generalises each learning. Either all learnings are valid and stored, or
// none is. It returns the number of new ones.
func (b *Store) Import(ctx context.Context, r io.Reader, admit func(hermes.Learning) (hermes.Learning, error)) (int, error) {
	rows, err := b.incoming(r, admit)
	if err != nil {
		return 0, fmt.Errorf("nothing was imported: %w", err)
	}
	have, err := b.Find(ctx, hermes.LearningQuery{Limit: -1})
	if err != nil {
		return 0, err
	}
	known := map[string]bool{}
	for _, l := range have {
		known[text(l)] = l.Fix != ""
	}
	var added []hermes.Learning
	for _, l := range rows {
		if !known[text(l)] {
			known[text(l)] = true
			added = append(added, l)
		}
	}
	if len(added) == 0 {
		return 0, nil
	}
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return 0, err
	}
	return len(added), b.cfg.Record(ctx, "person", "import "+named(added), Records(added...), func() error {
		for _, l := range added {
			l.Provenance = "import"
			if _, err := store.SaveLearning(ctx, l); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Store) incoming(r io.Reader, admit func(hermes.Learning) (hermes.Learning, error)) ([]hermes.Learning, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImport+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxImport {
		return nil, fmt.Errorf("the file is larger than %d MB", maxImport>>20)
	}
	if strings.TrimSpace(string(data)) == "" {
		return nil, errors.New("the file is empty")
	}
	var out []hermes.Learning
	d := json.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var in row
		err := d.Decode(&in)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("learning %d of the file: not a JSON object with the strings pattern and fix", n)
		}
		if n > maxRows {
			return nil, fmt.Errorf("the file has more than %d learnings", maxRows)
		}
		l, err := admit(hermes.Learning{Tool: in.Tool, Pattern: in.Pattern, Fix: in.Fix, Context: in.Context, Tags: in.Tags})
		if err != nil {
			return nil, fmt.Errorf("learning %d of the file: %w", n, err)
		}
		if kind(in.Class) {
			l.Class = in.Class
		}
		l.Touched = b.cfg.Now()
		out = append(out, l)
	}
}

// kind reports whether a text is a valid name of a kind of failure.
func kind(text string) bool {
	return text != "" && len(text) <= 40 && !strings.ContainsFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
}
