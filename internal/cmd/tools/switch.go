package tools

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/config"
)

// SwitchOptions are the flags and arguments of `tools enable` and `tools disable`.
type SwitchOptions struct {
	noun
	Out      io.Writer
	Names    []string
	On       bool
	Platform string // "" is all platforms
}

// NewEnableCmd makes `tools enable`; tests replace its work with runF.
func NewEnableCmd(n noun, runF func(context.Context, *SwitchOptions) error) *cobra.Command {
	return newSwitchCmd("enable NAME…", "Turn on toolsets or single tools", &SwitchOptions{noun: n, On: true}, runF)
}

// NewDisableCmd makes `tools disable`; tests replace its work with runF.
func NewDisableCmd(n noun, runF func(context.Context, *SwitchOptions) error) *cobra.Command {
	return newSwitchCmd("disable NAME…", "Turn off toolsets or single tools", &SwitchOptions{noun: n}, runF)
}

func newSwitchCmd(use, short string, o *SwitchOptions, runF func(context.Context, *SwitchOptions) error) *cobra.Command {
	if runF == nil {
		runF = runSwitch
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(1), Example: "  hermes tools " + strings.ReplaceAll(use, "NAME…", "terminal"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Names = cmd.OutOrStdout(), args
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Platform, "platform", "", "change only this platform (cli, telegram, …); default is all")
	return cmd
}

func runSwitch(ctx context.Context, o *SwitchOptions) error {
	platform := o.Platform
	if platform == "" {
		platform = cli
	}
	opened, err := o.open(platform)
	if err != nil {
		return err
	}
	if _, unknown := opened.Catalogue.Expand(ctx, o.Names...); len(unknown) > 0 {
		return fmt.Errorf("unknown toolset or tool %q; list them with `hermes tools`", unknown[0])
	}
	c, err := o.Config()
	if err != nil {
		return err
	}
	if o.Platform != "" {
		err = o.platform(ctx, c, opened)
	} else {
		err = o.everywhere(ctx, c)
	}
	if err != nil {
		return err
	}
	for _, name := range o.Names {
		fmt.Fprintf(o.Out, "Turned %s %s%s for new sessions.\n", onOff(o.On), name, where(o.Platform))
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func where(platform string) string {
	if platform == "" {
		return ""
	}
	return " on " + platform
}

// everywhere changes the list of disabled names, which wins over every other list.
// Enabled names are also added to the list of enabled ones, if there is one.
func (o *SwitchOptions) everywhere(ctx context.Context, c *config.Config) error {
	off := c.Agent().DisabledToolsets
	if err := put(ctx, c, "agent.disabled_toolsets", off, changed(off, o.Names, !o.On)); err != nil {
		return err
	}
	on := c.General().Toolsets
	if !o.On || len(on) == 0 {
		return nil
	}
	return put(ctx, c, "toolsets", on, changed(on, o.Names, true))
}

// platform changes the list of one platform. A new list starts with the toolsets
// that a session on it has now.
func (o *SwitchOptions) platform(ctx context.Context, c *config.Config, opened Opened) error {
	was := c.PlatformToolsets()[o.Platform]
	list := was
	if len(list) == 0 {
		set, err := opened.Catalogue.Select(ctx, opened.Selection)
		if err != nil {
			return err
		}
		for _, s := range opened.Catalogue.States(ctx) {
			if len(selected(set, s.Name)) > 0 {
				list = append(list, s.Name)
			}
		}
	}
	off := c.Agent().DisabledToolsets
	for _, name := range o.Names {
		if o.On && slices.Contains(off, name) {
			return fmt.Errorf("%s is off on all platforms (agent.disabled_toolsets); first run `hermes tools enable %s`", name, name)
		}
	}
	list = changed(list, o.Names, o.On)
	if len(list) == 0 {
		return fmt.Errorf("%s would have no tools, and an empty list means the preset; turn off fewer toolsets", o.Platform)
	}
	return put(ctx, c, "platform_toolsets."+o.Platform, was, list)
}

func changed(list, names []string, in bool) []string {
	out := slices.Clone(list)
	for _, name := range names {
		out = slices.DeleteFunc(out, func(have string) bool { return have == name && !in })
		if in && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// put writes a list if it differs.
func put(ctx context.Context, c *config.Config, key string, was, list []string) error {
	if slices.Equal(was, list) {
		return nil
	}
	_, err := c.Put(ctx, key, list)
	return err
}
