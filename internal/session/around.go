package session

import (
	"context"
	"strings"
	"time"

	"hermes"
)

// aroundTime is how long a look around may take.
const aroundTime = 500 * time.Millisecond

// lookAround puts below a message of the person what changed around the
// session since the message before.
func (s *Session) lookAround(m *hermes.Message) {
	if s.runtime.Around == nil || m.Synthetic {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, aroundTime)
	defer cancel()
	if text := s.runtime.Around(ctx); text != "" {
		m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], hermes.Part{Text: aroundHead + text + "]", Hidden: true})
	}
}

// aroundHead begins what is told of the surroundings.
const aroundHead = "[Around you now: "

// Around reports that a part of a message tells what changed around it.
func Around(p hermes.Part) bool { return p.Hidden && strings.HasPrefix(p.Text, aroundHead) }
