package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hermes/internal/session"
)

// keptHere is how many exchanges /compress here leaves as they are.
const keptHere = 2

// compress makes the conversation shorter now. That it began, and its outcome,
// are told by the session, in this order.
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
		return session.Compress{}, fmt.Errorf("%q is no number of exchanges to keep; write /compress here 2, or /compress and a topic", rest)
	}
	return session.Compress{Keep: n}, nil
}
