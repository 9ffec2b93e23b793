package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/checkpoint"
)

// any reports whether messages change.
func (s since) any() bool { return s.from != 0 || len(s.back) > 0 }

// position is what the snapshot before a rollback has to know to undo it.
func (s since) position() checkpoint.Position {
	return checkpoint.Position{Replaced: &checkpoint.Replaced{After: s.after, Messages: idsOf(s.list)}}
}

func idsOf(list []hermes.Message) []int64 {
	var ids []int64
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

// replaced finds what changes if the conversation gets the messages that a rollback replaced: what
// was said since goes, and they come back.
func (r *rolling) replaced(ctx context.Context, was checkpoint.Replaced) (since, error) {
	list, ids, i := r.state.Transcript, was.Messages, 0
	if was.After != 0 {
		i = 1 + slices.IndexFunc(list, func(m hermes.Message) bool { return m.ID == was.After })
	}
	switch {
	case compressed(list) && (was.After == 0 || i == 0):
		return since{stays: "the conversation was compressed since"}, nil
	case was.After != 0 && i == 0:
		return since{stays: "those before them were undone since"}, nil
	}
	for i < len(list) && len(ids) > 0 && list[i].ID == ids[0] { // they are back already
		i, ids = i+1, ids[1:]
	}
	back, err := r.Session.Undone(ctx, ids)
	if errors.Is(err, hermes.ErrNotFound) && compressed(list) {
		return since{stays: "the conversation was compressed since"}, nil
	}
	if errors.Is(err, hermes.ErrNotFound) {
		return since{stays: "some that the rollback removed are not stored any more"}, nil
	}
	if err != nil {
		return since{}, err
	}
	out := newSince(list, i)
	out.back, out.keep = back, out.from != 0
	if !out.any() {
		out.stays = "they are as they were at the checkpoint"
	}
	return out, nil
}

// keep copies the conversation to a session of its own before messages go that no rollback has
// removed.
func (r *rolling) keep(ctx context.Context, gone *since) error {
	all, err := r.sessions(ctx)
	if err == nil {
		gone.kept, err = all.BranchAt(ctx, r.Session.ID(), "", 0)
	}
	if err != nil {
		return fmt.Errorf("the files are restored, but the messages stay, since what was said since could not be kept: %w", err)
	}
	return nil
}
