package session

import (
	"context"
	"strings"
	"time"

	"hermes"
)

// surroundingsTime is how long Runtime.Surroundings may take.
const surroundingsTime = 500 * time.Millisecond

// addSurroundings appends to a user message what changed around the session
// since the message before.
func (s *Session) addSurroundings(m *hermes.Message) {
	if s.runtime.Surroundings == nil || m.Synthetic {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, surroundingsTime)
	defer cancel()
	if text := s.runtime.Surroundings(ctx); text != "" {
		m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], hermes.Part{Text: surroundingsHead + text + "]", Hidden: true})
	}
}

// surroundingsHead begins the part with the surroundings. Stored transcripts
// have it, so it must not change.
const surroundingsHead = "[Around you now: "

// IsSurroundings reports whether a part of a message holds the surroundings.
func IsSurroundings(p hermes.Part) bool {
	return p.Hidden && strings.HasPrefix(p.Text, surroundingsHead)
}
