package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/cmd/factory"
)

func newRename(f *factory.Factory) *cobra.Command {
	o := &base{Factory: f}
	return o.verb("rename ID|TITLE|latest NEW TITLE…", "Rename a session", "hermes sessions rename latest \"fix the build\"", cobra.MinimumNArgs(2), o.rename)
}

func (o *base) rename(ctx context.Context) error {
	title, err := hermes.CleanTitle(strings.Join(o.Args[1:], " "))
	if err != nil {
		return err
	}
	return o.with(ctx, func(s hermes.Store) error {
		row, err := o.resolve(ctx, s, o.Args[0])
		if err != nil {
			return err
		}
		if err := s.UpdateSession(ctx, row.ID, hermes.SessionChange{Title: &title}); err != nil {
			return titleError(title, err)
		}
		if title == "" {
			fmt.Fprintf(o.Out, "%s has no title now.\n", row.ID)
			return nil
		}
		fmt.Fprintf(o.Out, "%s is now %q.\n", row.ID, title)
		return nil
	})
}

// titleError suggests another title if this one is taken.
func titleError(title string, err error) error {
	if errors.Is(err, hermes.ErrTitleTaken) {
		return fmt.Errorf("another session already has the title %q; choose another, such as %q: %w", title, hermes.NextTitle(title), err)
	}
	return err
}

// newMark makes a verb that sets one mark on sessions; marked says what they are then.
func newMark(f *factory.Factory, verb, short, marked string, change hermes.SessionChange) *cobra.Command {
	o := &base{Factory: f}
	return o.verb(verb+" ID|TITLE|latest…", short, "hermes sessions "+verb+" latest", cobra.MinimumNArgs(1), func(ctx context.Context) error {
		return o.with(ctx, func(s hermes.Store) error {
			for _, ref := range o.Args {
				row, err := o.resolve(ctx, s, ref)
				if err != nil {
					return err
				}
				if err := s.UpdateSession(ctx, row.ID, change); err != nil {
					return err
				}
				o.Say("%s is %s.", row.ID, marked)
			}
			return nil
		})
	})
}
