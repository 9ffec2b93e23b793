package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// waitingHooks lists the hooks that the user has not agreed to as they are.
func (o *Options) waitingHooks() (list []app.Hook) {
	for _, h := range o.App().Hooks(o.Run.Workspace.Dir) {
		if h.State == app.HookWaits || h.State == app.HookChanged {
			list = append(list, h)
		}
	}
	return list
}

// offerHooks asks once before a chat whether hooks that are new or have changed may run. With a no they do
// not, and the chat begins.
func (o *Options) offerHooks(ctx context.Context) error {
	list := o.waitingHooks()
	if cfg, err := o.App().Config(); err == nil && cfg.General().HooksAutoAccept {
		return o.acceptHooks(ctx)
	}
	if len(list) == 0 || o.attach != "" {
		return nil
	}
	if o.AcceptHooks || !o.Terminal() {
		return o.acceptHooks(ctx)
	}
	fmt.Fprintln(o.Out, "These hooks would run programs or send requests at events of your sessions:")
	for _, h := range list {
		event := text.VisibleName(cmp.Or(h.Identity.Event, h.Event)) // of a webhook with what it is told of
		if h.Identity.Form != "" {
			event += " (" + text.VisibleName(h.Identity.Form) + ")"
		}
		fmt.Fprintf(o.Out, "  %s  %s\n", event, strings.ReplaceAll(text.Visible(cmp.Or(h.Identity.Line, h.Line())), "\n", "\n    "))
		if h.Project != "" {
			fmt.Fprintf(o.Out, "    of the project %s\n", text.VisibleName(h.Project))
		}
		for _, path := range h.Changed {
			fmt.Fprintf(o.Out, "    changed since you agreed: %s\n", text.VisibleName(path))
		}
		if h.State == app.HookWaits {
			for _, f := range h.Identity.Files {
				fmt.Fprintf(o.Out, "    uses %s\n", text.VisibleName(f.Path))
			}
		}
	}
	switch err := o.Confirm(o.In, o.Out, "Let them run from now on, as they are?"); {
	case errors.Is(err, factory.ErrCanceled):
		fmt.Fprintln(o.Out, "They do not run. You are asked again at the next start.")
		return nil
	case err != nil:
		return err
	}
	return o.App().AgreeToHooks(ctx, "user", list...)
}

// acceptHooks agrees to the hooks as they are now if a flag or setting says so. Otherwise it says that they do not
// run, where no user can be asked.
func (o *Options) acceptHooks(ctx context.Context) error {
	list := slices.DeleteFunc(o.waitingHooks(), func(h app.Hook) bool { return h.Project != "" }) // only the user agrees to those
	switch cfg, err := o.App().Config(); {
	case len(list) == 0 || err != nil: // an error is reported where the configuration is needed
		return nil
	case o.AcceptHooks:
		return o.App().AgreeToHooks(ctx, "--accept-hooks", list...)
	case cfg.General().HooksAutoAccept:
		return o.App().AgreeToHooks(ctx, "hooks_auto_accept", list...)
	}
	fmt.Fprintf(o.Err, "hermes: %s not run: you have not agreed to %s in this version. Start `hermes` in a terminal to be asked, or use --accept-hooks.\n",
		text.Plural(len(list), "hook does", "hooks do"), map[bool]string{true: "it", false: "them"}[len(list) == 1])
	return nil
}
