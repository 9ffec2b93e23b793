package sqlite

import (
	"context"
	"os"

	"hermes"
)

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
