package learning

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hermes"
)

// Source is the name that records of learnings begin with.
const Source = "learning"

const counts = "#counts"

// Records returns the names of the undo records of learnings. Each learning has
// two, since its text changes rarely and its counts often.
func Records(list ...hermes.Learning) []string {
	var out []string
	for _, l := range list {
		out = append(out, text(l), text(l)+counts)
	}
	return out
}

// text returns the record name of a learning's text.
func text(l hermes.Learning) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F", "#", "%23", "\n", "%0A")
	return Source + ":" + escape.Replace(l.Tool) + "/" + escape.Replace(l.Class) + "/" + escape.Replace(l.Pattern)
}

// said is the text of a learning.
type said struct {
	ID         int64     `json:"id"`
	Tool       string    `json:"tool"`
	Class      string    `json:"class"`
	Pattern    string    `json:"pattern"`
	Fix        string    `json:"fix"`
	Context    string    `json:"context,omitempty"`
	Tags       []string  `json:"tags,omitempty"`
	Session    string    `json:"session,omitempty"`
	Created    time.Time `json:"created"`
	Provenance string    `json:"outside,omitempty"`
}

// counted holds the counts of a learning.
type counted struct {
	Touched time.Time `json:"touched"`
	Seen    int       `json:"seen"`
	Shown   int       `json:"shown"`
	Helped  int       `json:"helped"`
	Failed  int       `json:"failed"`
}

// record finds the learning of a record. known is false if there is none; then l
// has only tool, class and pattern.
func (b *Store) record(ctx context.Context, name string) (l hermes.Learning, known, isCounts bool, err error) {
	name, isCounts = strings.CutSuffix(name, counts)
	parts := strings.Split(strings.TrimPrefix(name, Source+":"), "/")
	if len(parts) != 3 {
		return l, false, false, fmt.Errorf("%q is not a record of a learning", name)
	}
	plain := strings.NewReplacer("%0A", "\n", "%23", "#", "%2F", "/", "%25", "%")
	l = hermes.Learning{Tool: plain.Replace(parts[0]), Class: plain.Replace(parts[1]), Pattern: plain.Replace(parts[2])}
	list, err := b.Find(ctx, hermes.LearningQuery{Class: l.Class, Pattern: l.Pattern, Limit: -1})
	for _, o := range list {
		if o.Tool == l.Tool {
			return o, true, isCounts, err
		}
	}
	return l, false, isCounts, err
}

// recordTime limits one access to a record of the journal.
const recordTime = 10 * time.Second

// ReadRecord returns the content of a record, nil if there is none. It takes at most ten
// seconds.
func (b *Store) ReadRecord(name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	l, known, isCounts, err := b.record(ctx, name)
	if err != nil || !known {
		return nil, err
	}
	var v any = said{l.ID, l.Tool, l.Class, l.Pattern, l.Fix, l.Context, l.Tags, l.Session, l.Created.UTC(), l.Provenance}
	if isCounts {
		v = counted{l.Touched.UTC(), l.Seen, l.Shown, l.Helped, l.Failed}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // users read it as a diff
	enc.SetIndent("", " ")
	err = enc.Encode(v)
	return out.Bytes(), err
}

// WriteRecord restores a content that ReadRecord returned. nil removes the
// learning. It takes at most ten seconds.
func (b *Store) WriteRecord(name string, content []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	l, known, isCounts, err := b.record(ctx, name)
	if err != nil {
		return err
	}
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return err
	}
	if content == nil {
		if known && !isCounts {
			_, err = store.ForgetLearnings(ctx, hermes.Forgetting{IDs: []int64{l.ID}})
		}
		return err
	}
	if isCounts {
		var c counted
		if err := json.Unmarshal(content, &c); err != nil {
			return fmt.Errorf("read the counts of a learning: %w", err)
		}
		if !known {
			return fmt.Errorf("the learning %s: %w", Line(l), hermes.ErrNotFound)
		}
		l.Touched, l.Seen, l.Shown, l.Helped, l.Failed = c.Touched, c.Seen, c.Shown, c.Helped, c.Failed
	} else {
		var s said
		if err := json.Unmarshal(content, &s); err != nil {
			return fmt.Errorf("read the text of a learning: %w", err)
		}
		if !known {
			l.ID, l.Touched = s.ID, s.Created
		}
		l.Fix, l.Context, l.Tags, l.Session, l.Created, l.Provenance = s.Fix, s.Context, s.Tags, s.Session, s.Created, s.Provenance
	}
	_, err = store.PutLearning(ctx, l)
	return err
}
