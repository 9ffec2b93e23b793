package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hermes"
	"hermes/internal/text"
)

func (s *Server) addApprovals() {
	add(s, tool{name: "permissions_list_open", title: "List open approvals", about: "List the risky calls that wait for the approval of the user, in all conversations that run."}, s.permissions)
	add(s, tool{name: "permissions_respond", title: "Answer an approval", writes: true, about: "Allow one waiting call once, or deny it. Only if the server was started with --allow-approvals."}, s.respond)
}

// approval is a call that waits for the user.
type approval struct {
	ID           string    `json:"permission_id"`
	Conversation string    `json:"conversation_id"`
	Tool         string    `json:"tool"`
	Subject      string    `json:"subject" jsonschema:"the command, path or whatever else the call acts on"`
	Detail       string    `json:"detail,omitempty" jsonschema:"what else is part of the call, such as the text that is written"`
	Folder       string    `json:"folder,omitempty"`
	Risks        []string  `json:"risks" jsonschema:"why it asks"`
	Asked        time.Time `json:"asked,omitzero"`
	Cut          bool      `json:"cut,omitempty" jsonschema:"subject or detail were cut or have secrets that are not shown, so that it cannot be allowed from here"`
	UserOnly     bool      `json:"user_only,omitempty" jsonschema:"only the user may allow it, where the conversation is shown: it can only be denied from here"`
}

// maxShown bounds the subject and the detail of an approval that can be allowed.
const maxShown = 10_000

// approval shows an open approval, with at most so many characters of each text.
func (s *Server) approval(q hermes.StoredQuestion, limit int) approval {
	r := q.Asked.Approval
	a := approval{ID: q.Asked.ID, Conversation: q.Session, Tool: r.Tool, Folder: s.cfg.Mask.Text(r.Dir), Asked: q.Asked.At, Risks: []string{}, UserOnly: userOnly(r)}
	var more, rest int
	a.Subject, more = piece(s.cfg.Mask.Text(r.Subject), 0, limit)
	a.Detail, rest = piece(s.cfg.Mask.Text(r.Detail), 0, limit)
	masked := func(text string) bool { return s.cfg.Mask.Text(text) != text } // what is not shown is not allowed from here
	a.Cut = more+rest > 0 || masked(r.Subject) || masked(r.Detail) || masked(r.Dir)
	for _, risk := range r.Risks {
		a.Risks = append(a.Risks, s.cfg.Mask.Text(risk.Reason))
	}
	return a
}

// userOnly reports whether no program may allow a call for the user.
func userOnly(r *hermes.ApprovalRequest) bool {
	return slices.ContainsFunc(r.Risks, func(k hermes.Risk) bool { return k.NoRemember || k.Once || k.EveryMode })
}

// openApprovals returns the approvals that sessions wait for, oldest first. What a process that
// has ended had asked is none.
func (s *Server) openApprovals(ctx context.Context) ([]hermes.StoredQuestion, error) {
	list, err := s.cfg.Store.OpenQuestions(ctx, hermes.QuestionFilter{})
	if err != nil {
		return nil, err
	}
	return s.approvals(ctx, list)
}

// approvals returns the approvals among questions, without the open ones of a process that has
// ended.
func (s *Server) approvals(ctx context.Context, list []hermes.StoredQuestion) ([]hermes.StoredQuestion, error) {
	if len(list) == 0 {
		return nil, nil
	}
	leases, err := s.cfg.Store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(q hermes.StoredQuestion) bool {
		waits := slices.ContainsFunc(leases, func(l hermes.Lease) bool { return l.Session == q.Session })
		return q.Asked.Approval == nil || q.Closed.IsZero() && !waits
	}), nil
}

type permissionsArgs struct {
	Offset int `json:"offset,omitempty" jsonschema:"skip this many"`
}

type permissionsResult struct {
	Permissions []approval `json:"permissions"`
	Next        int        `json:"next_offset,omitempty" jsonschema:"set if there are more"`
	// Answerable says whether permissions_respond works.
	Answerable bool `json:"answerable" jsonschema:"whether permissions_respond may be used; else the user answers where the conversation is shown"`
}

func (s *Server) permissions(ctx context.Context, _ caller, in permissionsArgs) (permissionsResult, error) {
	open, err := s.openApprovals(ctx)
	if err != nil {
		return permissionsResult{}, err
	}
	out := permissionsResult{Permissions: []approval{}, Answerable: s.cfg.AllowApprovals}
	list, next := page(open, in.Offset, 10)
	out.Next = next
	for _, q := range list {
		out.Permissions = append(out.Permissions, s.approval(q, maxShown))
	}
	return out, nil
}

type respondArgs struct {
	Conversation string `json:"conversation_id"`
	ID           string `json:"permission_id"`
	Decision     string `json:"decision" jsonschema:"once or deny"`
	Reason       string `json:"reason,omitempty" jsonschema:"why it is denied, for the agent"`
}

type respondResult struct {
	Decision string `json:"decision"`
}

// respond answers an approval. It never allows more than one call, nor what it did not show whole.
func (s *Server) respond(ctx context.Context, c caller, in respondArgs) (respondResult, error) {
	var none respondResult
	if !s.cfg.AllowApprovals {
		return none, errors.New("approvals are not answered through MCP: the user answers where the conversation is shown, for example with `hermes attach`. To allow it, start the server with `hermes mcp serve --allow-approvals`")
	}
	answer := hermes.ApprovalAnswer{Decision: hermes.AllowOnce}
	switch in.Decision {
	case "once":
	case "deny":
		answer = hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: text.Cut(in.Reason, maxArgs)}
	default:
		return none, fmt.Errorf("unknown decision %.40q; use once or deny", in.Decision)
	}
	open, err := s.openApprovals(ctx)
	if err != nil {
		return none, err
	}
	i := slices.IndexFunc(open, func(q hermes.StoredQuestion) bool { return q.Session == in.Conversation && q.Asked.ID == in.ID })
	if i < 0 {
		return none, fmt.Errorf("no approval %.100q waits in conversation %.100q; list the open ones with permissions_list_open", in.ID, in.Conversation)
	}
	shown := s.approval(open[i], maxShown)
	switch allow := in.Decision == "once"; {
	case allow && shown.UserOnly:
		return none, errors.New("only the user may allow this call, where the conversation is shown, for example with `hermes attach`; it can be denied from here")
	case allow && shown.Cut:
		return none, errors.New("this call is too long to be shown whole here, so it is not allowed from here; the user answers it where the conversation is shown, for example with `hermes attach`")
	}
	if err := s.cfg.Client.Do(ctx, in.Conversation, s.from(c), hermes.Reply{ID: in.ID, Approval: answer}); err != nil {
		return none, err
	}
	return respondResult{string(answer.Decision)}, nil
}
