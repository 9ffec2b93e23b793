package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hermes/internal/session"
)

// keptHere is how many exchanges /compress here keeps unchanged.
const keptHere = 2

// compress shortens the conversation now. The session reports its start and its
// outcome.
func compress(ctx context.Context, c *Call) (Result, error) {
	op, err := readCompress(c.Args)
	if err != nil {
		return Result{}, err
	}
	return Result{}, c.Session.Submit(ctx, op)
}

// readCompress reads "", "here", "here 3" or a topic.
func readCompress(args string) (session.Compress, error) {
	word, rest, _ := strings.Cut(args, " ")
	if !strings.EqualFold(word, "here") {
		return session.Compress{Topic: args}, nil
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return session.Compress{Keep: keptHere}, nil
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 {
		return session.Compress{}, fmt.Errorf("%q is not a number of exchanges; use /compress here 2 or /compress TOPIC", rest)
	}
	return session.Compress{Keep: n}, nil
}
