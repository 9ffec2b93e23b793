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
	switch strings.ToLower(verb) {
	case "", "status", "list":
		return entries(c.Memory)
	case "pending":
		return waiting(c.Memory)
	case "approve":
		return decide(c.Memory, rest, func(id string) (string, error) {
			s, err := c.Memory.Approve(ctx, id)
			return fmt.Sprintf("%s is stored in %s [%s]; prompts show it from the next session on.", code(id), s.Target, s.Usage()), err
		})
	case "reject":
		return decide(c.Memory, rest, func(id string) (string, error) {
			return code(id) + " is dropped.", c.Memory.Reject(id)
		})
	case "approval":
		return approval(ctx, c.Memory, strings.ToLower(rest))
	}
	return Result{}, errors.New(memoryUse)
}

func entries(m Memory) (Result, error) {
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
	if len(ids) > 0 {
		fmt.Fprintf(&b, "%d waiting for you: `/memory pending`\n", len(ids))
	}
	if b.Len() == 0 {
		return Result{Text: "Memory is switched off."}, nil
	}
	return Result{Text: b.String()}, nil
}

func waiting(m Memory) (Result, error) {
	list, err := m.Proposals()
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return Result{Text: "No changes of memory are waiting."}, nil
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "- %s %s\n", code(p.ID), strings.ReplaceAll(plain(p.Describe()), "\n", "\n  "))
	}
	b.WriteString("\n`/memory approve ID` stores one, `/memory reject ID` drops it; `all` takes all.")
	return Result{Text: b.String()}, nil
}

// decide does the same with one proposal or all of them.
func decide(m Memory, which string, do func(id string) (string, error)) (Result, error) {
	ids := strings.Fields(which)
	if len(ids) == 0 {
		return Result{}, errors.New(memoryUse)
	}
	if which == "all" {
		var err error
		if ids, err = m.Waiting(); err != nil {
			return Result{}, err
		}
	}
	var lines []string
	for _, id := range ids {
		line, err := do(id)
		if err != nil {
			return Result{Text: strings.Join(lines, "\n")}, err
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return Result{Text: "No changes of memory are waiting."}, nil
	}
	return Result{Text: strings.Join(lines, "\n\n")}, nil
}

func approval(ctx context.Context, m Memory, to string) (Result, error) {
	switch to {
	case "on", "off":
		if err := m.SetApproval(ctx, to == "on"); err != nil {
			return Result{}, err
		}
	case "":
	default:
		return Result{}, errors.New(memoryUse)
	}
	if m.Approval() {
		return Result{Text: "Changes of memory wait for your approval."}, nil
	}
	return Result{Text: "Changes of memory are stored without asking."}, nil
}
