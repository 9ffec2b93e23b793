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
	"hermes/internal/text"
)

// DeleteOptions are the flags and arguments of `profile delete`.
type DeleteOptions struct {
	base
	In   io.Reader
	Out  io.Writer
	Name string
	Yes  bool
}

// NewDeleteCmd makes `profile delete`; tests replace its work with runF.
func NewDeleteCmd(b base, runF func(*DeleteOptions) error) *cobra.Command {
	o := &DeleteOptions{base: b}
	if runF == nil {
		runF = runDelete
	}
	cmd := &cobra.Command{
		Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a profile and everything in it",
		Example: "  hermes profile delete work",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeNames(b),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.In, o.Out, o.Name = cmd.InOrStdin(), cmd.OutOrStdout(), args[0]
			return runF(o)
		},
	}
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "skip the confirmation")
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
		return errors.New("the default profile cannot be deleted; it is the main home")
	}
	if o.used != nil {
		used, err := o.used(p)
		if err != nil {
			return err
		}
		if used {
			return fmt.Errorf("profile %s is in use by a running Hermes; quit that first", p.Profile())
		}
	}
	files, bytes := weigh(p.Path())
	if !o.Yes {
		fmt.Fprintf(o.Out, "Delete profile %s with %s (%s) in %s? Type its name to confirm: ", p.Profile(), text.Plural(files, "file", "files"), mib(bytes), p.Path())
		answer, _ := bufio.NewReader(o.In).ReadString('\n')
		if strings.TrimSpace(answer) != p.Profile() {
			if !strings.HasSuffix(answer, "\n") { // the input ended without Enter
				fmt.Fprintln(o.Out)
			}
			return errors.New("nothing was deleted; type the name of the profile, or use --yes")
		}
	}
	if sticky, err := h.Sub(h.Sticky()); err == nil && sticky == p {
		root, _ := h.Sub(home.Default)
		if err := stick(root); err != nil {
			return err
		}
		fmt.Fprintln(o.Out, "It was the current profile. The default profile is used now.")
	}
	if err := os.RemoveAll(p.Path()); err != nil {
		return fmt.Errorf("delete the profile: %w", err)
	}
	fmt.Fprintf(o.Out, "Deleted profile %s.\n", p.Profile())
	return nil
}
