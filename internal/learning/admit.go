package learning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/errsig"
	"hermes/internal/lazy"
	"hermes/internal/policy"
	"hermes/internal/redact"
)

// maxTags bounds the tags of a learning.
const maxTags = 8

// Admit checks a learning and generalises it: it removes the parts of the
// pattern that differ each time, and secrets from all texts.
func (*Store) Admit(l hermes.Learning) (hermes.Learning, error) {
	l.Pattern, l.Fix, l.Context = strings.TrimSpace(l.Pattern), strings.TrimSpace(l.Fix), strings.TrimSpace(l.Context)
	if l.Pattern == "" || l.Fix == "" {
		return hermes.Learning{}, errors.New("save needs pattern (the error message) and fix (what to do instead)")
	}
	if utf8.RuneCountInString(l.Fix) > maxFix || utf8.RuneCountInString(l.Context) > maxContext {
		return hermes.Learning{}, fmt.Errorf("a fix has at most %d characters and a context %d; longer text belongs in a skill", maxFix, maxContext)
	}
	if found := policy.Injection(strings.Join(append([]string{l.Pattern, l.Fix, l.Context}, l.Tags...), "\n")); found != "" {
		return hermes.Learning{}, fmt.Errorf("refused: this looks like an order to the model (%s); a learning is shown in later sessions, so write only what to do about the error", found)
	}
	s := errsig.Of("", redact.Text(l.Pattern))
	if s.Pattern == "" {
		s = errsig.Signature{Class: "error", Pattern: errsig.Normal(redact.Text(l.Pattern))}
	}
	l.Tool, l.Class, l.Pattern = strings.TrimSpace(l.Tool), s.Class, s.Pattern
	l.Fix, l.Context, l.Tags = redact.Text(l.Fix), redact.Text(l.Context), union(nil, l.Tags)
	return l, nil
}

// Keep saves an admitted learning: with the counted failure that it is about, or
// else as a new one, in the name of its session, or of the user if it has none. It replaces a
// fix of the same failure only, and returns that as replaced.
func (b *Store) Keep(ctx context.Context, l hermes.Learning) (saved hermes.Learning, replaced string, err error) {
	list, err := b.Find(ctx, hermes.LearningQuery{Tool: l.Tool, Limit: -1})
	if err != nil {
		return l, "", err
	}
	if same, ok := failureOf(list, l.Pattern); ok {
		l.Tool, l.Class, l.Pattern = same.Tool, same.Class, same.Pattern
		l.Tags = union(same.Tags, l.Tags)
		if same.Fix != l.Fix {
			replaced = same.Fix
		}
	}
	saved, err = b.Save(ctx, cmp.Or(l.Session, "person"), l)
	return saved, replaced, err
}

// Approve saves a pending learning as it was proposed. replaced is the fix that its failure
// had before.
func (b *Store) Approve(ctx context.Context, id string) (saved hermes.Learning, replaced string, err error) {
	p, err := b.Proposal(id)
	if err != nil {
		return hermes.Learning{}, "", err
	}
	if saved, replaced, err = b.Keep(ctx, p.Learning); err != nil {
		return saved, "", err
	}
	return saved, replaced, b.Reject(id)
}

// programName is what a pattern may begin with: the program that failed.
var programName = lazy.Regexp(`^[a-z0-9_.+-]+$`)

// failureOf finds the failure that a message is about: the same one, with or without
// the program, or one without a fix in other words. Among equals it takes the latest.
// A message without the program says too little if several programs failed with it.
func failureOf(list []hermes.Learning, pattern string) (best hermes.Learning, ok bool) {
	closest, programs := errsig.Other, 0
	for _, other := range list {
		name, bare, _ := strings.Cut(other.Pattern, ": ")
		if other.Class == "command_not_found" || !programName().MatchString(name) {
			bare = "" // the name is what failed
		}
		if bare == pattern {
			programs++
		}
		failed := errsig.Signature{Pattern: other.Pattern, Bare: bare}
		m := failed.Match(pattern)
		if m > closest && (m == errsig.Exact || other.Fix == "") {
			best, closest = other, m
		}
	}
	if programs > 1 && best.Fix != "" && best.Pattern != pattern {
		return hermes.Learning{}, false
	}
	return best, closest != errsig.Other
}

// union joins tags without duplicates.
func union(have, more []string) []string {
	out := slices.Clone(have)
	for _, tag := range more {
		if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" && !slices.Contains(out, tag) && len(out) < maxTags {
			out = append(out, tag)
		}
	}
	return out
}
