package sqlite

import (
	"context"
	"database/sql"
	"os"
	"time"

	"hermes"
)

// Activity sums up what happened since a time.
func (s *Store) Activity(ctx context.Context, since time.Time, source string) (hermes.Active, error) {
	a := hermes.Active{ByPlatform: map[string]int{}, ByModel: map[string]hermes.ModelActivity{}}
	for _, read := range []func(context.Context, time.Time, string, *hermes.Active) error{s.activeSessions, s.activeUsage, s.activeTools} {
		if err := read(ctx, since, source, &a); err != nil {
			return hermes.Active{}, s.cfg.explain(err)
		}
	}
	return a, nil
}

const (
	// inWindow selects sessions by an index; a source of "" means every source.
	inWindow = `coalesce(s.active, s.started) >= ? AND (? = '' OR s.source = ?)`
	// happened selects messages of the period. What a compaction has inserted
	// only repeats others, and so do the messages with which a branch begins.
	happened = `m.at >= ? AND m.place IS NULL AND NOT (s.parent IS NOT NULL AND m.at < s.started)`
)

// activeSessions counts the sessions that began in the period or have messages of
// it, and those messages.
func (s *Store) activeSessions(ctx context.Context, since time.Time, source string, a *hermes.Active) error {
	rows, err := s.read.QueryContext(ctx, `SELECT s.source, s.model, s.started, count(m.id), coalesce(sum(m.calls), 0), count(DISTINCT nullif(m.turn, 0))
		FROM sessions s LEFT JOIN messages m ON m.session = s.key AND `+happened+` AND m.hidden <> ?
		WHERE `+inWindow+` GROUP BY s.key`, nanos(since), rewound, nanos(since), source, source)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var from, model string
		var started, turns int64
		var messages, calls int
		if err := rows.Scan(&from, &model, &started, &messages, &calls, &turns); err != nil {
			return err
		}
		if messages == 0 && started < nanos(since) {
			continue
		}
		a.Sessions++
		a.Messages += messages
		a.Calls += calls
		a.Turns += turns
		a.ByPlatform[from]++
		m := a.ByModel[model]
		a.ByModel[model] = hermes.ModelActivity{Sessions: m.Sessions + 1, Usage: m.Usage}
	}
	return rows.Err()
}

// activeUsage sums the tokens by model: those of the ledger, and those of messages
// that are older than the ledger of their session, such as imported ones.
func (s *Store) activeUsage(ctx context.Context, since time.Time, source string, a *hermes.Active) error {
	err := s.addUsage(ctx, a, `SELECT c.model, sum(c.input), sum(c.output), sum(c.cache_read), sum(c.cache_write), sum(c.reasoning), sum(c.requests)
		FROM spend c WHERE c.at >= ? AND c.state = ? AND (? = '' OR c.session IN (SELECT id FROM sessions WHERE source = ?)) GROUP BY 1`,
		nanos(since), callSettled, source, source)
	if err != nil {
		return err
	}
	return s.addUsage(ctx, a, `SELECT coalesce(nullif(u.body ->> 'model', ''), u.model), coalesce(sum(u.body ->> '$.usage.input'), 0),
		coalesce(sum(u.body ->> '$.usage.output'), 0), coalesce(sum(u.body ->> '$.usage.cache_read'), 0), coalesce(sum(u.body ->> '$.usage.cache_write'), 0),
		coalesce(sum(u.body ->> '$.usage.reasoning'), 0), coalesce(sum(u.body ->> '$.usage.calls'), 0)
		FROM (SELECT s.model AS model, m.body AS body FROM sessions s JOIN messages m ON m.session = s.key
			WHERE `+inWindow+` AND `+happened+` AND m.role = 'assistant' AND m.body IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM spend c WHERE c.session = s.id AND c.at <= m.at)) u
		WHERE json_valid(u.body) GROUP BY 1`, nanos(since), source, source, nanos(since))
}

// addUsage adds the rows of a query, each with a model and its tokens.
func (s *Store) addUsage(ctx context.Context, a *hermes.Active, query string, args ...any) error {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var model sql.NullString
		var u hermes.Usage
		if err := rows.Scan(&model, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Calls); err != nil {
			return err
		}
		if u == (hermes.Usage{}) {
			continue
		}
		a.Usage = a.Usage.Add(u)
		m := a.ByModel[model.String]
		a.ByModel[model.String] = hermes.ModelActivity{Sessions: m.Sessions, Usage: m.Usage.Add(u)}
	}
	return rows.Err()
}

// activeTools counts the results of tools, also those that were undone: they ran.
func (s *Store) activeTools(ctx context.Context, since time.Time, source string, a *hermes.Active) error {
	rows, err := s.read.QueryContext(ctx, `SELECT m.tool_name, count(*), sum(m.failed) FROM sessions s JOIN messages m ON m.session = s.key
		WHERE `+inWindow+` AND `+happened+` AND m.role = 'tool' AND m.tool_name IS NOT NULL
		GROUP BY m.tool_name ORDER BY 2 DESC, 1`, nanos(since), source, source, nanos(since))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var t hermes.ToolActivity
		if err := rows.Scan(&t.Name, &t.Calls, &t.Failed); err != nil {
			return err
		}
		a.Tools = append(a.Tools, t)
	}
	return rows.Err()
}

// Stats counts the content of the store. FileBytes includes the write-ahead log.
func (s *Store) Stats(ctx context.Context) (hermes.StoreStats, error) {
	stats := hermes.StoreStats{ByPlatform: map[string]int{}}
	u := &stats.Usage
	var oldest, newest int64
	err := s.read.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(messages), 0), coalesce(sum(calls), 0),
		coalesce(sum(bytes), 0) + (SELECT coalesce(sum(octet_length(text)), 0) FROM prompts),
		coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
		coalesce(sum(reasoning), 0), coalesce(sum(requests), 0),
		coalesce(min(started), 0), coalesce(max(coalesce(active, started)), 0) FROM sessions`).Scan(
		&stats.Sessions, &stats.Messages, &stats.Calls, &stats.TextBytes,
		&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Calls, &oldest, &newest)
	if err != nil {
		return hermes.StoreStats{}, s.cfg.explain(err)
	}
	stats.Oldest, stats.Newest = timeOf(oldest), timeOf(newest)
	for _, suffix := range []string{"", "-wal"} {
		if file, err := os.Stat(s.cfg.Path + suffix); err == nil {
			stats.FileBytes += file.Size()
		}
	}
	return stats, s.cfg.explain(s.byPlatform(ctx, stats.ByPlatform))
}

func (s *Store) byPlatform(ctx context.Context, counts map[string]int) error {
	rows, err := s.read.QueryContext(ctx, `SELECT source, count(*) FROM sessions GROUP BY source`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var source string
		var n int
		if err := rows.Scan(&source, &n); err != nil {
			return err
		}
		counts[source] = n
	}
	return rows.Err()
}
