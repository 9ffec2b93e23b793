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
	"hermes/internal/redact"
	"hermes/internal/usage"
)

// ExportOptions are the wishes of `sessions export`.
type ExportOptions struct {
	Deps
	Out      io.Writer
	To       string
	Format   string
	Sessions []string
	Platform string
	After    string
	Before   string
	Title    string
	Archived bool
	Only     string
	Redact   bool
	Force    bool
	DryRun   bool
}

// NewExportCmd makes the verb; runF replaces its work in tests.
func NewExportCmd(d Deps, runF func(context.Context, *ExportOptions) error) *cobra.Command {
	o := &ExportOptions{Deps: d}
	if runF == nil {
		runF = runExport
	}
	cmd := &cobra.Command{
		Use:   "export FILE|-",
		Short: "Write sessions to a file: jsonl, md, html or trajectory",
		Long: "Write sessions with their messages to a file, or with - to the standard output.\n" +
			"Without --session and filters all of them are written. In jsonl each line is one session;\n" +
			"so it is in trajectory, in the manner of ShareGPT, for training.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.To = cmd.OutOrStdout(), args[0]
			return runF(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "", "jsonl, md, html or trajectory (default: as the file's name says, else jsonl)")
	f.StringSliceVar(&o.Sessions, "session", nil, "only this session (id, title or latest); may be given more than once")
	f.StringVar(&o.Platform, "source", "", "only sessions of this source")
	f.StringVar(&o.After, "newer-than", "", "only sessions active since this `date` or age (7d)")
	f.StringVar(&o.Before, "older-than", "", "only sessions last active before this `date` or age (90d)")
	f.StringVar(&o.Title, "title", "", "only sessions whose title holds this text")
	f.BoolVar(&o.Archived, "include-archived", false, "archived ones too")
	f.StringVar(&o.Only, "only", "", "user-prompts writes what the person said and nothing else")
	f.BoolVar(&o.Redact, "redact", false, "take out what looks like a secret")
	f.BoolVar(&o.Force, "force", false, "write over a file that exists")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be written, and write nothing")
	return cmd
}

func runExport(ctx context.Context, o *ExportOptions) error {
	write, err := o.writer()
	if err != nil {
		return err
	}
	return o.with(ctx, func(s hermes.Store) error {
		rows, err := o.rows(ctx, s)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return errors.New("no session fits: there is nothing to export")
		}
		if o.DryRun {
			messages := 0
			for _, r := range rows {
				messages += r.Messages
			}
			fmt.Fprintf(o.Out, "%s with %s would be written to %s.\n", plural(len(rows), "session"), plural(messages, "message"), o.To)
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

// writer chooses the format.
func (o *ExportOptions) writer() (func(w io.Writer, d document) error, error) {
	if o.Only != "" && o.Only != "user-prompts" {
		return nil, usage.Errorf("--only knows user-prompts, not %q", o.Only)
	}
	format := o.Format
	if format == "" {
		format = map[string]string{".md": "md", ".markdown": "md", ".html": "html", ".htm": "html"}[filepath.Ext(o.To)]
	}
	switch format {
	case "", "jsonl":
		return writeJSONL, nil
	case "md":
		return writeMarkdown, nil
	case "html":
		return writeHTML, nil
	case "trajectory", "trace":
		return writeTrajectory, nil
	}
	return nil, usage.Errorf("--format knows jsonl, md, html and trajectory, not %q", format)
}

func (o *ExportOptions) rows(ctx context.Context, s hermes.Store) ([]hermes.Session, error) {
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
	if f.After, err = moment(o.After, o.now()); err != nil {
		return nil, err
	}
	if f.Before, err = moment(o.Before, o.now()); err != nil {
		return nil, err
	}
	return s.ListSessions(ctx, f)
}

// into hands the func a file that takes its name when all is written, or the
// standard output.
func (o *ExportOptions) into(write func(io.Writer) error, sessions int) error {
	if o.To == "-" {
		w := bufio.NewWriter(o.Out)
		return errors.Join(write(w), w.Flush())
	}
	to, err := o.abs(o.To)
	if err != nil {
		return err
	}
	if _, err := os.Stat(to); err == nil && !o.Force {
		return fmt.Errorf("%s exists already: choose another name, or say --force to write over it", o.To)
	}
	file, err := os.CreateTemp(filepath.Dir(to), ".hermes-export-*")
	if err != nil {
		return fmt.Errorf("export to %s: %w", o.To, err)
	}
	defer os.Remove(file.Name()) // does nothing once it has its name
	w := bufio.NewWriter(file)
	if err := errors.Join(write(w), w.Flush(), file.Close()); err != nil {
		return fmt.Errorf("export to %s: %w", o.To, err)
	}
	if err := os.Rename(file.Name(), to); err != nil {
		return fmt.Errorf("export to %s: %w", o.To, err)
	}
	fmt.Fprintf(o.Out, "Wrote %s to %s.\n", plural(sessions, "session"), o.To)
	return nil
}

func (o *ExportOptions) one(ctx context.Context, s hermes.Store, id string, index int, write func(io.Writer, document) error, w io.Writer) error {
	row, err := s.FindSession(ctx, id)
	if err != nil {
		return err
	}
	list, err := s.Messages(ctx, id, hermes.Range{})
	if err != nil {
		return err
	}
	if o.Only != "" {
		list = prompts(list)
		row.System, row.Tools = "", nil
	}
	if o.Redact {
		redactAll(&row, list)
	}
	return write(w, document{Session: row, Messages: list, index: index})
}

// prompts are the messages of the person without what was added to them.
func prompts(list []hermes.Message) []hermes.Message {
	var kept []hermes.Message
	for _, m := range list {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			m.Parts = []hermes.Part{{Text: m.Visible()}}
			kept = append(kept, m)
		}
	}
	return kept
}

// redactAll takes secrets out of what a reader would see, and the opaque
// blocks that cannot be looked into.
func redactAll(row *hermes.Session, list []hermes.Message) {
	row.Title, row.System = redact.Text(row.Title), redact.Text(row.System)
	for i := range list {
		m := &list[i]
		for j := range m.Parts {
			m.Parts[j].Text = redact.Text(m.Parts[j].Text)
		}
		for j := range m.Calls {
			m.Calls[j].Arguments = redact.Text(m.Calls[j].Arguments)
			m.Calls[j].Signature = ""
		}
		for j := range m.Reasoning {
			m.Reasoning[j] = hermes.Reasoning{Text: redact.Text(m.Reasoning[j].Text), Wire: m.Reasoning[j].Wire}
		}
	}
}
