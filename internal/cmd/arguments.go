package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hermes/internal/usage"
)

// tellUsage makes wrong arguments of any command an error of usage that says
// what is missing or too much, and how the command is called.
func tellUsage(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	if check := c.Args; check != nil && c.HasParent() {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return wrongArguments(c, args, err)
			}
			if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
				return usage.Errorf("%s is empty; it is called as: %s", wanted(c)[0], c.UseLine())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		tellUsage(sub)
	}
}

// wrongArguments puts what cobra refuses into words.
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
		return usage.Errorf("missing: %s; it is called as: %s", strings.Join(names[len(args):required], " "), c.UseLine())
	case c.HasSubCommands() && len(args) > 0:
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return usage.Errorf("there is no `%s %s`; did you mean `%s %s`?", c.CommandPath(), args[0], c.CommandPath(), near[0])
		}
		return usage.Errorf("there is no `%s %s`", c.CommandPath(), args[0])
	case len(args) > len(names):
		return usage.Errorf("too much: %s; it is called as: %s", strings.Join(args[len(names):], " "), c.UseLine())
	}
	return &usage.Error{Err: fmt.Errorf("%w; it is called as: %s", err, c.UseLine())}
}

// wanted are the arguments as the help names them. A name with a blank in it,
// such as NEW TITLE…, is one.
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

// flagError puts what is wrong with a flag into words that do not speak to Go
// programmers.
func flagError(err error) error {
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usage.Errorf("%s needs a value", flagName(e.GetFlag(), e.GetSpecifiedName()))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usage.Errorf("%s takes a %s, not %q", "--"+e.GetFlag().Name, kind(e.GetFlag().Value.Type()), e.GetValue())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() != "" {
		if letters := e.GetSpecifiedShortnames(); letters[0] >= '0' && letters[0] <= '9' || letters[0] == '.' {
			return usage.Errorf("-%s is a number below zero, which nothing here takes", letters)
		}
		return usage.Errorf("there is no flag -%s", e.GetSpecifiedName())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if strings.HasPrefix(err.Error(), "unknown shorthand") {
			return usage.Errorf("there is no flag -%s", e.GetSpecifiedName())
		}
		return usage.Errorf("there is no flag --%s", e.GetSpecifiedName())
	}
	return &usage.Error{Err: err}
}

// flagName is a flag as it was written.
func flagName(f *pflag.Flag, written string) string {
	if f == nil || len(written) > 1 {
		return "--" + written
	}
	return "-" + written
}

// kind names what a flag wants.
func kind(of string) string {
	switch of {
	case "int", "int64", "uint", "float64":
		return "number"
	case "bool":
		return "yes or no (true, false)"
	case "duration":
		return "time, such as 30s or 2h"
	}
	return of
}
