// Package learning holds the command `hermes learning`: list, add, merge, delete,
// approve, export and import learnings. A learning is an error of a tool and the fix for
// it.
//
// It reads flags and prints. What a learning may contain and which ones are equal
// is decided in internal/learning and internal/tool/learning. Start at NewCmd.
package learning

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
	learnings "hermes/internal/learning"
)

// Store is what the verbs work with.
type Store interface {
	Find(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error)
	Get(ctx context.Context, ids ...int64) ([]hermes.Learning, error)
	Admit(l hermes.Learning) (hermes.Learning, error)
	Keep(ctx context.Context, l hermes.Learning) (saved hermes.Learning, replaced string, err error)
	Waiting() ([]string, error)
	Proposals() ([]learnings.Proposal, error)
	Approve(ctx context.Context, id string) (saved hermes.Learning, replaced string, err error)
	Reject(id string) error
	Delete(ctx context.Context, by string, ids ...int64) ([]hermes.Learning, error)
	Merge(ctx context.Context, by string, ids ...int64) (hermes.Learning, error)
	Tidy(ctx context.Context, dry bool) (learnings.Report, error)
	Export(ctx context.Context, w io.Writer) (int, error)
	Import(ctx context.Context, r io.Reader, admit func(hermes.Learning) (hermes.Learning, error)) (int, error)
}

// noun makes the verbs.
type noun struct {
	*factory.Factory
	store func() Store
}

// NewCmd makes `hermes learning`. Without a verb it lists. A store replaces that of the
// app in tests.
func NewCmd(f *factory.Factory, s Store) *cobra.Command {
	n := noun{f, func() Store {
		if s != nil {
			return s
		}
		return f.App().Learned()
	}}
	list := n.list()
	cmd := &cobra.Command{
		Use: "learning", Short: "Show and change fixes learned from errors", Args: cobra.NoArgs, RunE: list.RunE,
		Long: "A learning is an error of a tool and its fix. When the error occurs again, the model is shown the fix.\n" +
			"Changes can be undone with `hermes undo`.",
		Example: "  hermes learning list\n  hermes learning add \"externally-managed-environment\" \"use uv\"",
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, n.show(), n.search(), n.add(), n.remove(), n.merge(), n.export(), n.importCmd())
	cmd.AddCommand(n.pending().Verbs()...)
	return cmd
}

// call is one use of a verb.
type call struct {
	Store
	out  io.Writer
	in   io.Reader
	args []string
}

func (c *call) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// verb makes a command that works with the store.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, work func(ctx context.Context, c *call) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		return work(cmd.Context(), &call{n.store(), cmd.OutOrStdout(), cmd.InOrStdin(), args})
	}}
}

// ids reads the numbers of learnings.
func (c *call) ids() ([]int64, error) {
	var out []int64
	for _, a := range c.args {
		id, err := strconv.ParseInt(strings.TrimPrefix(a, "#"), 10, 64)
		if err != nil || id < 1 {
			return nil, fmt.Errorf("%q is not the number of a learning; list them with `hermes learning list`", a)
		}
		out = append(out, id)
	}
	return out, nil
}

// view is a learning as JSON.
type view struct {
	ID      int64     `json:"id"`
	Tool    string    `json:"tool"`
	Class   string    `json:"error_type"`
	Pattern string    `json:"pattern"`
	Fix     string    `json:"fix"`
	Context string    `json:"context,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Session string    `json:"session,omitempty"`
	Created time.Time `json:"created_at"`
	Touched time.Time `json:"touched_at"`
	Seen    int       `json:"seen"`
	Shown   int       `json:"times_used"`
	Helped  int       `json:"helped"`
	Failed  int       `json:"failed"`
}

func viewOf(l hermes.Learning) view {
	return view{l.ID, l.Tool, l.Class, l.Pattern, l.Fix, l.Context, l.Tags, l.Session, l.Created, l.Touched, l.Seen, l.Shown, l.Helped, l.Failed}
}
