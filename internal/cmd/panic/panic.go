// Package panic holds the command `hermes panic`, which stops all work of a home at once and
// keeps it stopped. It sets the brake (package brake), asks every process that has a lease to
// halt, and ends those that do not answer. It reports what it checked only.
//
// Start at NewCmd; end.go ends processes.
package panic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/brake"
	"hermes/internal/cmd/factory"
	"hermes/internal/lease"
	"hermes/internal/protocol"
	"hermes/internal/protocol/router"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// haltTime is how long a process may take to stop all its work.
const haltTime = 10 * time.Second

// options are those of `hermes panic`.
type options struct {
	*factory.Factory
	*factory.Call
	Off, Status bool
	Reason      string
	// mayEnd reports whether processes that do not answer may be ended: not by an agent.
	mayEnd func() bool
}

// NewCmd makes the command. mayEnd reports whether this process may end others.
func NewCmd(f *factory.Factory, mayEnd func() bool) *cobra.Command {
	o := &options{Factory: f, mayEnd: mayEnd}
	c := factory.Verb("panic", "Stop all agents at once, until you say go on",
		"hermes panic\n  hermes panic --status\n  hermes panic --off", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
			o.Call = c
			return o.run(ctx)
		})
	c.Long = "Stop all turns, child sessions, jobs and background processes in every process of this home (or profile).\n" +
		"Nothing new begins until `hermes panic --off`. Messages that wait are kept."
	c.Flags().BoolVar(&o.Off, "off", false, "let work begin again")
	c.Flags().BoolVar(&o.Status, "status", false, "show whether everything is stopped")
	c.Flags().StringVar(&o.Reason, "reason", "", "what others are told")
	return c
}

func (o *options) run(ctx context.Context) error {
	b, err := o.App().Brake()
	if err != nil {
		return err
	}
	switch {
	case o.Off && o.Status:
		return usage.Errorf("use --off or --status, not both")
	case o.Status:
		return o.status(b)
	case o.Off:
		return o.lift(ctx, b)
	}
	if err := b.Set(brake.State{Since: o.Now(), By: fmt.Sprintf("terminal %d", os.Getpid()), Reason: text.Line(o.Reason, 200)}); err != nil {
		err = fmt.Errorf("new work could not be kept from beginning: %w", err)
		return errors.Join(err, o.halt(ctx))
	}
	err = o.halt(ctx) // before the row, for which a process that hangs may have to be waited
	if err = errors.Join(err, o.App().Record(ctx, audit.Row{Kind: audit.KindPanic, By: "user", Decision: "stopped", Note: text.Line(o.Reason, 200)})); err != nil {
		return err
	}
	fmt.Fprintln(o.Out, "Nothing begins until you run: hermes panic --off")
	return nil
}

func (o *options) status(b brake.File) error {
	if err := o.App().CheckHalt(); err != nil {
		fmt.Fprintln(o.Out, err)
		return nil
	}
	fmt.Fprintln(o.Out, "Not stopped: work may begin.")
	return nil
}

func (o *options) lift(ctx context.Context, b brake.File) error {
	was, err := b.Lift()
	if err != nil {
		return err
	}
	if _, set := b.State(); set {
		return fmt.Errorf("%s was removed and is there again; something else sets it", b)
	}
	if !was {
		fmt.Fprintln(o.Out, "Nothing was stopped.")
		return nil
	}
	fmt.Fprintln(o.Out, "Work may begin again. Messages that wait go with your next one, or with /continue.")
	return o.App().Record(ctx, audit.Row{Kind: audit.KindPanic, By: "user", Decision: "lifted"})
}

// halt stops every process that has a lease, and says of each what came of it.
func (o *options) halt(ctx context.Context) error {
	h, err := o.App().Home()
	if err != nil {
		return err
	}
	if _, err := os.Stat(h.Database()); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(o.Out, "No session was ever stored here, so nothing runs.")
		return nil
	}
	store, err := o.Reader(ctx)
	if err != nil {
		return fmt.Errorf("new work is stopped; which processes run could not be read, so they may go on: %w", err)
	}
	leases, err := store.Leases(ctx)
	if err != nil {
		return fmt.Errorf("new work is stopped; which processes run could not be read, so they may go on: %w", err)
	}
	var owners []hermes.Owner
	for _, l := range leases {
		to := hermes.Owner{Name: l.Owner, Address: l.Address}
		if !slices.Contains(owners, to) {
			owners = append(owners, to)
		}
	}
	results := make([]result, len(owners))
	var wg sync.WaitGroup
	for i, to := range owners {
		wg.Go(func() { results[i] = o.stop(ctx, h.Join("run"), to) })
	}
	wg.Wait()
	failed := 0
	for i, r := range results {
		if r.failed {
			failed++
		}
		where := router.Where(owners[i].Name, "")
		fmt.Fprintln(o.Out, strings.ToUpper(where[:1])+where[1:]+": "+r.text)
	}
	if len(owners) == 0 {
		fmt.Fprintln(o.Out, "No process runs a session.")
	}
	if failed > 0 {
		return &app.ExitError{Status: 1, Err: fmt.Errorf("%s may still run something; see above, and end it by hand", text.Plural(failed, "process", "processes"))}
	}
	return nil
}

// result is what came of one process.
type result struct {
	text   string
	failed bool
}

// stop asks a process to halt, and ends it if it does not.
func (o *options) stop(ctx context.Context, folder string, to hermes.Owner) result {
	if lease.Gone(folder)(to.Name) {
		return result{text: "has ended before"}
	}
	limited, cancel := context.WithTimeout(ctx, haltTime)
	defer cancel()
	var halted protocol.Halted
	err := errors.New("it has no address")
	if to.Address != "" {
		halted, err = o.App().HaltProcess(limited, to)
	}
	switch {
	case err == nil:
		return result{text: fmt.Sprintf("stopped %s in %s", text.Plural(halted.Turns, "turn", "turns"), text.Plural(halted.Sessions, "session", "sessions"))}
	case lease.Gone(folder)(to.Name):
		return result{text: "has ended meanwhile"}
	case !o.mayEnd():
		return result{"was not stopped: " + err.Error() + ". Its turns end with their next step", true}
	}
	if ended := end(ctx, folder, to.Name); ended != nil {
		return result{fmt.Sprintf("did not stop (%v), and was not ended: %v", err, ended), true}
	}
	return result{text: fmt.Sprintf("did not stop (%v), so it was ended", err)}
}
