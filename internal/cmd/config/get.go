package config

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	settings "hermes/internal/config"
	"hermes/internal/redact"
	"hermes/internal/yamledit"
)

// GetOptions are the flags and arguments of `config get`.
type GetOptions struct {
	*factory.Factory
	Out, Err io.Writer
	Key      string
	JSON     bool
	Reveal   bool
}

// NewGetCmd makes `config get`; tests replace its work with runF.
func NewGetCmd(f *factory.Factory, runF func(*GetOptions) error) *cobra.Command {
	o := &GetOptions{Factory: f}
	if runF == nil {
		runF = runGet
	}
	cmd := &cobra.Command{
		Use:               "get KEY",
		Short:             "Print the value of a setting",
		Example:           "  hermes config get agent.max_turns",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Err, o.Key = cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0]
			return runF(o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&o.Reveal, "reveal", false, "print a secret unmasked")
	return cmd
}

func runGet(o *GetOptions) error {
	c, err := o.Config()
	if err != nil {
		return err
	}
	printProblems(o.Err, c.FileProblems())
	if settings.IsVariable(o.Key) {
		return o.variable(c)
	}
	entries, err := below(c, o.Key)
	if err != nil {
		return err
	}
	if !o.Reveal && len(entries) == 1 && entries[0].Secret {
		fmt.Fprintln(o.Err, "note: this is a secret; use --reveal to print it")
	}
	if len(entries) == 1 && entries[0].NoEffect != "" {
		fmt.Fprintf(o.Err, "note: %s has %s\n", entries[0].Key, entries[0].NoEffect)
	}
	value := o.value(entries, o.Key)
	if o.JSON {
		return factory.WriteJSON(o.Out, value)
	}
	if m, ok := value.(map[string]any); ok && len(m) == 0 {
		return fmt.Errorf("%s is not set", o.Key)
	}
	fmt.Fprintln(o.Out, text(value))
	return nil
}

func (o *GetOptions) variable(c *settings.Config) error {
	value, ok := c.LookupEnv(o.Key)
	if !ok {
		return fmt.Errorf("%s is not set in the environment or in %s", o.Key, c.Home().Env())
	}
	if redact.SecretName(o.Key) && !o.Reveal {
		fmt.Fprintln(o.Err, "note: this is a secret; use --reveal to print it")
		value = redact.Mask(value)
	}
	if o.JSON {
		return factory.WriteJSON(o.Out, value)
	}
	fmt.Fprintln(o.Out, value)
	return nil
}

// value is the value of a single entry, or the entries of a section as a tree.
func (o *GetOptions) value(entries []settings.Entry, key string) any {
	shown := settings.Entry.Masked
	if o.Reveal {
		shown = func(e settings.Entry) any { return e.Value }
	}
	if len(entries) == 1 && !strings.HasPrefix(entries[0].Key, key+".") {
		return shown(entries[0])
	}
	var at any = tree(entries, shown)
	path, err := yamledit.Split(key)
	if err != nil {
		return at
	}
	for _, name := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return at
		}
		if m[name] == nil {
			return map[string]any{}
		}
		at = m[name]
	}
	return at
}
