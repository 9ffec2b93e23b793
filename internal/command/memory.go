package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes/internal/memory"
)

// Memory is what /memory needs.
type Memory interface {
	Has(t memory.Target) bool
	Read(t memory.Target) (memory.State, error)
	Proposals() ([]memory.Proposal, error)
	Waiting() ([]string, error)
	Approve(ctx context.Context, id string) (memory.State, error)
	Reject(id string) error
	Approval() bool
	SetApproval(ctx context.Context, on bool) error
}

const memoryUse = "use /memory, /memory pending, /memory approve ID|all, /memory reject ID|all, or /memory approval on|off"

func remembered(ctx context.Context, c *Call) (Result, error) {
	if c.Memory == nil {
		return Result{}, errors.New("memory is not available here")
	}
	verb, rest, _ := strings.Cut(c.Args, " ")
	rest = strings.TrimSpace(rest)
	w := pendingMemory(c.Memory)
	switch strings.ToLower(verb) {
	case "", "status", "list":
		return entries(c.Memory, w)
	case "pending":
		return waiting(c.Memory, w)
	case "approve":
		return w.decide(rest, func(id string) (string, error) {
			s, err := c.Memory.Approve(ctx, id)
			return fmt.Sprintf("Saved %s to %s [%s]. New sessions will see it.", code(id), s.Target, s.Usage()), err
		})
	case "reject":
		return w.decide(rest, drop(c.Memory.Reject))
	case "approval":
		return w.switched(ctx, rest)
	}
	return Result{}, errors.New(memoryUse)
}

func pendingMemory(m Memory) pendingChanges {
	return pendingChanges{
		noun: "memory", use: memoryUse, ids: m.Waiting, approval: m.Approval, set: m.SetApproval,
		on: "Memory changes need your approval.", off: "Memory changes are saved without asking.",
	}
}

func entries(m Memory, w pendingChanges) (Result, error) {
	var b strings.Builder
	for _, t := range memory.Targets() {
		if !m.Has(t) {
			continue
		}
		s, err := m.Read(t)
		if err != nil {
			return Result{}, err
		}
		fmt.Fprintf(&b, "**%s** [%s]\n\n", t, s.Usage())
		for _, e := range s.Entries {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(plain(e.Text), "\n", "\n  "))
		}
		b.WriteByte('\n')
	}
	ids, err := m.Waiting()
	if err != nil {
		return Result{}, err
	}
	b.WriteString(w.hint(len(ids)))
	if b.Len() == 0 {
		return Result{Text: "Memory is off."}, nil
	}
	return Result{Text: b.String()}, nil
}

func waiting(m Memory, w pendingChanges) (Result, error) {
	list, err := m.Proposals()
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return w.empty(), nil
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "- %s %s\n", code(p.ID), strings.ReplaceAll(plain(p.Describe()), "\n", "\n  "))
		if o := p.By.Provenance; o != "" {
			fmt.Fprintf(&b, "  proposed after reading %s\n", plain(o))
		}
	}
	b.WriteString("\nApprove one with `/memory approve ID`, reject it with `/memory reject ID`. Use `all` for all of them.")
	return Result{Text: b.String()}, nil
}
