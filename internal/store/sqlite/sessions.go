package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
)

// CreateSession stores a new row. It ignores a parent that does not exist.
func (s *Store) CreateSession(ctx context.Context, row hermes.Session) error {
	if row.ID == "" || row.Started.IsZero() {
		return errors.New("create a session: the id or the start time is missing")
	}
	title, err := hermes.CleanTitle(row.Title)
	if err != nil {
		return err
	}
	return s.update(ctx, func(t *tx) error {
		if err := t.titleTaken(title, row.ID); err != nil {
			return err
		}
		system, err := t.prompt(row.System)
		if err != nil {
			return err
		}
		tools, err := t.prompt(string(row.Tools))
		if err != nil {
			return err
		}
		layers, err := t.prompt(encodeLayers(row.Layers))
		if err != nil {
			return err
		}
		u := row.Usage
		err = t.exec(`INSERT INTO sessions (id, source, user, title, folded, parent, model, dir, branch, system, tools, layers,
			started, active, ended, end_reason, turns, archived, pinned, outside, run,
			input, output, cache_read, cache_write, reasoning, requests)
			VALUES (?, ?, ?, ?, ?, (SELECT key FROM sessions WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			row.ID, row.Platform, row.User, nullable(title), strings.ToLower(title), row.Parent, row.Model, row.Dir, row.Branch, system, tools, layers,
			nanos(row.Started), nullTime(row.Active), nullTime(row.Ended), row.EndReason, row.Turns, row.Archived, row.Pinned, row.Provenance, encodeRun(row.Run),
			u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Calls)
		return sessionConflict(err, row.ID, title)
	})
}

// sessionConflict says which of the two unique columns a row violates.
func sessionConflict(err error, id, title string) error {
	if !uniqueViolation(err) {
		return err
	}
	if strings.Contains(err.Error(), "sessions.title") { // the driver reports it only in the text
		return fmt.Errorf("%w: %q", hermes.ErrTitleTaken, title)
	}
	return fmt.Errorf("a session with the id %s already exists", id)
}

// prompt stores a text once and returns its number; NULL for no text.
func (t *tx) prompt(text string) (sql.NullInt64, error) {
	var id sql.NullInt64
	if text == "" {
		return id, nil
	}
	hash := sha256.Sum256([]byte(text))
	if err := t.exec(`INSERT INTO prompts (hash, text) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`, hash[:], text); err != nil {
		return id, err
	}
	return id, t.row(`SELECT id FROM prompts WHERE hash = ?`, []any{hash[:]}, &id)
}

const sessionColumns = `s.id, s.source, s.user, coalesce(s.title, ''),
	coalesce((SELECT p.id FROM sessions p WHERE p.key = s.parent), ''),
	s.model, s.dir, s.branch, s.started, coalesce(s.active, 0), coalesce(s.ended, 0), s.end_reason,
	s.messages, s.calls, s.turns, s.input, s.output, s.cache_read, s.cache_write, s.reasoning, s.requests,
	s.archived, s.pinned, s.outside,
	s.outside <> '' OR EXISTS (SELECT 1 FROM messages o INDEXED BY messages_outside WHERE o.session = s.key AND o.outside IS NOT NULL AND o.hidden <> 1),
	EXISTS (SELECT 1 FROM steps WHERE steps.session = s.key AND asking AND result IS NULL)`

// scanSession reads sessionColumns, and further columns into more.
func scanSession(scan func(...any) error, more ...any) (hermes.Session, error) {
	var r hermes.Session
	var started, active, ended int64
	into := []any{&r.ID, &r.Platform, &r.User, &r.Title, &r.Parent, &r.Model, &r.Dir, &r.Branch, &started, &active, &ended, &r.EndReason,
		&r.Messages, &r.Calls, &r.Turns, &r.Usage.Input, &r.Usage.Output, &r.Usage.CacheRead, &r.Usage.CacheWrite,
		&r.Usage.Reasoning, &r.Usage.Calls, &r.Archived, &r.Pinned, &r.Provenance, &r.Tainted, &r.Asking}
	err := scan(append(into, more...)...)
	r.Started, r.Active, r.Ended = timeOf(started), timeOf(active), timeOf(ended)
	return r, err
}

// FindSession looks for the id, then for the newest of numbered titles ("x #2"), then
// for a title, then for the only id with this prefix.
func (s *Store) FindSession(ctx context.Context, ref string) (hermes.Session, error) {
	id, err := s.resolve(ctx, ref)
	if err != nil {
		return hermes.Session{}, s.cfg.explain(err)
	}
	var system, tools, layers string
	var run sql.NullString
	row, err := scanSession(s.read.QueryRowContext(ctx, `SELECT `+sessionColumns+`,
		coalesce((SELECT text FROM prompts WHERE id = s.system), ''),
		coalesce((SELECT text FROM prompts WHERE id = s.tools), ''),
		coalesce((SELECT text FROM prompts WHERE id = s.layers), ''), s.run
		FROM sessions s WHERE s.id = ?`, id).Scan, &system, &tools, &layers, &run)
	if err != nil {
		return hermes.Session{}, s.cfg.explain(notFound(err, ref))
	}
	if row.Run, err = decodeRun(run); err != nil {
		return hermes.Session{}, fmt.Errorf("session %s cannot be used: the tools and the prompt that it was started with are damaged (%w); start a new session", id, err)
	}
	row.System = system
	if tools != "" {
		row.Tools = json.RawMessage(tools)
	}
	if layers != "" {
		_ = json.Unmarshal([]byte(layers), &row.Layers) // only for a report: without it the prompt is one piece
	}
	return row, nil
}

// encodeRun returns the stored part of a spec as JSON, NULL if it is the zero value.
func encodeRun(r hermes.StoredRun) sql.NullString {
	raw, err := json.Marshal(r)
	if err != nil || string(raw) == "{}" { // a spec always marshals
		return sql.NullString{}
	}
	return sql.NullString{String: string(raw), Valid: true}
}

// decodeRun reads what encodeRun stored. NULL is a session of an earlier version; a value that says
// nothing is damaged, and must not stand for a session without limits.
func decodeRun(stored sql.NullString) (run hermes.StoredRun, err error) {
	if !stored.Valid {
		return run, nil
	}
	if err := json.Unmarshal([]byte(stored.String), &run); err != nil {
		return run, err
	}
	if !encodeRun(run).Valid {
		return run, errors.New("it is empty")
	}
	return run, nil
}

func encodeLayers(layers []hermes.PromptLayer) string {
	if len(layers) == 0 {
		return ""
	}
	raw, err := json.Marshal(layers)
	if err != nil {
		return "" // cannot happen: layers always marshal
	}
	return string(raw)
}

func notFound(err error, ref string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("session %q: %w", ref, hermes.ErrNotFound)
	}
	return err
}

// resolve returns the id of the session that a reference names.
func (s *Store) resolve(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		return "", fmt.Errorf("the session name is empty: %w", hermes.ErrNotFound)
	}
	var id string
	err := s.read.QueryRowContext(ctx, `SELECT id FROM sessions WHERE id = ?1`, ref).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = s.byTitle(ctx, ref)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return s.byPrefix(ctx, ref)
	}
	return id, err
}

// byTitle returns the session with a title, or with the highest number of it ("x",
// "x #2", "x #3", …). The case does not matter, except between titles that earlier
// versions stored in several.
func (s *Store) byTitle(ctx context.Context, ref string) (id string, err error) {
	title, err := hermes.CleanTitle(ref)
	if err != nil || title == "" {
		return "", sql.ErrNoRows // too long for a title
	}
	// GLOB only narrows, the rest is compared as text.
	err = s.read.QueryRowContext(ctx, `SELECT id FROM sessions WHERE folded = ?1
			OR folded >= ?1 || ' #' AND folded < ?1 || ' $'
			AND substr(folded, length(?1) + 3) NOT GLOB '*[^0-9]*'
			AND substr(folded, length(?1) + 3) GLOB '[1-9]*' AND substr(folded, length(?1) + 3) <> '1'
			ORDER BY cast(substr(folded, length(?1) + 3) AS INTEGER) DESC, substr(title, 1, length(?2)) = ?2 DESC, key DESC LIMIT 1`,
		strings.ToLower(title), title).Scan(&id)
	return id, err
}

// titleTaken returns ErrTitleTaken if another session has a title, in any case.
func (t *tx) titleTaken(title, id string) error {
	if title == "" {
		return nil
	}
	var n int
	if err := t.row(`SELECT count(*) FROM sessions WHERE folded = ? AND id <> ?`, []any{strings.ToLower(title), id}, &n); err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%w: %q", hermes.ErrTitleTaken, title)
	}
	return nil
}

func (s *Store) byPrefix(ctx context.Context, prefix string) (string, error) {
	rows, err := s.read.QueryContext(ctx,
		`SELECT id FROM sessions WHERE id >= ?1 AND id < ?1 || char(0x10ffff) ORDER BY id LIMIT 4`, prefix)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return "", err
		}
		ids = append(ids, id)
	}
	switch {
	case rows.Err() != nil:
		return "", rows.Err()
	case len(ids) == 0:
		return "", notFound(sql.ErrNoRows, prefix)
	case len(ids) > 1:
		return "", fmt.Errorf("session %q: %w: %s", prefix, hermes.ErrAmbiguous, strings.Join(ids, ", "))
	}
	return ids[0], nil
}

// ListSessions returns rows, most recently active first.
func (s *Store) ListSessions(ctx context.Context, f hermes.SessionFilter) ([]hermes.Session, error) {
	where, args := sessionFilter(f)
	limit := f.Limit
	if limit == 0 {
		limit = 20
	}
	args = append(args, limit, max(f.Offset, 0))
	rows, err := s.read.QueryContext(ctx, `SELECT `+sessionColumns+` FROM sessions s WHERE `+where+`
		ORDER BY coalesce(s.active, s.started) DESC, s.key DESC LIMIT ? OFFSET ?`, args...)
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	defer rows.Close()
	var list []hermes.Session
	for rows.Next() {
		row, err := scanSession(rows.Scan)
		if err != nil {
			return nil, s.cfg.explain(err)
		}
		list = append(list, row)
	}
	return list, s.cfg.explain(rows.Err())
}

// sessionFilter returns the SQL condition of a filter, for table s.
func sessionFilter(f hermes.SessionFilter) (string, []any) {
	where, args := []string{"1"}, []any{}
	add := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if f.Platform != "" {
		add("s.source = ?", f.Platform)
	}
	if len(f.Exclude) > 0 {
		add("s.source NOT IN (SELECT value FROM json_each(?))", jsonList(f.Exclude))
	}
	if f.Dir != "" {
		add("s.dir = ?", f.Dir)
	}
	if f.Title != "" {
		add("instr(s.folded, ?) > 0", strings.ToLower(f.Title))
	}
	if f.Parent != "" {
		add("s.parent = (SELECT key FROM sessions WHERE id = ?)", f.Parent)
	}
	addTimes(add, "coalesce(s.active, s.started)", f.After, f.Before)
	if f.Ended != nil {
		add("(s.ended IS NOT NULL) = ?", *f.Ended)
	}
	if !f.Archived {
		add("NOT s.archived")
	}
	if f.NonEmpty {
		add("s.messages > 0")
	}
	return strings.Join(where, " AND "), args
}

func addTimes(add func(string, ...any), column string, after, before time.Time) {
	if !after.IsZero() {
		add(column+" >= ?", nanos(after))
	}
	if !before.IsZero() {
		add(column+" < ?", nanos(before))
	}
}

// jsonList encodes a list of texts for json_each.
func jsonList[T ~string | ~int64](list []T) string {
	b, _ := json.Marshal(list) // texts and numbers always marshal
	return string(b)
}
