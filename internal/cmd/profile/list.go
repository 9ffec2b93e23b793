package profile

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/home"
	"hermes/internal/text"
)

type rowJSON struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	InUse  bool   `json:"in_use"`
	Sticky bool   `json:"default"`
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := n.verb("list", "List profiles; * is the current one", "hermes profile list", cobra.NoArgs, func(c *call) error {
		names, err := c.home.Profiles()
		if err != nil {
			return err
		}
		sticky, err := c.home.Sub(c.home.Sticky())
		if err != nil {
			sticky, _ = c.home.Sub("")
		}
		var rows []rowJSON
		for _, name := range names {
			if p, err := c.home.Sub(name); err == nil {
				rows = append(rows, rowJSON{name, p.Path(), name == c.home.Profile(), name == sticky.Profile()})
			}
		}
		if asJSON {
			return factory.WriteJSON(c.Out, rows)
		}
		for _, r := range rows {
			mark, note := " ", ""
			if r.InUse {
				mark = "*"
			}
			if r.Sticky && r.Name != home.Default {
				note = "  (set by `hermes profile use`)"
			}
			c.Say("%s %-16s %s%s", mark, r.Name, r.Path, note)
		}
		return nil
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (n noun) show() *cobra.Command {
	cmd := n.verb("show [NAME]", "Show the files and the size of a profile", "hermes profile show work", cobra.MaximumNArgs(1), func(c *call) (err error) {
		p := c.home
		if len(c.Args) > 0 {
			if p, err = c.existing(c.Args[0]); err != nil {
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
		files, bytes := p.Weigh()
		rows = append(rows, [2]string{"size", fmt.Sprintf("%s in %s", text.Size(bytes), text.Plural(files, "file", "files"))})
		for _, r := range rows {
			c.Say("%-9s %s", r[0], r[1])
		}
		return nil
	})
	cmd.ValidArgsFunction = n.completeNames
	return cmd
}

func there(path string) string {
	if _, err := os.Stat(path); err != nil {
		return "none"
	}
	return path
}
