package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"

	"hermes"
	"hermes/internal/text"
)

// sampleSession is the id of the session of samples.
const sampleSession = "sample"

// samples are calls with which hooks are tried.
var samples = [...]struct{ tool, arguments string }{
	{"terminal", `{"command":"echo hello"}`},
	{"write_file", `{"path":"example.txt","content":"hello\n"}`},
	{"patch", `{"path":"example.txt","old_string":"hello","new_string":"goodbye"}`},
	{"read_file", `{"path":"example.txt"}`},
	{"search_files", `{"pattern":"hello"}`},
}

// Try runs the hooks of an event with a sample of what happens then, and returns how each went; tool is the
// tool of the sample, "" the first one that a hook is about. Nothing is applied. Hooks to which the user has not
// agreed do not run.
func (s *Session) Try(ctx context.Context, name, tool string) ([]Ran, error) {
	e, known := eventOf(name)
	switch {
	case !known:
		return nil, fmt.Errorf("%q is not a known event; `hermes hooks list --events` lists them", name)
	case e.waits != "":
		return nil, fmt.Errorf("%s waits for %s: its hooks do not run yet", name, e.waits)
	}
	var all []Ran
	if s == nil {
		return nil, nil
	}
	for _, r := range s.runners {
		if r.set.Trusted != nil && !r.set.Trusted() {
			continue
		}
		for _, h := range r.set.Entries {
			if h.Event != name {
				continue
			}
			o, view, ok := s.sample(r, h, tool)
			if !ok {
				all = append(all, Ran{Entry: h, Skipped: "no tool of the sample fits " + strconv.Quote(h.Concern()) + ": name one with --tool"})
				continue
			}
			all = append(all, r.run(ctx, h, o, view))
		}
	}
	return all, nil
}

// sample is an occasion that a hook is about.
func (s *Session) sample(r *runner, h Entry, tool string) (Occasion, asked, bool) {
	o := Occasion{Event: h.Event, Session: hermes.SessionRef{ID: sampleSession, Dir: s.config.Dir, Platform: "cli", Turn: 1}}
	asks := hermes.Asked{ID: "sample", Approval: &hermes.ApprovalRequest{CallID: "sample", Tool: cmp.Or(tool, "terminal"), Subject: "echo hello"}}
	switch h.event.at {
	case questionOpen, questionClosed:
		about := approvalOccasion(o.Session, asks)
		if h.event.claude {
			for _, o := range []Occasion{notification(o.Session, asks), notification(o.Session, hermes.Asked{ID: "sample", Question: &hermes.Question{Text: "Which one?"}}), idleNotice(o.Session)} {
				if about = o; h.Matches(o.About) {
					break
				}
			}
		} else if h.event.at == questionClosed {
			about.Extra["decision"], about.Extra["allowed"] = hermes.AllowOnce, true
		}
		about.Event, about.Extra["sample"] = h.Event, true
		return about, asked{}, h.Matches(about.About)
	}
	if h.event.about != "tool" {
		o.Extra = map[string]any{"sample": true, "prompt": "Hello", "user_message": "Hello", "source": "startup", "trigger": "auto", "reason": "other", "stop_hook_active": false}
		return o, asked{}, true
	}
	o.Resolve = func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(s.config.Dir, path)
	}
	calls := samples[:]
	if tool != "" && !slices.ContainsFunc(calls, func(c struct{ tool, arguments string }) bool { return c.tool == tool }) {
		calls = []struct{ tool, arguments string }{{tool, "{}"}}
	}
	for _, c := range calls {
		if tool != "" && c.tool != tool {
			continue
		}
		o.Call = &hermes.Call{ID: "sample", Name: c.tool, Arguments: h.only.fitting(c.arguments, s.config.Home)}
		if h.event.at == afterTool {
			o.Result = &hermes.Result{Text: `{"output":"hello","exit_code":0}`, Failed: h.Event == "PostToolUseFailure"}
		}
		if view := o.views(h.event)[0]; o.concerns(r, h, view) {
			return o, view, true
		}
	}
	return o, asked{}, false
}

// fitting returns the arguments of a sample, changed so that they fit a rule.
func (c *condition) fitting(arguments, home string) json.RawMessage {
	key, value := c.example(home)
	var args map[string]any
	if key == "" || json.Unmarshal([]byte(arguments), &args) != nil || args[key] == nil {
		return json.RawMessage(arguments)
	}
	args[key] = value
	raw, err := json.Marshal(args)
	if err != nil {
		return json.RawMessage(arguments)
	}
	return raw
}

// Concern says what a hook is about, by its matcher and its rule; "" is everything.
func (h Entry) Concern() string {
	if h.If == "" {
		return h.Matcher
	}
	return strings.TrimSpace(h.Matcher + " if " + h.If)
}

// String says what a verdict means, for the user.
func (v Verdict) String() string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case v.Failed != nil:
		say("failed: %v", v.Failed)
	case v.Blocks:
		say("refuses: %s", v.Reason)
	case v.Asks:
		say("has the user asked: %s", v.Reason)
	}
	if v.Allows && !v.Blocks {
		say("allows, which has no effect: only the user does")
	}
	if len(v.Arguments) > 0 {
		raw, err := json.Marshal(v.Arguments)
		if err == nil {
			say("changes arguments: %s", text.Clip(string(raw), 500))
		}
	}
	if v.Result != nil {
		say("replaces the result: %s", text.OneLine(*v.Result, 500))
	}
	if v.Context != "" {
		say("adds for the model: %s", text.OneLine(v.Context, 500))
	}
	if v.Message != "" {
		say("tells the user: %s", v.Message)
	}
	if v.Ends != "" {
		say("ends the turn: %s", v.Ends)
	}
	if len(parts) == 0 {
		return "changes nothing"
	}
	return strings.Join(parts, "; ")
}

// Missing lists the programs of a hook that are not there: by their names in the folders of a PATH, or by a
// path. What depends on a variable is not looked for.
func (h Entry) Missing(dir, home string, path []string) (names []string) {
	if h.Command.Line == "" {
		return nil
	}
	p, err := known(h.Command, variables(dir, home))
	if err != nil {
		return nil
	}
	for _, name := range p.programs {
		places := p.paths(word{text: name}, dir)
		if !strings.ContainsAny(name, `/\`) {
			if interp.IsBuiltin(name) || slices.Contains(p.funcs, name) {
				continue
			}
			places = nil
			for _, folder := range path {
				places = append(places, filepath.Join(folder, name), filepath.Join(folder, name+".exe"))
			}
		}
		if !slices.ContainsFunc(places, there) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func there(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// mapped are the tools that have names of Claude Code, or that its hooks are about.
var mapped = [...]string{"terminal", "read_file", "write_file", "patch", "search_files", "delegate_task", "todo", "web_extract", "web_search"}

// onlyClaude are tools of Claude Code that nothing here is like.
var onlyClaude = [...]string{"MultiEdit", "NotebookEdit", "NotebookRead", "LS", "BashOutput", "KillShell", "KillBash", "ExitPlanMode", "EnterPlanMode", "SlashCommand", "Skill", "AskUserQuestion", "Agent", "LSP"}

// plainMatcher is a matcher of names, as most are.
var plainMatcher = regexp.MustCompile(`^[A-Za-z0-9_:-]+(\|[A-Za-z0-9_:-]+)*$`)

// Unmatched says which part of the matcher or of the rule fits nothing that there is; "" if nothing is wrong with them.
// tools are the names of the tools of sessions. Those of MCP servers come and go, so what may be for one of them
// is not judged.
func (h Entry) Unmatched(tools []string) string {
	return cmp.Or(h.unmatched(tools), h.noTool(tools))
}

// noTool says that the tool of the rule does not exist.
func (h Entry) noTool(tools []string) string {
	if h.only == nil {
		return ""
	}
	names := h.names(tools)
	if slices.ContainsFunc(h.only.tools, func(name string) bool { return strings.HasPrefix(name, "mcp__") || slices.Contains(names, name) }) {
		return ""
	}
	word := h.only.tools[0]
	if like := h.like(word, names); like != "" {
		return fmt.Sprintf("the key if names %s, which is no tool for this event; did you mean %s?", word, like)
	}
	return fmt.Sprintf("the key if names %s, which is no tool", word)
}

// unmatched says which part of the matcher fits nothing.
func (h Entry) unmatched(tools []string) string {
	if h.match == nil {
		return ""
	}
	names := h.names(tools)
	what := "no tool"
	if h.event.about != "tool" {
		what = "nothing: it is compared with " + strings.Join(names, " or ")
	}
	if !plainMatcher.MatchString(h.Matcher) {
		if slices.ContainsFunc(names, h.match.MatchString) || strings.Contains(h.Matcher, "__") || strings.Contains(h.Matcher, "mcp") {
			return ""
		}
		return fmt.Sprintf("the matcher %s fits %s", h.Matcher, what)
	}
	fits := false
	for word := range strings.SplitSeq(h.Matcher, "|") {
		switch {
		case slices.Contains(names, word) || strings.HasPrefix(word, "mcp__"):
			fits = true
		case h.event.claude && h.event.about == "tool" && slices.Contains(onlyClaude[:], word): // part of many lists
		case h.event.about == "tool":
			if like := h.like(word, names); like != "" {
				return fmt.Sprintf("the matcher names %s, which is no tool for this event; did you mean %s?", word, like)
			}
			return fmt.Sprintf("the matcher names %s, which is no tool", word)
		}
	}
	if fits {
		return ""
	}
	return fmt.Sprintf("the matcher %s fits %s", h.Matcher, what)
}

// names are what a matcher may be compared with.
func (h Entry) names(tools []string) (names []string) {
	switch h.event.about {
	case "source":
		return []string{"startup", "resume"}
	case "trigger":
		return []string{"auto"}
	case "reason":
		return []string{"other"}
	case "notification":
		return notificationKinds[:]
	}
	if h.event.name == "transform_terminal_output" {
		return []string{"terminal"}
	}
	for _, tool := range slices.Concat(mapped[:], tools) {
		if h.event.claude {
			if tool == "search_files" {
				names = append(names, "Glob")
			}
			tool = claudeName(tool, nil).name
		}
		names = append(names, tool)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// like is the name that a wrong one was meant to be: that of the other form, or a similar one.
func (h Entry) like(word string, names []string) string {
	for _, tool := range mapped {
		switch theirs := claudeName(tool, nil).name; {
		case h.event.claude && word == tool:
			return theirs
		case !h.event.claude && word == theirs:
			return tool
		}
	}
	if !h.event.claude && word == "Glob" {
		return "search_files"
	}
	return nearest(word, names)
}
