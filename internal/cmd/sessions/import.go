package sessions

import (
	"context"
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

// importFile stores one file as a session.
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
	row, err := transcript.Store(ctx, s, r, filepath.Base(path), o.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s: %s as session %s", path, text.Plural(len(r.Messages), "message", "messages"), row.ID)
	if r.Skipped > 0 {
		fmt.Fprintf(o.Out, " (skipped %s that could not be read)", text.Plural(r.Skipped, "line", "lines"))
	}
	fmt.Fprintln(o.Out)
	return nil
}
