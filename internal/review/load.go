package review

import (
	"context"

	"hermes"
)

// Sessions is the part of the store that a stored conversation is read from.
type Sessions interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
	Messages(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error)
}

// Load reads the conversation of a session. which says what of its transcript is read.
func Load(ctx context.Context, store Sessions, session string, which hermes.Range) (Conversation, error) {
	row, err := store.FindSession(ctx, session)
	if err != nil {
		return Conversation{}, err
	}
	list, err := store.Messages(ctx, row.ID, which)
	run := row.StoredRun()
	dir := run.Workspace.Dir
	if run.Workspace.Elsewhere() {
		dir = "" // no folder of this machine
	}
	return Conversation{
		Session: hermes.SessionRef{
			ID: row.ID, Turn: row.Turns, Platform: run.Origin.Platform, User: run.Origin.User, Dir: dir, Depth: run.Origin.Depth,
			IgnoreRules: run.Prompt.IgnoreRules, MemoryScope: run.Prompt.MemoryScope,
			Provenance: hermes.AddProvenance(row.Provenance, hermes.TranscriptProvenance(list)),
		},
		Model: row.Model, Transcript: list,
	}, err
}
