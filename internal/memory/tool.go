package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"hermes"
)

//go:embed memory.md
var toolDoc string

//go:embed guide.md
var guideDoc string

// Guide returns the prompt's section about using memory, in addition to the
// tool's description.
func Guide() string { return strings.TrimSpace(guideDoc) }

type toolArgs struct {
	Target     Target      `json:"target" enum:"memory,user"`
	Action     string      `json:"action,omitempty" enum:"add,replace,remove,read"`
	Content    string      `json:"content,omitempty"`
	OldText    string      `json:"old_text,omitempty"`
	Operations []Operation `json:"operations,omitempty"`
}

// report is a result of the tool.
type report struct {
	Success bool     `json:"success"`
	Error   string   `json:"error,omitempty"`
	Full    bool     `json:"full,omitempty"`
	Pending string   `json:"staged,omitempty"`
	Note    string   `json:"note,omitempty"`
	Target  Target   `json:"target,omitempty"`
	Usage   string   `json:"usage,omitempty"`
	Entries []string `json:"entries,omitempty"`
	Current []string `json:"current_entries,omitempty"`
	Evicted []string `json:"evicted_entries,omitempty"`
	Archive string   `json:"archive,omitempty"`
}

func (b *File) tool() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name: "memory", Description: strings.TrimSpace(toolDoc), Effect: hermes.EffectUnknown,
		ReadsOnly: reads, Trusted: true, CanPropose: true,
		Persists: func(arguments json.RawMessage) string {
			if reads(arguments) || b.Approval() { // a pending change needs no second approval
				return ""
			}
			return "memory"
		},
	}, b.run)
}

// reads reports whether a call of the tool only reads.
func reads(arguments json.RawMessage) bool {
	var a toolArgs
	return json.Unmarshal(arguments, &a) == nil && a.Action == "read" && len(a.Operations) == 0
}

func (b *File) run(ctx context.Context, c *hermes.Call, in toolArgs) (hermes.Result, error) {
	who := c.Host.Session()
	if who.Depth > 0 {
		return hermes.Result{}, errors.New("a subagent has no memory; put what is worth keeping in your report")
	}
	target, err := ParseTarget(string(in.Target))
	if err != nil {
		return hermes.Result{}, err
	}
	b = b.For(who)
	if in.Action == "read" && len(in.Operations) == 0 {
		s, err := b.Read(target)
		if err != nil {
			return hermes.Result{}, err
		}
		return hermes.JSONResult(report{Success: true, Target: target, Usage: s.Usage(), Entries: s.Texts()})
	}
	operations := in.Operations
	if in.Action != "" && in.Action != "read" {
		operations = append([]Operation{{in.Action, in.Content, in.OldText}}, slices.Clone(operations)...)
	}
	by := Origin{By: "agent", Session: who.ID, Turn: who.Turn, Platform: who.Platform, Provenance: who.Provenance}
	if b.Approval() || c.Propose {
		what := "memory changes"
		if c.Propose {
			what = "memory changes in a session that has read untrusted text"
		}
		p, err := b.Propose(ctx, target, operations, by)
		if err != nil {
			return b.refusal(err)
		}
		return hermes.JSONResult(report{
			Success: true, Pending: p.ID, Target: target,
			Note: "Not stored yet: the user approves " + what + ". It waits as " + p.ID + " (/memory approve " + p.ID + ").",
		})
	}
	s, err := b.Change(ctx, target, operations, by)
	if err != nil {
		return b.refusal(err)
	}
	r := report{Success: true, Note: strings.Join(s.Notes, "; "), Target: target, Usage: s.Usage(), Entries: s.Texts(), Evicted: s.Evicted}
	if len(s.Evicted) > 0 {
		r.Archive = "ARCHIVE.jsonl"
	}
	return hermes.JSONResult(r)
}

// refusal returns a failed result that shows the state, so that the model can
// correct its next call.
func (b *File) refusal(err error) (hermes.Result, error) {
	var refused *Refused
	if !errors.As(err, &refused) {
		return hermes.Result{}, err
	}
	out := report{Error: refused.Reason, Full: refused.Full}
	if refused.State.Target != "" {
		out.Target, out.Usage, out.Current = refused.State.Target, refused.State.Usage(), refused.State.Texts()
	}
	r, err := hermes.JSONResult(out)
	r.Failed = true
	return r, err
}
