package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
	"hermes/internal/home"
)

// UseOptions are the arguments of `profile use`.
type UseOptions struct {
	base
	Out  io.Writer
	Name string
}

// NewUseCmd makes `profile use`; tests replace its work with runF.
func NewUseCmd(b base, runF func(*UseOptions) error) *cobra.Command {
	o := &UseOptions{base: b}
	if runF == nil {
		runF = runUse
	}
	return &cobra.Command{
		Use: "use NAME", Short: "Use a profile from now on", Args: cobra.ExactArgs(1),
		Example:           "  hermes profile use work\n  hermes profile use default",
		ValidArgsFunction: completeNames(b),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Name = cmd.OutOrStdout(), args[0]
			return runF(o)
		},
	}
}

func runUse(o *UseOptions) error {
	h, err := o.home()
	if err != nil {
		return err
	}
	p, err := existing(h, o.Name)
	if err != nil {
		return err
	}
	if err := stick(p); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Using profile %s from now on (%s).\n", p.Profile(), p.Path())
	return nil
}

// stick makes a profile the default for runs without -p.
func stick(p home.Dir) error {
	if p.Profile() == home.Default {
		if err := os.Remove(p.StickyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := p.Make(p.Root()); err != nil {
		return err
	}
	return atomicfile.Write(p.StickyFile(), []byte(p.Profile()+"\n"), atomicfile.Options{})
}
