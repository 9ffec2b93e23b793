package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/archive"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// searchOptions are the options of `hermes sessions search`.
type searchOptions struct {
	base
	Session   string
	Platforms []string
	Roles     []string
	After     string
	Before    string
	Limit     int
	Context   int
	Oldest    bool
	JSON      bool
}

func newSearch(f *factory.Factory) *cobra.Command {
	o := &searchOptions{base: base{Factory: f}}
	cmd := o.verb("search WORDS…", "Search messages", "hermes sessions search docker network\n  hermes sessions search \"\\\"exact phrase\\\" OR deploy*\" --after 7d", cobra.MinimumNArgs(1), o.run)
	cmd.Long = "Search messages for words. Use \"quotes\" for a phrase, word* for a prefix, and NOT and OR."
	flags := cmd.Flags()
	flags.StringVar(&o.Session, "session", "", "only in this session: id, title or latest")
	flags.StringSliceVar(&o.Platforms, "source", nil, "only sessions of these sources")
	flags.StringSliceVar(&o.Roles, "role", nil, "only messages of these roles: user, assistant, tool")
	flags.StringVar(&o.After, "after", "", "only messages since this `date` or age (2026-11-20, 7d)")
	flags.StringVar(&o.Before, "before", "", "only messages before this `date` or age")
	flags.IntVar(&o.Limit, "limit", 20, "maximum number of results")
	flags.IntVarP(&o.Context, "context", "C", 0, "number of messages to show before and after each")
	flags.BoolVar(&o.Oldest, "oldest", false, "sort by age, oldest first")
	flags.BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}

func (o *searchOptions) run(ctx context.Context) error {
	if o.Limit < 1 {
		return usage.Errorf("--limit must be at least 1")
	}
	query := strings.Join(o.Args, " ")
	q := hermes.SearchQuery{Text: query, Platforms: o.Platforms, Oldest: o.Oldest, Limit: o.Limit, Context: o.Context}
	for _, r := range o.Roles {
		q.Roles = append(q.Roles, hermes.Role(r))
	}
	var err error
	if q.After, err = moment(o.After, o.Now()); err != nil {
		return err
	}
	if q.Before, err = moment(o.Before, o.Now()); err != nil {
		return err
	}
	return o.reading(ctx, func(s hermes.Store) error {
		if o.Session != "" {
			row, err := o.resolve(ctx, s, o.Session)
			if err != nil {
				return err
			}
			q.Session = row.ID
		}
		hits, err := s.Search(ctx, q)
		if err != nil {
			return err
		}
		k := archive.Mask(o.Shown)
		for i, h := range hits {
			hits[i].Session.Title, hits[i].Snippet, hits[i].Message = k(h.Session.Title), k.Snippet(h.Snippet), k.Message(h.Message)
			k.Messages(h.Before)
			k.Messages(h.After)
		}
		if o.JSON {
			return factory.WriteJSON(o.Out, hitsJSON(hits))
		}
		if len(hits) == 0 {
			fmt.Fprintf(o.Err, "No messages found for %q. Try fewer words, or a prefix such as word*.\n", query)
		}
		for i, h := range hits {
			if i > 0 {
				fmt.Fprintln(o.Out)
			}
			o.hit(h)
		}
		return nil
	})
}

func (o *searchOptions) hit(h hermes.Hit) {
	fmt.Fprintln(o.Out, strings.TrimRight(fmt.Sprintf("%s  #%d  %s  %s  %s", h.Session.ID, h.Message.ID, h.Message.Role,
		ago(h.Message.Time, o.Now()), text.Line(h.Session.Title, 60)), " "))
	for _, m := range h.Before {
		fmt.Fprintf(o.Out, "    %s: %s\n", m.Role, text.Line(m.Visible(), 200))
	}
	fmt.Fprintln(o.Out, "    "+markup.Visible(h.Snippet))
	for _, m := range h.After {
		fmt.Fprintf(o.Out, "    %s: %s\n", m.Role, text.Line(m.Visible(), 200))
	}
}

// hitJSON is a search result as --json prints it.
type hitJSON struct {
	Session  string           `json:"session"`
	Title    string           `json:"title,omitempty"`
	Platform string           `json:"source,omitempty"`
	Snippet  string           `json:"snippet"`
	Message  hermes.Message   `json:"message"`
	Before   []hermes.Message `json:"before,omitempty"`
	After    []hermes.Message `json:"after,omitempty"`
}

func hitsJSON(hits []hermes.Hit) []hitJSON {
	list := make([]hitJSON, 0, len(hits))
	for _, h := range hits {
		list = append(list, hitJSON{Session: h.Session.ID, Title: h.Session.Title, Platform: h.Session.Platform,
			Snippet: h.Snippet, Message: h.Message, Before: h.Before, After: h.After})
	}
	return list
}

// moment parses a date, a date with time, or an age such as 90d. An empty text is the
// zero time.
func moment(written string, now time.Time) (time.Time, error) {
	t, err := text.Moment(written, now)
	if err != nil {
		return t, usage.Errorf("%w", err)
	}
	return t, nil
}
