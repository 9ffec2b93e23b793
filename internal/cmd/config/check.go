package config

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
)

// CheckOptions are the flags of `config check`.
type CheckOptions struct {
	*factory.Factory
	Out  io.Writer
	JSON bool
}

// NewCheckCmd makes `config check`; tests replace its work with runF.
func NewCheckCmd(f *factory.Factory, runF func(*CheckOptions) error) *cobra.Command {
	o := &CheckOptions{Factory: f}
	if runF == nil {
		runF = runCheck
	}
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Check the settings; exit with status 1 if there is a problem",
		Example: "  hermes config check",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			return runF(o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print as JSON")
	return cmd
}

func runCheck(o *CheckOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	problems := c.Check()
	effective := 0
	for _, p := range problems {
		if p.Severity >= settings.Warning {
			effective++
		}
	}
	switch {
	case o.JSON:
		if err := factory.WriteJSON(o.Out, asJSON(problems)); err != nil {
			return err
		}
	case len(problems) == 0:
		fmt.Fprintln(o.Out, "No problems found.")
	default:
		printProblems(o.Out, problems)
	}
	if effective > 0 {
		return fmt.Errorf("problems in the settings: %d", effective)
	}
	return nil
}

type problemJSON struct {
	Severity string `json:"severity"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Key      string `json:"key,omitempty"`
	Text     string `json:"text"`
	Served   string `json:"served,omitempty"`
	Do       string `json:"do,omitempty"`
}

func asJSON(problems []settings.Problem) []problemJSON {
	out := make([]problemJSON, 0, len(problems))
	for _, p := range problems {
		severity := [...]string{"note", "warning", "error"}[p.Severity]
		out = append(out, problemJSON{severity, p.File, p.Line, p.Key, p.Text, p.Served, p.Do})
	}
	return out
}
