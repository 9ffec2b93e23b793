package permissions

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/permission"
)

// view is a permission as JSON.
type view struct {
	ID         string     `json:"id"`
	Tool       string     `json:"tool"`
	Key        string     `json:"key"`
	Subject    string     `json:"subject,omitempty"`
	Dir        string     `json:"dir,omitempty"`
	Platform   string     `json:"platform,omitempty"`
	Unattended bool       `json:"unattended"`
	By         string     `json:"by,omitempty"`
	Created    *time.Time `json:"created,omitempty"`
	Expires    *time.Time `json:"expires,omitempty"`
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List what runs without asking", Example: "  hermes permissions list", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, allowlist, err := n.App().Permissions()
			if err != nil {
				return err
			}
			list, problems, err := f.List()
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintln(cmd.ErrOrStderr(), "hermes:", p)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			show(cmd.OutOrStdout(), list, allowlist)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printJSON(out io.Writer, list []permission.Stored) error {
	views := []view{}
	for _, s := range list {
		views = append(views, view{s.ID, s.Tool, s.Key, s.Subject, s.Dir, s.Platform, s.Unattended, s.By, moment(s.Created), moment(s.Expires)})
	}
	return factory.WriteJSON(out, views)
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// show prints what each permission allows, where and until when.
func show(out io.Writer, list []permission.Stored, allowlist []string) {
	for _, s := range list {
		fmt.Fprintf(out, "%s  %s  %s\n", s.ID, markup.Visible(s.Tool), markup.Visible(s.Key))
		what := "every call with this risk"
		if s.Subject != "" {
			what = strings.ReplaceAll(markup.Visible(s.Subject), "\n", "\n            ")
		}
		fmt.Fprintf(out, "          %s\n          %s\n", what, strings.Join(limits(s), ", "))
	}
	for _, key := range allowlist {
		fmt.Fprintf(out, "-         any tool  %s\n          every call with this risk\n          from the setting command_allowlist, where the user can be asked\n", markup.Visible(key))
	}
	if len(list)+len(allowlist) == 0 {
		fmt.Fprintln(out, "There are no permissions. Answer \"always\" to an approval to make one.")
	}
}

// limits says where a permission holds and until when.
func limits(s permission.Stored) []string {
	var parts []string
	if s.Dir != "" {
		parts = append(parts, "in "+markup.Visible(s.Dir))
	} else {
		parts = append(parts, "in any folder")
	}
	if s.Platform != "" {
		parts = append(parts, "on "+markup.Visible(s.Platform))
	}
	if s.Unattended {
		parts = append(parts, "also unattended")
	}
	if !s.Created.IsZero() {
		parts = append(parts, "since "+s.Created.Local().Format(time.DateOnly))
	}
	if !s.Expires.IsZero() {
		parts = append(parts, "until "+s.Expires.Local().Format(time.DateTime))
	}
	return parts
}
