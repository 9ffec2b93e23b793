package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/home"
)

// DeleteOptions are the wishes of `profile delete`.
type DeleteOptions struct {
	Deps
	In   io.Reader
	Out  io.Writer
	Name string
	Yes  bool
}

// NewDeleteCmd makes the verb; runF replaces its work in tests.
func NewDeleteCmd(d Deps, runF func(*DeleteOptions) error) *cobra.Command {
	o := &DeleteOptions{Deps: d}
	if runF == nil {
		runF = runDelete
	}
	cmd := &cobra.Command{
		Use: "delete NAME", Aliases: []string{"rm"}, Short: "Remove a profile with everything in it, for good",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeNames(d),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.In, o.Out, o.Name = cmd.InOrStdin(), cmd.OutOrStdout(), args[0]
			return runF(o)
		},
	}
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
	return cmd
}

func runDelete(o *DeleteOptions) error {
	h, err := o.home()
	if err != nil {
		return err
	}
	p, err := existing(h, o.Name)
	if err != nil {
		return err
	}
	if p.Profile() == home.Default {
		return errors.New("the default profile cannot be deleted; it is the home itself")
	}
	if o.Used != nil {
		used, err := o.Used(p)
		if err != nil {
			return err
		}
		if used {
			return fmt.Errorf("the profile %s is in use by a running Hermes; stop that first", p.Profile())
		}
	}
	files, bytes := weigh(p.Path())
	if !o.Yes {
		fmt.Fprintf(o.Out, "Delete the profile %s with %d files (%s) in %s? Type its name: ", p.Profile(), files, mib(bytes), p.Path())
		answer, _ := bufio.NewReader(o.In).ReadString('\n')
		if strings.TrimSpace(answer) != p.Profile() {
			if !strings.HasSuffix(answer, "\n") { // nobody is there to press Enter
				fmt.Fprintln(o.Out)
			}
			return errors.New("nothing was deleted; without a terminal use --yes")
		}
	}
	if sticky, err := h.Sub(h.Sticky()); err == nil && sticky == p {
		root, _ := h.Sub(home.Default)
		if err := stick(root); err != nil {
			return err
		}
		fmt.Fprintln(o.Out, "It was the profile in use; now that is the default one.")
	}
	if err := os.RemoveAll(p.Path()); err != nil {
		return fmt.Errorf("delete the profile: %w", err)
	}
	fmt.Fprintf(o.Out, "The profile %s is deleted.\n", p.Profile())
	return nil
}
