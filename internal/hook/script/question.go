package script

import (
	"hermes"
	"hermes/internal/text"
)

// The kinds of notifications, in the words of Claude Code.
const (
	permissionPrompt  = "permission_prompt"
	elicitationDialog = "elicitation_dialog"
)

// questionOccasion is an occasion of some events of a point.
type questionOccasion struct {
	Occasion
	skip func(event) bool
}

// questionOccasions are what scripts in either form are told when the user is asked something. The text of an
// answer is never part of it.
func questionOccasions(ref hermes.SessionRef, a hermes.Asked) []questionOccasion {
	note := questionOccasion{notification(ref, a), func(e event) bool { return !e.claude }}
	if a.Approval == nil {
		return []questionOccasion{note}
	}
	return []questionOccasion{note, {approvalOccasion(ref, a), func(e event) bool { return e.claude }}}
}

// notification is a question or an approval in the form of Claude Code.
func notification(ref hermes.SessionRef, a hermes.Asked) Occasion {
	kind, title, message := elicitationDialog, "Question", ""
	if a.Question != nil {
		message = "Hermes has a question: " + text.OneLine(a.Question.Text, 400)
	}
	if a.Approval != nil {
		kind, title = permissionPrompt, "Permission needed"
		message = "Hermes needs your permission to use " + claudeName(a.Approval.Tool, nil).name
	}
	return Occasion{Session: ref, About: kind, Extra: map[string]any{"notification_type": kind, "title": title, "message": message}}
}

// approvalOccasion is an approval in Hermes' form.
func approvalOccasion(ref hermes.SessionRef, a hermes.Asked) Occasion {
	reasons := []string{}
	for _, r := range a.Approval.Risks {
		reasons = append(reasons, r.Reason)
	}
	return Occasion{Session: ref, About: a.Approval.Tool, Extra: map[string]any{
		"id": a.ID, "tool_name": a.Approval.Tool, "tool_call_id": a.Approval.CallID, "subject": a.Approval.Subject, "reasons": reasons,
	}}
}
