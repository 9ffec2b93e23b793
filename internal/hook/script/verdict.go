package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/text"
)

// Verdict is what a hook answered. The zero value changes nothing.
type Verdict struct {
	// Blocks refuses what the event is about, or for the end of a turn has it go on; Reason says why.
	Blocks bool
	Reason string
	// Allows says that the hook wants to allow a call itself, which it cannot.
	Allows bool
	// Asks has the user asked, with Reason.
	Asks bool
	// Arguments are those of the call that the hook changed, in the names that it read.
	Arguments map[string]any
	// Context is text for the model.
	Context string
	// Result replaces the result of a call; nil leaves it.
	Result *string
	// Ends says that the turn should end, and why.
	Ends string
	// Message is for the user.
	Message string
	// Unread says that something was answered that is not understood. For a guard, that is a failure.
	Unread bool
	// Failed is why the answer counts for nothing; nil if it counts.
	Failed error
}

// Bounds of what a hook may say, in bytes.
const (
	maxAnswer  = 1 << 20
	maxReason  = 4 << 10
	maxContext = 16 << 10
	maxStderr  = 400
)

// answer is what scripts print, in Hermes' form and in that of Claude Code.
type answer struct {
	Action   string         `json:"action"`
	Message  string         `json:"message"`
	Args     map[string]any `json:"args"`
	Context  string         `json:"context"`
	Result   *string        `json:"result"`
	Decision string         `json:"decision"`
	Reason   string         `json:"reason"`
	Input    map[string]any `json:"tool_input"`
	Continue *bool          `json:"continue"`
	Stop     string         `json:"stopReason"`
	System   string         `json:"systemMessage"`
	Specific struct {
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Updated  map[string]any  `json:"updatedInput"`
		Context  string          `json:"additionalContext"`
		Result   *string         `json:"updatedToolOutput"`
		Request  json.RawMessage `json:"decision"` // of PermissionRequest
	} `json:"hookSpecificOutput"`
}

// verdict reads what a hook said with an exit status, 0 for an answer of a service. Text that is no JSON is
// context for the events that add it.
func verdict(e event, status int, out, errs []byte) Verdict {
	said := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(out), []byte("\ufeff")))
	if status == 2 {
		reason := cmp.Or(reasonIn(said), text.Clip(strings.TrimSpace(string(errs)), maxStderr))
		if e.claude { // all of what it says to the model
			reason = cmp.Or(text.Clip(strings.TrimSpace(string(errs)), maxReason), reasonIn(said))
		}
		return Verdict{Blocks: true, Reason: cmp.Or(reason, "a hook refused it")}
	}
	if status != 0 {
		why := text.Clip(strings.TrimSpace(string(errs)), maxStderr)
		return Verdict{Failed: fmt.Errorf("it ended with status %d%s", status, after(": ", why))}
	}
	if len(said) == 0 {
		return Verdict{}
	}
	if said[0] != '{' {
		if e.at == turnStart || e.at == sessionStart {
			return Verdict{Context: clipped(string(said))}
		}
		return Verdict{Unread: true}
	}
	var a answer
	if err := json.Unmarshal(said, &a); err != nil {
		return Verdict{Failed: fmt.Errorf("its answer is no JSON that is understood (%v)", err)}
	}
	v := a.verdict(e)
	v.Unread = v.Unread || unread(e, said)
	return v
}

// unread reports whether an answer has nothing that is known, or something about a decision that is not
// where it is read.
func unread(e event, said []byte) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(said, &all) != nil {
		return true
	}
	known := 0
	for key := range all {
		switch key {
		case "action", "message", "args", "context", "result", "decision", "reason", "tool_input", "continue", "stopReason", "systemMessage", "hookSpecificOutput", "suppressOutput":
			known++
		case "permissionDecision", "permissionDecisionReason", "updatedInput":
			return true
		}
	}
	var specific map[string]json.RawMessage
	if raw, ok := all["hookSpecificOutput"]; ok && json.Unmarshal(raw, &specific) != nil {
		return true
	}
	for key := range specific {
		switch key {
		case "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "updatedToolOutput":
		case "decision":
			if e.at != beforeAsk {
				return true
			}
		default:
			return true
		}
	}
	return known == 0 && len(all) > 0
}

// verdict is what an answer means at an event: block outranks ask, and ask outranks a change.
func (a answer) verdict(e event) Verdict {
	s := a.Specific
	asked, err := a.requested(e)
	if err != nil {
		return Verdict{Failed: fmt.Errorf("its decision is not understood (%v)", err)}
	}
	v := Verdict{
		Reason:  text.Clip(cmp.Or(s.Reason, asked.Message, a.Reason, a.Message), maxReason),
		Context: clipped(cmp.Or(s.Context, a.Context)), Message: text.Clip(a.System, maxReason),
		Result: a.Result,
	}
	if s.Result != nil {
		v.Result = s.Result
	}
	var unknown error
	for _, word := range []string{a.Action, a.Decision, s.Decision, asked.Behavior} {
		switch word {
		case "":
		case "block", "deny", "reject":
			v.Blocks = true
		case "ask", "approve":
			v.Asks = v.Asks || word == "ask" || e.at == beforeTool && !e.claude // approve in Claude Code is its old word for allow
			v.Allows = v.Allows || word == "approve" && e.at == beforeAsk
		case "modify":
			v.Arguments = cmp2(a.Args, a.Input)
		case "continue":
			v.Blocks = v.Blocks || e.at == turnEnd // at the end of a turn it goes on
		case "allow", "defer", "none", "pass": // nothing is widened
			v.Allows = v.Allows || word == "allow" && e.at == beforeAsk
		default:
			unknown = fmt.Errorf("its decision %q is not known", text.Clip(word, 40))
		}
	}
	if unknown != nil && !v.Blocks {
		return Verdict{Failed: unknown}
	}
	if s.Updated != nil {
		v.Arguments = s.Updated
	}
	if a.Continue != nil && !*a.Continue {
		v.Ends = cmp.Or(text.Clip(a.Stop, maxReason), "a hook stopped the turn")
	}
	if asked.Interrupt && v.Blocks && e.at == beforeAsk {
		v.Ends = cmp.Or(v.Ends, v.Reason, "a hook refused a call and stopped the turn")
	}
	if a.Action == "modify" && v.Arguments == nil || a.Decision == "modify" && v.Arguments == nil {
		return Verdict{Failed: errors.New("it changes the arguments, and does not say to what")}
	}
	if v.Blocks && v.Reason == "" {
		v.Reason = "a hook refused it"
	}
	return v
}

// requested is the decision of a hook of PermissionRequest.
type requested struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message"`
	Interrupt bool   `json:"interrupt"`
}

// requested reads it; it is zero for other events.
func (a answer) requested(e event) (r requested, err error) {
	if e.at == beforeAsk && a.Specific.Request != nil {
		err = json.Unmarshal(a.Specific.Request, &r)
	}
	return r, err
}

func cmp2(a, b map[string]any) map[string]any {
	if a != nil {
		return a
	}
	return b
}

// reasonIn is the reason in an answer.
func reasonIn(said []byte) string {
	var a answer
	if len(said) == 0 {
		return ""
	}
	if said[0] != '{' || json.Unmarshal(said, &a) != nil {
		return text.Clip(string(said), maxReason)
	}
	return text.Clip(cmp.Or(a.Specific.Reason, a.Reason, a.Message), maxReason)
}

func clipped(s string) string {
	return text.Clip(strings.ToValidUTF8(strings.TrimSpace(s), "\ufffd"), maxContext)
}

func after(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}
