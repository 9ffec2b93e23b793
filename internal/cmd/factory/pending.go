package factory

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// Waiting is one kind of what waits for the user's approval.
type Waiting interface {
	// Waiting returns the ids of all.
	Waiting() ([]string, error)
	// Reject discards one.
	Reject(id string) error
}

// Pending makes the verbs of a noun for what waits for the user's approval.
type Pending[T Waiting] struct {
	Open func() (T, error)
	// List describes each of them. Approve accepts one and says what came of it.
	List    func(on T) ([]string, error)
	Approve func(ctx context.Context, c *Call, on T, id string) error

	// The words of the help: the noun, such as memory; what waits, such as changes, and
	// whose it is; what an approval does, such as "Apply"; and an id for examples.
	Noun, What, Whose, Do, ID string
}

// Verbs makes the verbs pending, approve and reject. The last two take ids or "all", and go
// on after one that fails.
func (p Pending[T]) Verbs() []*cobra.Command {
	return []*cobra.Command{
		VerbOn(p.Open, "pending", "List "+p.What+p.Whose+" that wait for your approval", "hermes "+p.Noun+" pending", cobra.NoArgs, func(_ context.Context, c *Call, on T) error {
			list, err := p.List(on)
			for _, text := range list {
				c.Say("%s", text)
			}
			if err == nil && len(list) == 0 {
				c.Say("No pending %s.", p.What)
			}
			return err
		}),
		p.verb("approve", p.Do, p.Approve),
		p.verb("reject", "Discard", func(_ context.Context, c *Call, on T, id string) error {
			err := on.Reject(id)
			if err == nil {
				c.Say("Rejected %s.", id)
			}
			return err
		}),
	}
}

func (p Pending[T]) verb(name, does string, do func(ctx context.Context, c *Call, on T, id string) error) *cobra.Command {
	return VerbOn(p.Open, name+" ID…|all", does+" pending "+p.What, "hermes "+p.Noun+" "+name+" "+p.ID, cobra.MinimumNArgs(1), func(ctx context.Context, c *Call, on T) error {
		ids := c.Args
		if len(ids) == 1 && ids[0] == "all" {
			var err error
			if ids, err = on.Waiting(); err != nil {
				return err
			}
			if len(ids) == 0 {
				c.Say("No pending %s.", p.What)
			}
		}
		var faults []error
		for _, id := range ids {
			faults = append(faults, do(ctx, c, on, id))
		}
		return errors.Join(faults...)
	})
}
