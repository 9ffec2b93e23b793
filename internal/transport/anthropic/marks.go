package anthropic

import "hermes/internal/transport/base"

// setMarks marks the system prompt and the last three turns (four without a
// system prompt), so that the next request reads the prefix up to there from the
// cache. Thinking blocks cannot have a mark, so a turn is marked at its last other
// block.
func setMarks(system []block, turns []turn, ttl string) {
	mk := base.NewMark(ttl)
	left := 4
	if n := len(system); n > 0 {
		system[n-1].CacheControl = mk
		left--
	}
	for i := len(turns) - 1; i >= 0 && left > 0; i-- {
		if markLast(turns[i].Content, mk) {
			left--
		}
	}
}

func markLast(blocks []block, mk *base.Mark) bool {
	for i := len(blocks) - 1; i >= 0; i-- {
		switch blocks[i].Type {
		case "thinking", "redacted_thinking":
			continue
		}
		blocks[i].CacheControl = mk
		return true
	}
	return false
}
