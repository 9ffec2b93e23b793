package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hermes/internal/usage"
)

// checkArguments makes wrong arguments of every command a usage error that says
// what is missing or unexpected, and shows the usage line.
func checkArguments(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	if check := c.Args; check != nil && c.HasParent() {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return wrongArguments(c, args, err)
			}
			if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
				return usage.Errorf("%s is empty; usage: %s", wanted(c)[0], c.UseLine())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		checkArguments(sub)
	}
}

// wrongArguments words an argument error of cobra for the user.
func wrongArguments(c *cobra.Command, args []string, err error) error {
	names := wanted(c)
	required := 0
	for _, n := range names {
		if !strings.HasPrefix(n, "[") {
			required++
		}
	}
	switch {
	case len(args) < required:
		return usage.Errorf("missing argument: %s; usage: %s", strings.Join(names[len(args):required], " "), c.UseLine())
	case c.HasSubCommands() && len(args) > 0:
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usage.Errorf("unknown command `%s %s`; did you mean `%s %s`?", c.CommandPath(), args[0], c.CommandPath(), near[0])
		}
		return usage.Errorf("unknown command `%s %s`", c.CommandPath(), args[0])
	case len(args) > len(names):
		return usage.Errorf("unexpected argument: %s; usage: %s", strings.Join(args[len(names):], " "), c.UseLine())
	}
	return &usage.Error{Err: fmt.Errorf("%w; usage: %s", err, c.UseLine())}
}

// wanted are the names of the arguments in the usage line. A name with a space,
// such as NEW TITLE…, counts as one.
func wanted(c *cobra.Command) []string {
	var names []string
	for _, word := range strings.Fields(c.Use)[1:] {
		last := len(names) - 1
		if last >= 0 && strings.HasPrefix(word, "TITLE…") && strings.HasSuffix(names[last], "NEW") {
			names[last] += " " + word
			continue
		}
		names = append(names, word)
	}
	return names
}

// flagError words a flag error for users who do not know Go.
func flagError(err error) error {
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usage.Errorf("%s needs a value", flagName(e.GetFlag(), e.GetSpecifiedName()))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usage.Errorf("%s needs %s, not %q", "--"+e.GetFlag().Name, kind(e.GetFlag().Value.Type()), e.GetValue())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() != "" {
		if letters := e.GetSpecifiedShortnames(); letters[0] >= '0' && letters[0] <= '9' || letters[0] == '.' {
			return usage.Errorf("-%s is negative; negative numbers are not accepted", letters)
		}
		return usage.Errorf("unknown flag -%s", e.GetSpecifiedName())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if strings.HasPrefix(err.Error(), "unknown shorthand") {
			return usage.Errorf("unknown flag -%s", e.GetSpecifiedName())
		}
		return usage.Errorf("unknown flag --%s", e.GetSpecifiedName())
	}
	return &usage.Error{Err: err}
}

// flagName is a flag as the user wrote it.
func flagName(f *pflag.Flag, written string) string {
	if f == nil || len(written) > 1 {
		return "--" + written
	}
	return "-" + written
}

// kind names the type of a flag's value.
func kind(of string) string {
	switch of {
	case "int", "int64", "uint", "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 30s or 2h"
	}
	return "a " + of
}
