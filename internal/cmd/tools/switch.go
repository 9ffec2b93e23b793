package tools

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"hermes/internal/config"
)

// SwitchOptions are the wishes of `tools enable` and `tools disable`.
type SwitchOptions struct {
	Deps
	Out      io.Writer
	Names    []string
	On       bool
	Platform string // "" is everywhere
}

// NewEnableCmd makes the verb; runF replaces its work in tests.
func NewEnableCmd(d Deps, runF func(context.Context, *SwitchOptions) error) *cobra.Command {
	return newSwitchCmd("enable NAME…", "Switch toolsets or single tools on", &SwitchOptions{Deps: d, On: true}, runF)
}

// NewDisableCmd makes the verb; runF replaces its work in tests.
func NewDisableCmd(d Deps, runF func(context.Context, *SwitchOptions) error) *cobra.Command {
	return newSwitchCmd("disable NAME…", "Switch toolsets or single tools off", &SwitchOptions{Deps: d}, runF)
}

func newSwitchCmd(use, short string, o *SwitchOptions, runF func(context.Context, *SwitchOptions) error) *cobra.Command {
	if runF == nil {
		runF = runSwitch
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Out, o.Names = cmd.OutOrStdout(), args
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Platform, "platform", "", "only there (cli, telegram, …); otherwise everywhere")
	return cmd
}

func runSwitch(ctx context.Context, o *SwitchOptions) error {
	platform := o.Platform
	if platform == "" {
		platform = cli
	}
	opened, done, err := o.Open(ctx, platform)
	if err != nil {
		return err
	}
	defer done()
	if _, unknown := opened.Catalogue.Expand(ctx, o.Names...); len(unknown) > 0 {
		return fmt.Errorf("there is no toolset or tool %q; `hermes tools` lists them", unknown[0])
	}
	c, err := o.Load()
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
		fmt.Fprintf(o.Out, "%s is %s%s from the next session on.\n", name, onOff(o.On), where(o.Platform))
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

// everywhere changes the list of what is off, which wins over every other; what
// is switched on also joins the list of what is on, if there is one.
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

// platform changes the list of one platform, which begins with what a session
// there has now.
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
			return fmt.Errorf("%s is off everywhere (agent.disabled_toolsets), which wins; first `hermes tools enable %s`", name, name)
		}
	}
	list = changed(list, o.Names, o.On)
	if len(list) == 0 {
		return fmt.Errorf("that would leave %s without any tool, and an empty list means the preset; switch off single toolsets instead", o.Platform)
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
