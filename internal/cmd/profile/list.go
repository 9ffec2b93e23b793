package profile

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// ListOptions are the flags of `profile list`.
type ListOptions struct {
	base
	Out  io.Writer
	JSON bool
}

// NewListCmd makes `profile list`; tests replace its work with runF.
func NewListCmd(b base, runF func(*ListOptions) error) *cobra.Command {
	o := &ListOptions{base: b}
	if runF == nil {
		runF = runList
	}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List profiles; * is the current one", Args: cobra.NoArgs,
		Example: "  hermes profile list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print as JSON")
	return cmd
}

type rowJSON struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	InUse  bool   `json:"in_use"`
	Sticky bool   `json:"default"`
}

func runList(o *ListOptions) error {
	h, err := o.home()
	if err != nil {
		return err
	}
	names, err := h.Profiles()
	if err != nil {
		return err
	}
	sticky, err := h.Sub(h.Sticky())
	if err != nil {
		sticky, _ = h.Sub("")
	}
	var rows []rowJSON
	for _, name := range names {
		p, err := h.Sub(name)
		if err != nil {
			continue
		}
		rows = append(rows, rowJSON{name, p.Path(), name == h.Profile(), name == sticky.Profile()})
	}
	if o.JSON {
		e := json.NewEncoder(o.Out)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	for _, r := range rows {
		mark, note := " ", ""
		if r.InUse {
			mark = "*"
		}
		if r.Sticky && r.Name != "default" {
			note = "  (set by `hermes profile use`)"
		}
		fmt.Fprintf(o.Out, "%s %-16s %s%s\n", mark, r.Name, r.Path, note)
	}
	return nil
}
