package chat

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/protocol"
	"hermes/internal/protocol/router"
	"hermes/internal/text"
)

// NewAttachCmd makes `hermes attach`, which joins a session that another process runs.
func NewAttachCmd(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:     "attach [SESSION]",
		Short:   "Join a session that is open in another terminal",
		Example: "  hermes attach\n  hermes attach \"fix the build\"",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.enter(); err != nil {
				return err
			}
			return o.attachTo(c.Context(), strings.Join(args, ""))
		},
	}
}

// attachTo joins the session that a reference names, else the one that runs; of several the
// user chooses one.
func (o *Options) attachTo(ctx context.Context, ref string) error {
	if !factory.IsTerminal(o.In) || !factory.IsTerminal(o.Out) {
		return errors.New("`hermes attach` needs a terminal: run it in one, or give the session its next task with `hermes --resume` when it is closed there")
	}
	client := o.App().Client(nil)
	if ref == "" {
		id, err := o.running(ctx, client)
		if err != nil || id == "" {
			return err
		}
		ref = id
	}
	e := client.Elsewhere(ctx, ref)
	if e == nil {
		return o.notRunning(ctx, ref)
	}
	if e.Lease.Address == "" {
		return e
	}
	o.attach, o.attachedIn = e.Session, e.Where
	return o.runChat(ctx, "")
}

// notRunning is the error of attaching to a session that no other process runs.
func (o *Options) notRunning(ctx context.Context, ref string) error {
	store, err := o.Reader(ctx)
	if err != nil {
		return err
	}
	row, err := store.FindSession(ctx, ref)
	if err != nil {
		return o.notOpen(err, ref)
	}
	return fmt.Errorf("session %s is not open in another terminal; resume it with `hermes --resume %s`", row.ID, row.ID)
}

// running returns the session that another process runs; of several, the one that the user
// chooses, or "" for none.
func (o *Options) running(ctx context.Context, client protocol.Client) (string, error) {
	list, err := client.Sessions(ctx, protocol.Filter{Live: true, Archived: true, Limit: -1})
	if err != nil {
		return "", err
	}
	var items []string
	var running []protocol.SessionInfo
	now := o.Now()
	for _, s := range list {
		if s.Running != nil && !s.Running.Here && s.Running.Address != "" {
			running = append(running, s)
			items = append(items, line(s, now))
		}
	}
	switch {
	case len(running) == 0:
		return "", errors.New("no session is open in another terminal; start one with `hermes`")
	case len(running) == 1:
		return running[0].ID, nil
	case o.Choose == nil:
		return "", fmt.Errorf("several sessions are open; name one of them:\n  hermes attach %s", strings.Join(items, "\n  hermes attach "))
	}
	i, err := o.Choose("Attach to", items, -1)
	if err != nil || i < 0 {
		return "", err
	}
	return running[i].ID, nil
}

// line describes a running session in a list.
func line(s protocol.SessionInfo, now time.Time) string {
	parts := []string{s.ID, router.Where(s.Running.Owner, s.Platform)}
	switch {
	case s.Running.Questions > 0:
		parts = append(parts, "asks you")
	case s.Running.State != "":
		parts = append(parts, string(s.Running.State))
	}
	if s.Title != "" {
		parts = append(parts, text.Line(s.Title, 50))
	}
	if idle := now.Sub(s.Active); !s.Active.IsZero() && idle >= time.Minute {
		parts = append(parts, fmt.Sprintf("last message %s ago", idle.Round(time.Minute)))
	}
	return strings.Join(parts, "  ")
}

// offer asks whether to attach to the session to resume, if another process runs it. The error
// of a no says where the session runs.
func (o *Options) offer(ctx context.Context, client explained) error {
	if o.Resume == "" && !o.asked.carryOn {
		return nil
	}
	ref, err := o.resume(ctx)
	if err != nil || ref == "" {
		return nil // reported where it is resumed
	}
	e := client.Elsewhere(ctx, ref)
	switch {
	case e == nil:
		return nil
	case e.Lease.Address == "":
		return e
	}
	fmt.Fprintf(o.Out, "This session is open in %s. Attach to it? [Y/n] ", e.Where)
	answer, err := bufio.NewReader(o.In).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "" && answer != "y" && answer != "yes" {
		return e
	}
	o.attach, o.attachedIn = e.Session, e.Where
	return nil
}

// goodbye says how to get back to a session.
func (o *Options) goodbye(client explained, id string) {
	id = cmp.Or(id, o.attach)
	if id == "" {
		return
	}
	if e := client.Elsewhere(context.Background(), id); e != nil {
		fmt.Fprintf(o.Out, "The session goes on in %s. Attach to it again with: hermes attach %s\n", e.Where, e.Session)
		return
	}
	fmt.Fprintf(o.Out, "Resume this session with: hermes --resume %s\n", id)
}
