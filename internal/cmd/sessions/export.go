package sessions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/archive"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// exportOptions are the options of `hermes sessions export`.
type exportOptions struct {
	base
	Format   string
	Sessions []string
	Platform string
	After    string
	Before   string
	Title    string
	Archived bool
	Only     string
	Redact   bool
	chosen   bool // Redact was given on the command line
	Force    bool
	DryRun   bool
}

func newExport(f *factory.Factory) *cobra.Command {
	o := &exportOptions{base: base{Factory: f}}
	cmd := o.verb("export FILE|-", "Export sessions as jsonl, md, html or trajectory", "hermes sessions export chat.md --session latest\n  hermes sessions export all.jsonl --newer-than 30d", cobra.ExactArgs(1), o.run)
	cmd.Long = "Export sessions with their messages to a file, or with - to standard output.\n" +
		"Without --session or a filter, all sessions are exported. In jsonl and trajectory, each line\n" +
		"is one session; trajectory is the ShareGPT format for training. Secrets in prompts, calls and\n" +
		"results are masked; --redact=false keeps them, for a backup that only you can read."
	cmd.PreRun = func(cmd *cobra.Command, _ []string) { o.chosen = cmd.Flags().Changed("redact") }
	flags := cmd.Flags()
	flags.StringVar(&o.Format, "format", "", "jsonl, md, html or trajectory (default: by file extension, else jsonl)")
	flags.StringSliceVar(&o.Sessions, "session", nil, "export this session: id, title or latest (repeatable)")
	flags.StringVar(&o.Platform, "source", "", "only sessions of this source")
	flags.StringVar(&o.After, "newer-than", "", "only sessions active since this `date` or age (7d)")
	flags.StringVar(&o.Before, "older-than", "", "only sessions last active before this `date` or age (90d)")
	flags.StringVar(&o.Title, "title", "", "only sessions whose title contains this text")
	flags.BoolVar(&o.Archived, "include-archived", false, "include archived sessions")
	flags.StringVar(&o.Only, "only", "", "user-prompts: export only what the user wrote")
	flags.BoolVar(&o.Redact, "redact", true, "mask secrets; given explicitly, also remove encrypted thoughts; with =false, mask nothing")
	flags.BoolVar(&o.Force, "force", false, "overwrite an existing file")
	flags.BoolVar(&o.DryRun, "dry-run", false, "show what would be exported, and write nothing")
	return cmd
}

func (o *exportOptions) run(ctx context.Context) error {
	write, err := o.writer()
	if err != nil {
		return err
	}
	return o.reading(ctx, func(s hermes.Store) error {
		rows, err := o.rows(ctx, s)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return errors.New("nothing to export: no session matches; list them with `hermes sessions list --all`")
		}
		if err := o.fits(rows); err != nil {
			return err
		}
		if o.DryRun {
			messages := 0
			for _, r := range rows {
				messages += r.Messages
			}
			fmt.Fprintf(o.Out, "Would export %s with %s to %s.\n", text.Plural(len(rows), "session", "sessions"), text.Plural(messages, "message", "messages"), o.Args[0])
			return nil
		}
		return o.into(func(w io.Writer) error {
			for i, r := range rows {
				if err := o.one(ctx, s, r.ID, i, write, w); err != nil {
					return err
				}
			}
			return nil
		}, len(rows))
	})
}

// fits returns an error if a session is too long to be exported.
func (o *exportOptions) fits(rows []hermes.Session) error {
	cfg, err := o.Config()
	if err != nil {
		return err
	}
	most := cfg.Sessions().MaxExportMessages
	if most <= 0 {
		return nil
	}
	for _, r := range rows {
		if r.Messages > most {
			return fmt.Errorf("session %s has %d messages; the limit for exports is %d, so nothing was exported. Raise it with `hermes config set sessions.max_export_messages %d`",
				r.ID, r.Messages, most, r.Messages)
		}
	}
	return nil
}

// writer returns the function for the chosen format.
func (o *exportOptions) writer() (archive.Writer, error) {
	if o.Only != "" && o.Only != "user-prompts" {
		return nil, usage.Errorf("invalid --only %q: use user-prompts", o.Only)
	}
	format := o.Format
	if format == "" {
		format = map[string]string{".md": "md", ".markdown": "md", ".html": "html", ".htm": "html"}[filepath.Ext(o.Args[0])]
	}
	if w := archive.WriterOf(format); w != nil {
		return w, nil
	}
	return nil, usage.Errorf("invalid --format %q: use jsonl, md, html or trajectory", format)
}

func (o *exportOptions) rows(ctx context.Context, s hermes.Store) ([]hermes.Session, error) {
	if len(o.Sessions) > 0 {
		var rows []hermes.Session
		for _, ref := range o.Sessions {
			row, err := o.resolve(ctx, s, ref)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
	f := hermes.SessionFilter{Platform: o.Platform, Title: o.Title, Archived: o.Archived, NonEmpty: true, Limit: -1}
	var err error
	if f.After, err = moment(o.After, o.Now()); err != nil {
		return nil, err
	}
	if f.Before, err = moment(o.Before, o.Now()); err != nil {
		return nil, err
	}
	return s.ListSessions(ctx, f)
}

// into calls write with standard output or a temporary file, which is renamed when
// everything is written.
func (o *exportOptions) into(write func(io.Writer) error, sessions int) error {
	if o.Args[0] == "-" {
		w := bufio.NewWriter(o.Out)
		return errors.Join(write(w), w.Flush())
	}
	to, err := o.abs(o.Args[0])
	if err != nil {
		return err
	}
	if _, err := os.Stat(to); err == nil && !o.Force {
		return fmt.Errorf("%s already exists; choose another name, or use --force to overwrite it", o.Args[0])
	}
	file, err := os.CreateTemp(filepath.Dir(to), ".hermes-export-*")
	if err != nil {
		return fmt.Errorf("export to %s: %w", o.Args[0], err)
	}
	defer os.Remove(file.Name()) // does nothing after the rename
	w := bufio.NewWriter(file)
	if err := errors.Join(write(w), w.Flush(), file.Close()); err != nil {
		return fmt.Errorf("export to %s: %w", o.Args[0], err)
	}
	if err := os.Rename(file.Name(), to); err != nil {
		return fmt.Errorf("export to %s: %w", o.Args[0], err)
	}
	fmt.Fprintf(o.Out, "Exported %s to %s.\n", text.Plural(sessions, "session", "sessions"), o.Args[0])
	return nil
}

func (o *exportOptions) one(ctx context.Context, s hermes.Store, id string, index int, write archive.Writer, w io.Writer) error {
	row, err := s.FindSession(ctx, id)
	if err != nil {
		return err
	}
	list, err := s.Messages(ctx, id, hermes.Range{})
	if err != nil {
		return err
	}
	if o.Only != "" {
		list = archive.Prompts(list)
		row.System, row.Tools = "", nil
	}
	o.clean(&row, list)
	return write(w, archive.Document{Session: row, Messages: list, Index: index})
}

// clean masks secrets, unless the user or the settings want them. With the flag
// --redact it also removes what cannot be read.
func (o *exportOptions) clean(row *hermes.Session, list []hermes.Message) {
	switch {
	case !o.Redact:
	case o.chosen:
		archive.Mask(o.Mask).Session(row, list)
		archive.Unsign(list)
	default:
		archive.Mask(o.Shown).Session(row, list)
	}
}
