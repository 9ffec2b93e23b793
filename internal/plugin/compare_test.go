package plugin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hermes/internal/plugin"
)

// TestWhatAnUpdateOffersMore: all that is new or different, and a guard that is gone; nothing else needs a look.
func TestWhatAnUpdateOffersMore(t *testing.T) {
	t.Parallel()
	base := plugin.Offer{
		Tools:    []plugin.Tool{{Name: "count", Description: "Counts.", Schema: json.RawMessage(`{"type":"object"}`), Effect: "none"}},
		Hooks:    []plugin.Hook{{Event: plugin.EventBeforeTool, Tools: "terminal", Guard: true}, {Event: plugin.EventTurnStart}},
		Sections: []plugin.Section{{Name: "a", Text: "Be kind."}}, Commands: []plugin.Command{{Name: "count", Help: "Count"}},
		MemoryCommands: []plugin.Command{{Name: "clear", Help: "Clear"}},
	}
	for name, c := range map[string]struct {
		change         func(o *plugin.Offer)
		changes, wider string
	}{
		"the same":          {func(o *plugin.Offer) {}, "", ""},
		"a description":     {func(o *plugin.Offer) { o.Tools[0].Description = "Counts all." }, "~ tool count", "~ tool count"},
		"an effect":         {func(o *plugin.Offer) { o.Tools[0].Effect = "" }, "~ tool count", "~ tool count"},
		"no tool":           {func(o *plugin.Offer) { o.Tools = nil }, "- tool count", ""},
		"a hook":            {func(o *plugin.Offer) { o.Hooks[1].Event = plugin.EventTurnEnd }, "- hook pre_llm_call, + hook post_llm_call", "+ hook post_llm_call"},
		"no hook":           {func(o *plugin.Offer) { o.Hooks = o.Hooks[:1] }, "- hook pre_llm_call", ""},
		"no guard":          {func(o *plugin.Offer) { o.Hooks = o.Hooks[1:] }, "- hook pre_tool_call terminal", "- hook pre_tool_call terminal"},
		"a weaker guard":    {func(o *plugin.Offer) { o.Hooks[0].Guard = false }, "~ hook pre_tool_call terminal", "~ hook pre_tool_call terminal"},
		"a section":         {func(o *plugin.Offer) { o.Sections[0].Text = "Be quick." }, "~ prompt a", "~ prompt a"},
		"a command":         {func(o *plugin.Offer) { o.Commands[0].Help = "Send" }, "~ command /count", "~ command /count"},
		"a memory command":  {func(o *plugin.Offer) { o.MemoryCommands[0].Name = "all" }, "- memory command clear, + memory command all", "+ memory command all"},
		"no memory command": {func(o *plugin.Offer) { o.MemoryCommands = nil }, "- memory command clear", ""},
	} {
		next := plugin.Offer{
			Tools: slices.Clone(base.Tools), Hooks: slices.Clone(base.Hooks), Sections: slices.Clone(base.Sections),
			Commands: slices.Clone(base.Commands), MemoryCommands: slices.Clone(base.MemoryCommands),
		}
		c.change(&next)
		changes, wider := strings.Join(base.Changes(next), ", "), strings.Join(base.Wider(next), ", ")
		if changes != c.changes || wider != c.wider || base.Same(next) != (changes == "") {
			t.Errorf("%s: changes %q, wider %q, same %v", name, changes, wider, base.Same(next))
		}
	}
}
