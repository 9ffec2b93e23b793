// Package logs holds the command `hermes logs`, which prints and follows the
// program's logs. It reads flags and formats records; internal/logfile knows the
// files and their format. Start at NewCmd.
package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/logfile"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// Options are the options of `hermes logs`.
type Options struct {
	*factory.Factory
	*factory.Call
	Log       string
	Lines     int
	Follow    bool
	JSON      bool
	Level     string
	Session   string
	Component string
	Since     string
}

// NewCmd makes the command.
func NewCmd(f *factory.Factory) *cobra.Command {
	o := &Options{Factory: f}
	cmd := factory.Verb("logs [agent|errors|list]", "Show the latest log records", "hermes logs\n  hermes logs errors --since 1h\n  hermes logs -f --level warn", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		o.Call, o.Log = c, logfile.Agent
		if len(c.Args) > 0 {
			o.Log = c.Args[0]
		}
		return o.run(ctx)
	})
	cmd.Long = "Show the latest records of a log, by default the agent log. A record must match all filters."
	cmd.ValidArgs = []string{logfile.Agent, logfile.Errors, "list"}
	flags := cmd.Flags()
	flags.IntVarP(&o.Lines, "lines", "n", 50, "number of records")
	flags.BoolVarP(&o.Follow, "follow", "f", false, "print new records until interrupted")
	flags.BoolVar(&o.JSON, "json", false, "print the records as stored, in JSON")
	flags.StringVar(&o.Level, "level", "", "minimum level: debug, info, warn or error")
	flags.StringVar(&o.Session, "session", "", "only this session (id or its beginning)")
	flags.StringVar(&o.Component, "component", "", "only this component: gateway, agent, tools, cli or cron")
	flags.StringVar(&o.Since, "since", "", "only records since this age (30m, 1h, 2d) or time (2026-11-20 15:04)")
	return cmd
}

func (o *Options) run(ctx context.Context) error {
	filter, err := o.filter()
	if err != nil {
		return err
	}
	h, err := o.App().Home()
	if err != nil {
		return err
	}
	folder := h.Logs()
	if o.Log == "list" {
		return o.list(folder)
	}
	if err := o.known(folder); err != nil {
		return err
	}
	entries, size, err := logfile.Last(folder, o.Log, max(o.Lines, 0), filter)
	if err != nil {
		return err
	}
	for _, e := range entries {
		o.show(e)
	}
	if !o.Follow {
		if len(entries) == 0 {
			fmt.Fprintln(o.Err, "No records. The logs are in "+folder+".")
		}
		return nil
	}
	tick, stop := o.Tick()
	defer stop()
	return logfile.Follow(ctx, folder, o.Log, size, tick, func(e logfile.Entry) {
		if filter.Match(e) {
			o.show(e)
		}
	})
}

// known refuses an unknown log, so that a typo does not look like an empty log.
func (o *Options) known(folder string) error {
	logs, err := logfile.List(folder)
	if err != nil {
		return err
	}
	names := []string{logfile.Agent, logfile.Errors}
	for _, l := range logs {
		names = append(names, l.Name)
	}
	if slices.Contains(names, o.Log) {
		return nil
	}
	return fmt.Errorf("there is no log %q; list them with `hermes logs list`", o.Log)
}

func (o *Options) filter() (logfile.Filter, error) {
	f := logfile.Filter{Session: o.Session, Component: o.Component}
	if o.Level != "" {
		var level slog.Level
		name := strings.ToUpper(o.Level)
		if name == "WARNING" {
			name = "WARN"
		}
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return f, usage.Errorf("invalid --level %q: use debug, info, warn or error", o.Level)
		}
		f.Level = level
	}
	var err error
	if f.Since, err = text.Moment(o.Since, o.Now()); err != nil {
		return f, usage.Errorf("--since: %w", err)
	}
	return f, nil
}

func (o *Options) list(folder string) error {
	logs, err := logfile.List(folder)
	if err != nil {
		return err
	}
	if len(logs) == 0 {
		fmt.Fprintln(o.Out, "No logs yet. They will be in "+folder+".")
		return nil
	}
	for _, l := range logs {
		fmt.Fprintf(o.Out, "%-10s %7.1f KB in %s, last %s\n", l.Name, float64(l.Bytes)/1024, text.Plural(l.Files, "file", "files"), l.Changed.Format("2006-01-02 15:04"))
	}
	fmt.Fprintln(o.Out, folder)
	return nil
}

// show prints a record on one line.
func (o *Options) show(e logfile.Entry) {
	if o.JSON || e.Time.IsZero() {
		fmt.Fprintln(o.Out, o.Mask(e.Raw))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-5s", e.Time.In(o.Now().Location()).Format("2006-01-02 15:04:05.000"), e.Level)
	if e.Session != "" {
		b.WriteString(" [" + e.Session + "]")
	}
	if e.Component != "" {
		b.WriteString(" " + e.Component + ":")
	}
	b.WriteString(" " + text.OneLine(e.Message, len(e.Message)))
	for _, f := range e.Fields {
		b.WriteString(" " + f.Name + "=" + quoted(f.Value))
	}
	fmt.Fprintln(o.Out, o.Mask(b.String()))
}

func quoted(value string) string {
	if value != "" && !strings.ContainsAny(value, " \"=\n\t\x1b") && text.OneLine(value, len(value)) == value {
		return value
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return text.OneLine(value, len(value))
	}
	return string(raw)
}
