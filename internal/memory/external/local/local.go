// Package local is the memory that needs no service: words and similarity in the
// profile's own database.
package local

import (
	"context"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/memory/external"
	"hermes/internal/memory/scan"
	"hermes/internal/text"
)

var _ hermes.MemoryProvider = (*Local)(nil)

const (
	// maxKept bounds the turns that are kept. The oldest are dropped.
	maxKept = 5000
	// Bounds of the text kept of a turn, in characters. A message shorter than
	// minSaid is not worth keeping.
	minSaid, maxSaid, maxAnswer = 16, 700, 500
	// minAbout is the shortest text that is searched for, in characters.
	minAbout = 8
	// leastLike is the lowest likeness at which a turn is recalled.
	leastLike = 0.3
)

// Local remembers without a service: it keeps turns in the database and finds
// them by their words and by similarity.
type Local struct {
	open func(ctx context.Context) (hermes.Recollections, error)
}

// NewService describes it. The store is opened when it is needed.
func NewService(open func(ctx context.Context) (hermes.Recollections, error)) external.Service {
	return external.Service{
		Name: "local", Title: "search by words and similarity, in this profile's database, offline",
		Make: func() hermes.MemoryProvider { return New(open) },
	}
}

// New makes the provider over a store that is opened when it is needed.
func New(open func(ctx context.Context) (hermes.Recollections, error)) *Local {
	return &Local{open}
}

// Name is "local".
func (*Local) Name() string { return "local" }

// SystemBlock is empty: what is known comes with each message.
func (*Local) SystemBlock(context.Context) (string, error) { return "", nil }

// Tools is memory_search.
func (l *Local) Tools() []hermes.Tool {
	return []hermes.Tool{external.SearchTool(func(ctx context.Context, query string, limit int) ([]string, error) {
		found, _, err := l.find(ctx, hermes.RecollectionQuery{Text: query, Vector: vector(query), Limit: limit, Least: 0.1})
		return found, err
	})}
}

// Recall finds turns of other sessions that are relevant to a message.
func (l *Local) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	about := withoutCommon(q.Text)
	if len([]rune(about)) < minAbout {
		return hermes.Recalled{}, nil // "yes", "go on" and the like have no subject
	}
	found, provenance, err := l.find(ctx, hermes.RecollectionQuery{
		Text: about, Vector: vector(q.Text), Exclude: q.Session.ID, Least: leastLike, Limit: 5,
	})
	if err != nil {
		return hermes.Recalled{}, err
	}
	return hermes.Recalled{Text: external.Bullets(found), Provenance: provenance}, nil
}

// find returns texts and their provenance: an answer in a session that had seen
// untrusted text may repeat it.
func (l *Local) find(ctx context.Context, q hermes.RecollectionQuery) (found []string, provenance string, err error) {
	store, err := l.open(ctx)
	if err != nil {
		return nil, "", err
	}
	if q.Text == "" && len(q.Vector) == 0 {
		return nil, "", nil
	}
	list, err := store.Recollect(ctx, q)
	if err != nil {
		return nil, "", err
	}
	for _, r := range list {
		found = append(found, fmt.Sprintf("[%s] %s", r.At.Local().Format("2006-01-02"), r.Text))
		provenance = hermes.AddProvenance(provenance, r.Provenance)
	}
	return found, provenance, nil
}

// Observe keeps what was said, without secrets. It does not keep orders to the
// model, since they would appear in other conversations.
func (l *Local) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	said, answer := strings.TrimSpace(t.Said), strings.TrimSpace(t.Answer)
	if len([]rune(said)) < minSaid || strings.HasPrefix(said, "/") {
		return nil
	}
	kept, provenance := "The user said: "+external.Outgoing(text.Cut(said, maxSaid)), ""
	if answer != "" {
		provenance = t.Session.Provenance
		kept += "\nThe answer was: " + external.Outgoing(text.Cut(answer, maxAnswer))
	}
	if scan.Orders(kept) != "" {
		return nil
	}
	store, err := l.open(ctx)
	if err != nil {
		return err
	}
	return store.Remember(ctx, maxKept, hermes.Recollection{Session: t.Session.ID, At: t.At, Text: kept, Vector: vector(kept), Provenance: provenance})
}

// withoutCommon drops the words that are too common to search for.
func withoutCommon(text string) string {
	var out []string
	for _, w := range strings.Fields(text) {
		if bare := strings.ToLower(strings.Trim(w, `.,;:!?"'()`)); bare != "" && !common(bare) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

func common(word string) bool {
	switch word {
	case "the", "a", "an", "and", "or", "but", "of", "to", "in", "on", "at", "for", "with", "from", "by", "is", "are", "was", "were", "be", "been",
		"do", "does", "did", "have", "has", "had", "i", "you", "he", "she", "it", "we", "they", "me", "my", "your", "our", "this", "that", "these",
		"those", "what", "which", "who", "how", "when", "where", "why", "can", "could", "would", "should", "will", "please", "there", "here", "not",
		"der", "die", "das", "und", "oder", "ein", "eine", "ist", "sind", "war", "ich", "du", "wir", "mein", "dein", "wie", "wo", "wer",
		"el", "la", "los", "las", "un", "una", "y", "o", "de", "que", "es", "le", "les", "et", "est", "je", "tu", "mon", "ma":
		return true
	}
	return false
}
