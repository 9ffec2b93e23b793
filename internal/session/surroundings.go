package session

import (
	"context"
	"strings"
	"time"

	"hermes"
)

// surroundingsTime is how long a look around may take.
const surroundingsTime = 500 * time.Millisecond

// addSurroundings puts below a message of the person what changed around the
// session since the message before.
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

// surroundingsHead begins what is told of the surroundings.
const surroundingsHead = "[Around you now: "

// IsSurroundings reports that a part of a message tells what changed around it.
func IsSurroundings(p hermes.Part) bool {
	return p.Hidden && strings.HasPrefix(p.Text, surroundingsHead)
}
