package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/session/turn"
)

// DelegateTool is the tool that starts child sessions. A child has it only as an orchestrator that may have
// children of its own.
const DelegateTool = "delegate_task"

// blocked are the tools that no child session has: they ask the user, act for later sessions, or reach
// others.
var blocked = [...]string{"clarify", "memory", "send_message", "cronjob", hermes.PeerTool}

// noTool is no name of a tool: a list of only this name allows none.
const noTool = "no tool"

// childTools returns the tools that a child may have, of those of its parent.
func childTools(parent []string, delegates bool) []string {
	return slices.DeleteFunc(slices.Clone(parent), func(tool string) bool {
		return slices.Contains(blocked[:], tool) || tool == DelegateTool && !delegates
	})
}

// mayStart returns why a session may start no child with this role; nil if it may.
func (c Children) mayStart(parent hermes.Origin, role hermes.ChildRole) error {
	most := cmp.Or(c.Depth, DefaultChildDepth)
	switch depth := parent.Depth + 1; {
	case depth > most:
		return fmt.Errorf("this session may start no child session: delegation.max_spawn_depth allows a depth of %d; do the work yourself", most)
	case parent.Depth > 0 && parent.Task.Role != hermes.RoleOrchestrator:
		return errors.New("this session may start no child session: its role is leaf; do the work yourself")
	case role != hermes.RoleLeaf && role != hermes.RoleOrchestrator:
		return fmt.Errorf("there is no role %q; use leaf or orchestrator", role)
	case role == hermes.RoleLeaf:
		return nil
	case c.LeavesOnly:
		return errors.New("delegation.orchestrator_enabled is off, so a child session cannot start others; use the role leaf")
	case depth == most:
		return fmt.Errorf("delegation.max_spawn_depth allows a depth of %d, so this child could not start others; use the role leaf", most)
	}
	return nil
}

// childRun returns the spec of a child session: its parent's, narrowed by its role and the task. A child
// never has more rights, tools, steps or money than its parent has left. Which calls need the
// user is decided with its depth; see package toolbox.
func (l lender) childRun(ctx context.Context, parent hermes.SessionRef, task hermes.Task) (hermes.RunSpec, error) {
	limits := l.session.cfg.Children
	run := l.run
	if err := limits.mayStart(l.run.Origin, task.Role); err != nil {
		return run, err
	}
	run.Session = ""
	run.Origin = hermes.Origin{
		Platform: hermes.PlatformChild, User: parent.User, Chat: parent.Chat,
		Root: cmp.Or(parent.Root.Platform, parent.Platform), RootID: parent.Outermost(),
		Parent: parent.ID, Depth: parent.Depth + 1, Provenance: parent.Provenance,
		Task: hermes.TaskOrigin{Key: task.Key, Role: task.Role, Background: task.Background, Schema: string(task.Schema)},
	}
	run.Rights.Mode = "" // its parent's, at each call
	run.Workspace.Dir = parent.Dir
	run.Model = l.childModel(parent, task)
	var tools []string
	for _, s := range turn.Callable(l.tools) {
		tools = append(tools, s.Name)
	}
	run.Tools.Only = childTools(tools, task.Role == hermes.RoleOrchestrator)
	if len(run.Tools.Only) == 0 { // an empty list would narrow nothing
		run.Tools.Only = []string{noTool}
	}
	if err := l.narrow(ctx, &run.Tools, task); err != nil {
		return run, err
	}
	left := l.budget.Left()
	if left == 0 {
		return run, errors.New("no steps are left for a child session; do the work yourself, or say what remains to be done")
	}
	run.Budget.Steps = fewest(task.MaxSteps, limits.Steps, left)
	if most := task.MaxCost; most > 0 && (run.Budget.Money <= 0 || most < run.Budget.Money) {
		run.Budget.Money = most
	}
	run.Origin.Task.Steps, run.Origin.Task.Cost = max(run.Budget.Steps, 0), run.Budget.Money
	return run, nil
}

// narrow selects the toolsets of a task, else those that children have by the settings, else all
// that its parent has.
func (l lender) narrow(ctx context.Context, c *hermes.ToolChoice, task hermes.Task) error {
	limits := l.session.cfg.Children
	switch {
	case len(task.Toolsets) > 0:
		if limits.Toolsets != nil {
			if err := limits.Toolsets(ctx, task.Toolsets, c.Only); err != nil {
				return err
			}
		}
		c.Enabled = slices.Clone(task.Toolsets)
	case len(limits.Default) > 0:
		c.Enabled = slices.Clone(limits.Default)
	default:
		c.Enabled = c.Only
		return nil
	}
	if slices.Contains(c.Only, DelegateTool) {
		c.Enabled = append(c.Enabled, DelegateTool)
	}
	return nil
}

// childModel returns the model of a child: that of the task, else that of the settings, else its parent's.
func (l lender) childModel(parent hermes.SessionRef, task hermes.Task) hermes.ModelChoice {
	own, set := l.run.Model, l.session.cfg.Children.Model
	switch {
	case task.Model != "":
		own.Ref = task.Model
	case set.Ref != "" || set.Provider != "":
		own.Ref, own.Provider = set.Ref, set.Provider
	default:
		own.Ref = parent.Model
	}
	return own
}

// fewest returns the smallest limit; 0 or less means no limit. Without any limit it returns -1.
func fewest(limits ...int) int {
	limits = slices.DeleteFunc(limits, func(n int) bool { return n <= 0 })
	if len(limits) == 0 {
		return -1
	}
	return slices.Min(limits)
}
