package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/transcript"
	"hermes/internal/usage"
)

// importOptions are the options of `hermes sessions import`.
type importOptions struct {
	base
	From string
}

func newImport(f *factory.Factory) *cobra.Command {
	o := &importOptions{base: base{Factory: f}}
	cmd := o.verb("import FILE…", "Import conversations from Claude Code or Codex", "hermes sessions import ~/.claude/projects/app/*.jsonl", cobra.MinimumNArgs(1), o.run)
	cmd.Flags().StringVar(&o.From, "from", "", "format of the files: claude or codex (default: detected)")
	return cmd
}

func (o *importOptions) run(ctx context.Context) error {
	switch f := transcript.Format(o.From); f {
	case "", transcript.Claude, transcript.Codex:
	default:
		return usage.Errorf("invalid --from %s: use claude or codex", o.From)
	}
	return o.with(ctx, func(s hermes.Store) error {
		var errs []error
		for _, path := range o.Args {
			if err := importFile(ctx, s, o, path); err != nil {
				if _, missing := errors.AsType[*fs.PathError](err); !missing { // the error contains the path already
					err = fmt.Errorf("%s: %w", path, err)
				}
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
}

// importFile stores one file as a session. The id is derived from the id in the
// file, so that a file is not imported twice.
func importFile(ctx context.Context, s hermes.Store, o *importOptions, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := transcript.File(f, transcript.Format(o.From))
	if err != nil {
		return err
	}
	origin := r.Origin
	if origin == "" {
		origin = filepath.Base(path)
	}
	row := r.Session
	if row.Started.IsZero() {
		row.Started = o.Now()
	}
	sum := sha256.Sum256([]byte(origin))
	row.ID = row.Started.UTC().Format("20060102_150405") + "_" + hex.EncodeToString(sum[:4])
	row.Platform = "import"
	if old, err := s.FindSession(ctx, row.ID); err == nil && old.ID == row.ID {
		return fmt.Errorf("already imported as session %s", row.ID)
	}
	if row.Title, err = freeTitle(ctx, s, row.Title); err != nil {
		return err
	}
	if err := s.CreateSession(ctx, row); err != nil {
		return err
	}
	for i := range r.Messages { // imported messages are untrusted, whatever their role
		r.Messages[i].Provenance = hermes.ProvenanceSource("import of", filepath.Base(path))
	}
	if _, err := s.Commit(ctx, hermes.Lease{Session: row.ID}, hermes.Change{Append: r.Messages}); err != nil {
		return errors.Join(err, s.DeleteSession(ctx, row.ID))
	}
	fmt.Fprintf(o.Out, "%s: %s as session %s", path, text.Plural(len(r.Messages), "message", "messages"), row.ID)
	if r.Skipped > 0 {
		fmt.Fprintf(o.Out, " (skipped %s that could not be read)", text.Plural(r.Skipped, "line", "lines"))
	}
	fmt.Fprintln(o.Out)
	return nil
}

// freeTitle cleans a title and adds a number if another session has it.
func freeTitle(ctx context.Context, s hermes.Store, title string) (string, error) {
	title, err := hermes.CleanTitle(title)
	if err != nil || title == "" {
		return "", nil // no title is better than a bad one
	}
	for range 100 {
		row, err := s.FindSession(ctx, title)
		if errors.Is(err, hermes.ErrNotFound) || err == nil && row.Title != title {
			return title, nil
		}
		if err != nil {
			return "", err
		}
		title = hermes.NextTitle(title)
	}
	return "", nil
}
