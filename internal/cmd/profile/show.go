package profile

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes/internal/home"
	"hermes/internal/text"
)

// ShowOptions are the arguments of `profile show`.
type ShowOptions struct {
	base
	Out  io.Writer
	Name string // "" is the current one
}

// NewShowCmd makes `profile show`; tests replace its work with runF.
func NewShowCmd(b base, runF func(*ShowOptions) error) *cobra.Command {
	o := &ShowOptions{base: b}
	if runF == nil {
		runF = runShow
	}
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show the files and the size of a profile", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeNames(b),
		Example: "  hermes profile show work",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out = cmd.OutOrStdout()
			if len(args) > 0 {
				o.Name = args[0]
			}
			return runF(o)
		},
	}
}

func runShow(o *ShowOptions) error {
	h, err := o.home()
	if err != nil {
		return err
	}
	p := h
	if o.Name != "" {
		if p, err = existing(h, o.Name); err != nil {
			return err
		}
	}
	rows := [][2]string{
		{"profile", p.Profile()},
		{"home", p.Path()},
		{"settings", there(p.Config())},
		{"secrets", there(p.Env())},
		{"identity", there(p.Soul())},
		{"sessions", there(p.Database())},
	}
	if p.Profile() == home.Default {
		names, _ := p.Profiles()
		rows = append(rows, [2]string{"profiles", fmt.Sprint(len(names))})
	}
	files, bytes := weigh(p.Path())
	rows = append(rows, [2]string{"size", fmt.Sprintf("%s in %s", mib(bytes), text.Plural(files, "file", "files"))})
	for _, r := range rows {
		fmt.Fprintf(o.Out, "%-9s %s\n", r[0], r[1])
	}
	return nil
}
